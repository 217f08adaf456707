"""Words of a command line that users of other tools type, as the commands take them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from shlex import quote

from kernelinfo.cli.messages import say
from kernelinfo.errors import OptionError
from kernelinfo.manual import topics
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
_OF_OTHERS = {
    *(".pdf", ".ps", ".rtf", ".doc", ".docx", ".odt", ".tex", ".ppt", ".pptx", ".xls", ".xlsx"),
    *(".ods", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".yaml", ".yml", ".toml", ".parquet"),
}
"""Suffixes of files that hold something else."""
_FLAG = r"-(O\w*|[DIUW]\S+|[DIgSc]|std=\S+|f[\w-]+(=\S*)?|g\w+|x|isystem|include|nogpu\w+)"
"""A compiler's flag, none of which is an option of a command."""
_WITH_VALUE = ("-I", "-D", "-x", "-include", "-isystem")
_BEFORE_VALUES = ("-k", "--kernel", "--exclude", "-o", "--output", "--mllvm", "--run")
"""Flags whose value is the next word, and options whose value may look like a flag."""
_ARCH = (
    r"(--offload-arch|--cuda-gpu-arch|--gpu|--mcpu|-mcpu|-march|--amdgpu-target)(=(?P<target>\S+))?"
)
_OPTIONS = {"-f": "--format", "-j": "--jobs", "-t": "--target", "-a": "--arch", "-s": "--sort"}
"""Letters that other tools take -> the option."""


def as_meant(words: Sequence[str], commands: Sequence[str]) -> list[str]:
    """The words with `help`, `-V`, `--json`, a rule or target alone, the format of `-o`, and
    compiler flags behind `--` written out.

    A word that names a file stays as it is, and so does each behind another `--`. Raises
    `OptionError` if the suffix of `-o` contradicts `--format`.
    """
    words = _with_flags(words, commands)
    _check_options(words, commands)
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
        if first.isidentifier() and first in topics() and not rest:
            return ["explain", first]
    command = first if first in commands else "report"
    if command == "explain":  # its kernel is an argument
        words = [word.removeprefix("--kernel=") for word in words if word not in ("-k", "--kernel")]
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


def _check_options(words: Sequence[str], commands: Sequence[str]) -> None:
    """Raise `OptionError` for options of compilers and letters of other tools, before `--`."""
    command = words[0] if words and words[0] in commands else "report"
    typed = words[: words.index("--") if "--" in words else len(words)]
    if command not in (*_WITH_FORMATS, *_WITH_SOURCES):
        return
    pairs = [
        (word, before)
        for word, before in zip(typed, ("", *typed), strict=False)
        if before not in _BEFORE_VALUES
    ]
    for word, _ in pairs:
        if match := re.fullmatch(_ARCH, word):
            following = (value for value, before in pairs if before == word)
            meant = f"--arch {match['target'] or next(following, 'gfx942')}"
            raise OptionError(say("option-meant", option=word, meant=meant))
        if word in _OPTIONS:
            raise OptionError(say("option-meant", option=word, meant=_OPTIONS[word]))
    flags = [word for word, before in pairs if before in _WITH_VALUE or re.fullmatch(_FLAG, word)]
    if not flags or command not in _WITH_SOURCES:
        return
    shown = " ".join(flags)
    if not any(word.endswith(SOURCE_SUFFIXES) for word in typed if word[:1] != "-"):
        raise OptionError(say("flags-without-source", flags=shown))
    others = [word for word in typed if word not in flags]
    line = " ".join(map(quote, ("kernelinfo", *others, "--", *flags)))
    raise OptionError(say("flags-before-dashes", flags=shown, line=line))


def _format_of_output(words: Sequence[str]) -> list[str]:
    """`--format` for the suffix of `-o FILE`; empty if it is given or the suffix means none."""
    output, format = _value(words, "-o", "--output"), _value(words, "--format")
    suffix = os.path.splitext(output or "")[1].lower()
    if format is None and suffix in _OF_OTHERS:
        raise OptionError(say("output-no-format", output=output))
    possible = _OF_SUFFIX.get(suffix, ())
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
