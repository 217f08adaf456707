"""The command line: the only room that prints or exits."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from shlex import quote

from kernelinfo import __version__
from kernelinfo.cli.messages import CANNOT_ANSWER, complain, give_up, say
from kernelinfo.errors import ConfigError, KernelinfoError, OptionError, did_you_mean
from kernelinfo.manual import sections, topics
from kernelinfo.opening import pipes_named_by
from kernelinfo.reading.paths import SOURCE_SUFFIXES, is_source

COMMANDS = {
    "report": "Show what limits each kernel, one row per kernel.",
    "explain": "Explain one kernel, one rule, or a topic of the manual.",
    "pressure": "Show which values hold the registers, and where.",
    "diff": "Compare two builds: which kernels moved, and why.",
    "check": "Check kernels for CI: rules, budgets, a baseline.",
    "calc": "Compute the occupancy of given numbers.",
    "limits": "Show the most registers and LDS for each occupancy.",
    "extract": "Write the code objects inside containers as files.",
    "sweep": "Ask the compiler for other occupancies.",
    "watch": "Show at each save what moved in the kernels.",
    "scan": "Read a fleet of builds into one Parquet dataset.",
    "trend": "Show how kernels moved from build to build.",
    "compare-profile": "Compare a profiler's measurements with the prediction.",
    "rules": "List every rule with its severity.",
    "arch": "Show the hardware constants of a target, with sources.",
    "vectors": "Write test vectors for other occupancy models.",
    "cmake-dir": "Print the folder of the CMake package.",
    "mcp": "Answer a coding agent's questions, by MCP.",
}
"""Command → first line of its help. The list of commands imports none of their modules."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells: 128 and the number of the signal."""

_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def app() -> None:
    """Run the command line of this process. Only the module of the named command is imported.

    A `KernelinfoError` or `OSError` becomes one line on standard error and exit code 2. Any other
    exception is a bug and shows its traceback. A closed pipe ends the program quietly.
    """
    try:
        try:
            with pipes_named_by(sys.argv[1:]):
                _run()
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        # typer turns a broken pipe during --help into a failure.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        _end()
    except (ConfigError, OptionError) as error:
        _end(*str(error).split("\n"))
    except KernelinfoError as error:
        _end(str(error))
    except BrokenPipeError:  # the reader closed the pipe
        _end()
    except OSError as error:
        _end(f"{error.filename or 'standard output'}: {error.strerror}")
    except KeyboardInterrupt:  # a library's answer to Ctrl-C, which drops our own
        sys.exit(INTERRUPTED)
    except MemoryError:
        _end(say("memory-full"))


def _run() -> None:
    words = sys.argv[2:] if sys.argv[1:2] == ["report"] else sys.argv[1:]
    if _are_paths(words):
        from kernelinfo.cli.write_report import write_plain_report

        write_plain_report(words)
        return
    sys.argv[1:] = as_meant(sys.argv[1:], [*COMMANDS])
    if sys.argv[1:] == ["--version"]:
        print(f"kernelinfo {__version__}")
        return
    # typer takes as much as the report of a small file
    from kernelinfo.cli.line import command_line, command_list

    word = sys.argv[1] if sys.argv[1:] else "--help"
    if word not in (*COMMANDS, *_OWN_OPTIONS):
        if _may_be_misspelled(word) and (suggestion := did_you_mean(word, COMMANDS)):
            raise OptionError(say("command-unknown", word=word, suggestion=suggestion))
        word = "report"
        sys.argv.insert(1, word)
    if word not in _OWN_OPTIONS:
        line = command_line([word])
    elif "_KERNELINFO_COMPLETE" in os.environ:
        line = command_line(COMMANDS)
    else:
        line = command_list(COMMANDS)
    line(prog_name="kernelinfo")


def _are_paths(arguments: list[str]) -> bool:
    """True if all arguments are paths or `-`, and none is a source, which needs options. False on
    Windows, where typer expands globs, and in shell completion."""
    if os.name != "posix" or "_KERNELINFO_COMPLETE" in os.environ or not arguments:
        return False
    is_command = arguments[0] in COMMANDS or _may_be_misspelled(arguments[0])
    are_paths = all(word == "-" or not word.startswith("-") for word in arguments)
    return are_paths and not is_command and not any(map(is_source, arguments))


def _may_be_misspelled(word: str) -> bool:
    """True for a word that names no file and could be a misspelled command."""
    return word.isidentifier() and not os.path.lexists(word)


def _end(*lines: str) -> None:
    """Print the error lines and exit with 2; without lines exit with 0."""
    for line in lines:
        complain(f"kernelinfo: {line}")
    try:
        sys.stdout.flush()
    except OSError:
        give_up(sys.stdout)
    sys.exit(CANNOT_ANSWER if lines else 0)


# Words of a command line that users of other tools type, as the commands take them.

