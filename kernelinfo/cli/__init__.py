"""The command line: the only room that prints or exits."""

from __future__ import annotations

import os
import sys

from kernelinfo import __version__
from kernelinfo.cli.meant import as_meant
from kernelinfo.cli.messages import say
from kernelinfo.errors import ConfigError, KernelinfoError, OptionError, did_you_mean
from kernelinfo.reading.paths import is_source

COMMANDS = (
    *("report", "explain", "pressure", "diff", "check", "calc", "limits", "extract", "sweep"),
    *("watch", "scan", "trend", "compare-profile", "rules", "arch", "vectors", "cmake-dir"),
    "mcp",
)
"""Names of commands: each is a module of this package with a function `command` and `EXAMPLES`."""

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
    if _are_paths(sys.argv[1:]):
        from kernelinfo.cli.write_report import write_plain_report

        write_plain_report(sys.argv[1:])
        return
    sys.argv[1:] = as_meant(sys.argv[1:], COMMANDS)
    if sys.argv[1:] == ["--version"]:
        print(f"kernelinfo {__version__}")
        return
    from kernelinfo.cli.line import command_line  # typer: as much as the report of a small file

    word = sys.argv[1] if sys.argv[1:] else "--help"
    if word not in (*COMMANDS, *_OWN_OPTIONS):
        if _may_be_misspelled(word) and (suggestion := did_you_mean(word, COMMANDS)):
            raise OptionError(say("command-unknown", word=word, suggestion=suggestion))
        word = "report"
        sys.argv.insert(1, word)
    command_line(COMMANDS if word in _OWN_OPTIONS else [word])(prog_name="kernelinfo")


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
    from kernelinfo.cli.output import CANNOT_ANSWER, complain, give_up

    for line in lines:
        complain(f"kernelinfo: {line}")
    try:
        sys.stdout.flush()
    except OSError:
        give_up(sys.stdout)
    sys.exit(CANNOT_ANSWER if lines else 0)
