"""The codes of messages, by the one golden file that holds their words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_WORDS = Path(__file__).parent.parent / "fixtures" / "expected" / "messages.txt"
"""Lines of code, tab and template."""
_FEWEST = 4
"""Letters of a sentence of its own; others, such as `{error}`, are not told by their text."""


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Codes with patterns of their lines, those with most words of their own first."""
    pairs = []
    for line in _WORDS.read_text("utf-8").splitlines() if _WORDS.exists() else ():
        code, _, template = line.partition("\t")
        words = re.split(r"\{[^{}]*\}", template.replace("{{", "{").replace("}}", "}"))
        if sum(map(str.isalpha, "".join(words))) < _FEWEST:
            continue
        pattern = ".*".join(map(re.escape, words))
        advice = "(?:; .*)?" if code.startswith("KI") else ""  # a finding stands before its advice
        pairs.append((len("".join(words)), code, re.compile(rf"(?:^|.*: ){pattern}{advice}")))
    return [(code, pattern) for _, code, pattern in sorted(pairs, key=lambda pair: -pair[0])]


def code_of(line: str) -> str:
    """The code of the message that ends a line; empty if it is none."""
    return next((code for code, pattern in _patterns() if pattern.fullmatch(line)), "")


def codes(err: str) -> list[str]:
    """The code of each line of standard error; of a line that is no message, the line."""
    return [code_of(line) or line for line in err.splitlines()]


def does_line_match(line: str, expected: str) -> bool:
    """Whether a line of standard error is what is expected: a code, then text of the line.

    Text without a code is for lines that are no messages of kernelinfo, such as typer's.
    """
    code, _, text = expected.partition(" ")
    if code in {code for code, _ in _patterns()}:
        return code_of(line) == code and text in line
    return expected in line
