"""The command line: the only place that prints or exits."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from kernelinfo import __version__
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
"""Each a module of this package with a function `command`."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kernelinfo {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


def _command_line(commands: Iterable[str]) -> typer.Typer:
    line = typer.Typer(
        name="kernelinfo",
        help="What limits each AMD GPU kernel's occupancy, from what the compiler left on disk. "
        "`kernelinfo PATH...` is `kernelinfo report PATH...`.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    line.callback()(_root)
    for name in commands:
        module = import_module(f"kernelinfo.cli.{name.replace('-', '_')}")
        line.command(name)(module.command)
    return line


def app() -> None:
    """Run the command line of this process; only the command that it names is imported.

    A `KernelinfoError` is told on standard error and exit code 2; any other exception is a
    bug and shows its traceback.
    """
    named = [name for name in sys.argv[1:2] if name in COMMANDS]
    try:
        _command_line(named or COMMANDS)()
    except KernelinfoError as error:
        for line in str(error).splitlines():
            print(f"kernelinfo: {line}", file=sys.stderr)
        sys.exit(CANNOT_ANSWER)