_FORMATS = ("json", "jsonl", "csv", "markdown", "html", "sarif")
_WITH_FORMATS = (
    *("report", "explain", "pressure", "diff", "check", "sweep", "trend"),
    *("calc", "limits", "arch", "compare-profile"),
)
"""Commands that have `--format` and `-o FILE`."""
_WITH_SOURCES = ("report", "explain", "pressure", "diff", "sweep", "watch")
"""Commands that compile sources, with compiler flags after `--`."""
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
"""Suffix of an output file -> formats that the file may hold, the default one first."""
_OF_OTHERS = {
    *(".pdf", ".ps", ".rtf", ".doc", ".docx", ".odt", ".tex", ".ppt", ".pptx", ".xls", ".xlsx"),
    *(".ods", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".yaml", ".yml", ".toml", ".parquet"),
}
"""Suffixes of files that hold none of the output formats."""
_FLAG = r"-(O\w*|[DIUW]\S+|[DIgSc]|std=\S+|f[\w-]+(=\S*)?|g\w+|x|isystem|include|nogpu\w+)"
"""Pattern for flags of compilers that no command has as an option."""
_WITH_VALUE = ("-I", "-D", "-x", "-include", "-isystem")
_BEFORE_VALUES = ("-k", "--kernel", "--exclude", "-o", "--output", "--mllvm", "--run")
"""Flags whose value is the next word, and options whose value may look like a flag."""
_ARCH = (
    r"(--offload-arch|--cuda-gpu-arch|--gpu|--mcpu|-mcpu|-march|--amdgpu-target)(=(?P<target>\S+))?"
)
_BUDGET = "a [[budget]] in kernelinfo.toml; `kernelinfo explain gate` has some"
_OPTIONS = {
    "-f": "--format", "-j": "--jobs", "-t": "--target", "-a": "--arch", "-s": "--sort",
    "--line": "--at, of `pressure`", "--threads": "--workgroup-size", "--cmd": "--run",
    "--budget": _BUDGET, "--max-vgpr": _BUDGET, "--max-vgprs": _BUDGET,
    "--list": "`kernelinfo explain FILE`, which lists kernels",
    "--occupancy": "`kernelinfo PATH`, which states the occupancy",
}  # fmt: skip
"""Options that other tools have -> what is meant."""
_NUMBER = r"(?P<name>--(vgpr|agpr|sgpr|lds))s?"
"""Options of `calc` that the other commands do not have."""


def as_meant(words: Sequence[str], commands: Sequence[str]) -> list[str]:
    """The words, with short forms spelled out: `help`, `-V`, `--json`, a rule or target alone, the
    format of `-o`, and compiler flags after `--`.

    Words that name a file stay unchanged, as do all words after a `--` that no source precedes.
    Raises `OptionError` if the suffix of `-o` contradicts `--format` or is one of `_OF_OTHERS`, and
    as `_check_options` does.
    """
    words = _with_flags(words, commands)
    _check_options(words, commands)
    end = words.index("--") if "--" in words else len(words)
    words, paths = words[:end], words[end:]
    names = {f"--{name}": f"--format={name}" for name in _FORMATS}
    words = [names.get(word, word) for word in words]
    first, *rest = words or ["--help"]
    if first == "-V" or (first == "version" and not rest and not os.path.lexists(first)):
        return ["--version"]
    if first not in commands and not paths and not os.path.lexists(first):
        if first == "help":
            topic = rest[:1] and rest[0] not in commands
            return ["explain", *rest] if topic else [*rest[:1], "--help"]
        if re.fullmatch(r"ki\d{3}", first.casefold()):
            return ["explain", *words]
        if re.fullmatch(r"gfx[0-9a-f]+(-\w+)*", first) and not rest:
            return ["arch", first]
        if first.isidentifier() and not rest and (first in topics() or first in sections()):
            return ["explain", first]
    command = first if first in commands else "report"
    if command == "explain":  # its kernel is an argument
        words = [word.removeprefix("--kernel=") for word in words if word not in ("-k", "--kernel")]
    of_output = _format_of_output(words) if command in _WITH_FORMATS else []
    return [*words, *of_output, *paths]


def _with_flags(words: Sequence[str], commands: Sequence[str]) -> Sequence[str]:
    """The words, with `--flag` inserted before each word after `--`, if a source precedes the
    `--`."""
    command = words[0] if words and words[0] in commands else "report"
    if "--" not in words or command not in _WITH_SOURCES:
        return words
    end = words.index("--")
    if not any(word.endswith(SOURCE_SUFFIXES) for word in words[:end] if word[:1] != "-"):
        return words
    return [*words[:end], *(f"--flag={word}" for word in words[end + 1 :])]


def _check_options(words: Sequence[str], commands: Sequence[str]) -> None:
    """Raise `OptionError`, with what to write instead, for words before `--` that are flags of
    compilers, options of other tools, or options of `calc` after another command."""
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
        if (option := word.partition("=")[0]) in _OPTIONS:
            raise OptionError(say("option-meant", option=option, meant=_OPTIONS[option]))
        if command != "calc" and (match := re.fullmatch(_NUMBER, option)):
            raise OptionError(say("number-without-calc", option=option, name=match["name"]))
    if command == "sweep":  # -O is an option of its own
        pairs = [(word, before) for word, before in pairs if not word.startswith("-O")]
    flags = [word for word, before in pairs if before in _WITH_VALUE or re.fullmatch(_FLAG, word)]
    if not flags or command not in _WITH_SOURCES:
        return
    shown = " ".join(flags)
    if not any(word.endswith(SOURCE_SUFFIXES) for word in typed if word[:1] != "-"):
        raise OptionError(say("flags-without-source", flags=shown))
    rest = [word for word in typed if word not in flags]
    line = " ".join(map(quote, ("kernelinfo", *rest, "--", *flags)))
    raise OptionError(say("flags-before-dashes", flags=shown, line=line))


def _format_of_output(words: Sequence[str]) -> list[str]:
    """`--format` for the suffix of `-o FILE`; empty if `--format` is given or the suffix means no
    format."""
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
