"""Words of a command line that users of other tools type, as the commands take them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.reading.paths import SOURCE_SUFFIXES

_FORMATS = ("json", "jsonl", "csv", "markdown", "html", "sarif")
_WITH_FORMATS = (
    *("report", "explain", "pressure", "diff", "check", "sweep", "trend"),
    *("calc", "limits", "arch", "compare-profile"),
)
"""Commands that have `--format` and `-o FILE`."""
_WITH_SOURCES = ("report", "explain", "pressure", "diff", "sweep", "watch")
"""Commands that compile sources, with compiler flags behind `--`."""
_OF_SUFFIX = {
    ".html": ("html",),
    ".htm": ("html",),
    ".json": ("json", "sarif", "gitlab"),
    ".jsonl": ("jsonl",),
    ".csv": ("csv",),
    ".md": ("markdown",),
    ".sarif": ("sarif",),
    ".xml": ("junit",),
}
"""Suffix of an output file -> formats that it may hold; the first is the one that it means."""


def as_meant(words: Sequence[str], commands: Sequence[str]) -> list[str]:
    """The words with `help`, `-V`, `--json`, a rule or target alone, the format of `-o`, and
    compiler flags behind `--` written out.

    A word that names a file stays as it is, and so does each behind another `--`. Raises
    `OptionError` if the suffix of `-o` contradicts `--format`.
    """
    words = _with_flags(words, commands)
    end = words.index("--") if "--" in words else len(words)
    words, paths = words[:end], words[end:]
    names = {f"--{name}": f"--format={name}" for name in _FORMATS}
    words = [names.get(word, word) for word in words]
    first, *rest = words or ["--help"]
    if first == "-V":
        return ["--version"]
    if first not in commands and not paths and not os.path.lexists(first):
        if first == "help":
            topic = rest[:1] and rest[0] not in commands
            return ["explain", *rest] if topic else [*rest[:1], "--help"]
        if re.fullmatch(r"ki\d{3}", first.casefold()):
            return ["explain", *words]
        if re.fullmatch(r"gfx[0-9a-f]+(-\w+)*", first) and not rest:
            return ["arch", first]
    command = first if first in commands else "report"
    of_output = _format_of_output(words) if command in _WITH_FORMATS else []
    return [*words, *of_output, *paths]


def _with_flags(words: Sequence[str], commands: Sequence[str]) -> Sequence[str]:
    """The words with `--flag` before each word behind `--`, if a source stands before that."""
    command = words[0] if words and words[0] in commands else "report"
    if "--" not in words or command not in _WITH_SOURCES:
        return words
    end = words.index("--")
    if not any(word.endswith(SOURCE_SUFFIXES) for word in words[:end] if word[:1] != "-"):
        return words
    return [*words[:end], *(f"--flag={word}" for word in words[end + 1 :])]


def _format_of_output(words: Sequence[str]) -> list[str]:
    """`--format` for the suffix of `-o FILE`; empty if it is given or the suffix means none."""
    output, format = _value(words, "-o", "--output"), _value(words, "--format")
    possible = _OF_SUFFIX.get(os.path.splitext(output or "")[1].lower(), ())
    if format is None or not possible:
        return [f"--format={possible[0]}"] if possible else []
    if format not in possible:
        means = possible[0]
        raise OptionError(say("output-other-format", output=output, means=means, format=format))
    return []


def _value(words: Sequence[str], *options: str) -> str | None:
    """The last value of an option; None if it is not given."""
    last = None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in options and equals:
            last = value
        elif word in options and index + 1 < len(words):
            last = words[index + 1]
    return last
