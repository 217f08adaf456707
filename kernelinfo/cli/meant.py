"""Words of a command line that users of other tools type, as the commands take them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from kernelinfo.errors import OptionError

_FORMATS = ("json", "jsonl", "csv", "markdown", "html", "sarif")
_WITH_FORMATS = (
    *("report", "explain", "pressure", "diff", "check", "sweep", "trend"),
    *("calc", "limits", "arch", "compare-profile"),
)
"""Commands that have `--format` and `-o FILE`."""
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
    """The words with `help`, `-V`, `--json`, a rule or target alone, and the format of `-o` written
    out.

    A word that names a file stays as it is. Raises `OptionError` if the suffix of `-o` contradicts
    `--format`.
    """
    names = {f"--{name}": f"--format={name}" for name in _FORMATS}
    words = [names.get(word, word) for word in words]
    first, *others = words or ["--help"]
    if first == "-V":
        return ["--version"]
    if first not in commands and not os.path.lexists(first):
        if first == "help":
            topic = others[:1] and others[0] not in commands
            return ["explain", *others] if topic else [*others[:1], "--help"]
        if re.fullmatch(r"ki\d{3}", first.casefold()):
            return ["explain", *words]
        if re.fullmatch(r"gfx[0-9a-f]+(-\w+)*", first) and not others:
            return ["arch", first]
    command = first if first in commands else "report"
    return words + _format_of_output(words) if command in _WITH_FORMATS else words


def _format_of_output(words: Sequence[str]) -> list[str]:
    """`--format` for the suffix of `-o FILE`; empty if it is given or the suffix means none."""
    output, format = _value(words, "-o", "--output"), _value(words, "--format")
    possible = _OF_SUFFIX.get(os.path.splitext(output or "")[1].lower(), ())
    if format is None or not possible:
        return [f"--format={possible[0]}"] if possible else []
    if format not in possible:
        means = f"-o {output} means {possible[0]}"
        raise OptionError(f"{means}, not --format {format}; give one of them")
    return []


def _value(words: Sequence[str], *options: str) -> str | None:
    """The last value of an option; None if it is not given."""
    found = None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in options and equals:
            found = value
        elif word in options and index + 1 < len(words):
            found = words[index + 1]
    return found
