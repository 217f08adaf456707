"""The codes of messages, by the one golden file that holds their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from kernelinfo.errors import KernelinfoError

_WORDS = Path(__file__).parent.parent / "fixtures" / "expected" / "messages.txt"
"""Lines of code, tab and template."""
_FEWEST = 4
"""Letters of a sentence of its own; others, such as `{error}`, are not told by their text."""
_GAP = " … "
"""What stands between two facts of an expected text."""


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """The pattern of each code's sentence, those with most words of their own first."""
    pairs = []
    for line in _WORDS.read_text("utf-8").splitlines():
        code, _, template = line.partition("\t")
        words = re.split(r"\{[^{}]*\}", template.replace("{{", "{").replace("}}", "}"))
        if sum(map(str.isalpha, "".join(words))) >= _FEWEST:
            pairs.append((len("".join(words)), code, ".*".join(map(re.escape, words))))
    return {code: re.compile(pattern) for _, code, pattern in sorted(pairs, key=lambda p: -p[0])}


@cache
def _line_pattern(code: str) -> re.Pattern[str]:
    """The pattern of a line that ends with a code's message; a finding stands before its advice."""
    advice = "(?:; .*)?" if code.startswith("KI") else ""
    return re.compile(rf"(?:.*: )?{_patterns()[code].pattern}{advice}")


def _is_message(line: str, code: str) -> bool:
    return bool(_patterns()[code].search(line) and _line_pattern(code).fullmatch(line))


def code_of(line: str) -> str:
    """The code of the message that ends a line; empty if it is none."""
    return next((code for code in _patterns() if _is_message(line, code)), "")


def codes(err: str) -> list[str]:
    """The code of each line of standard error; of a line that is no message, the line."""
    return [code_of(line) or line for line in err.splitlines()]


def _parse(expected: str) -> tuple[list[str], list[str]]:
    """The codes that an expected text begins with, and the facts after them."""
    words, found = expected, []
    while (word := words.partition(" ")[0]) in _patterns():
        found.append(word)
        words = words.partition(" ")[2]
    return found, words.removeprefix(_GAP[1:]).split(_GAP)


def _fact_pattern(fact: str) -> str:
    """A fact's text; a letter or digit at its ends begins or ends a word."""
    begin, end = (r"\b" if edge.isalnum() else "" for edge in (fact[:1], fact[-1:]))
    return begin + re.escape(fact) + end


def says(text: str, expected: str) -> bool:
    """Whether a line of a text says what is expected: messages, by their codes, and facts.

    `KI202 8192 … 4`: the line has the sentence of KI202, and in it, or around it, 8192 and then 4.
    Further codes are those of sentences in the sentence, `target-unknown did-you-mean gfx906`.
    """
    found, facts = _parse(expected)
    pattern = ".*".join(map(_fact_pattern, facts))
    return any(
        all(_patterns()[code].search(line) for code in found) and re.search(pattern, line)
        for line in text.split("\n")
    )


def does_line_match(line: str, expected: str) -> bool:
    """Whether a line of standard error is what is expected: its message's code, and as in `says`.

    Text without a code is for lines that are no messages of kernelinfo, such as typer's.
    """
    found, _ = _parse(expected)
    if not found:
        return expected in line
    is_message = _is_message(line, found[0]) or not code_of(line)
    return is_message and says(line, expected)


def do_lines_match(err: str, *expected: str) -> bool:
    """Whether standard error has just these lines, in this order."""
    lines = err.splitlines()
    return len(lines) == len(expected) and all(map(does_line_match, lines, expected))


def tells(err: str, expected: str) -> bool:
    """Whether a line of standard error is what is expected."""
    return any(does_line_match(line, expected) for line in err.splitlines())


@contextmanager
def refused(
    expected: str, kind: type[KernelinfoError] = KernelinfoError
) -> Iterator[pytest.ExceptionInfo[KernelinfoError]]:
    """A context that must end with an error: one of this code, with these facts (see `says`)."""
    with pytest.raises(kind) as caught:
        yield caught
    code, _, facts = expected.partition(" ")
    assert caught.value.code == code, caught.value
    assert says(str(caught.value), facts), caught.value
