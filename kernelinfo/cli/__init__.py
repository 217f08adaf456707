"""The command line: the only place that prints or exits."""

from __future__ import annotations

import sys

from kernelinfo.cli import plain
from kernelinfo.cli.output import CANNOT_ANSWER
from kernelinfo.errors import KernelinfoError

COMMANDS = (
    "report",
    "explain",
    "diff",
    "check",
    "calc",
    "limits",
    "extract",
    "compare-profile",
    "rules",
    "arch",
)
"""Each a module of this package with a function `command` and its EXAMPLES."""

_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def app() -> None:
    """Run the command line of this process; only the command that it names is imported.

    A `KernelinfoError` is told on standard error and exit code 2; any other exception is a
    bug and shows its traceback.
    """
    try:
        if plain.answers(sys.argv[1:]):
            return
        from kernelinfo.cli.line import command_line

        named = [name for name in sys.argv[1:2] if name in COMMANDS]
        if not named and sys.argv[1:] and sys.argv[1] not in _OWN_OPTIONS:
            sys.argv.insert(1, "report")
            named = ["report"]
        command_line(named or COMMANDS)(prog_name="kernelinfo")
    except KernelinfoError as error:
        for line in str(error).splitlines():
            print(f"kernelinfo: {line}", file=sys.stderr)
        sys.exit(CANNOT_ANSWER)
