"""The command line: the only room that prints or exits."""

from __future__ import annotations

import os
import sys

from kernelinfo import __version__
from kernelinfo.cli.complaints import CANNOT_ANSWER, complain, give_up
from kernelinfo.cli.meant import as_meant
from kernelinfo.cli.messages import say
from kernelinfo.errors import ConfigError, KernelinfoError, OptionError, did_you_mean
from kernelinfo.opening import pipes_named_by
from kernelinfo.reading.paths import is_source

COMMANDS = {
    "report": "Show what limits each kernel, one row a kernel.",
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
"""Command → first line of its help. Each is a module of this package with a function `command` and
`EXAMPLES`; the list of commands imports none of them."""

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
    from kernelinfo.cli.line import (  # typer: as much as the report of a small file
        command_line,
        command_list,
    )

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
