"""The command line: the only place that prints or exits."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kernelinfo import __version__
from kernelinfo.cli import arch, calc, explain, extract, limits, report
from kernelinfo.cli.output import CANNOT_ANSWER
from kernelinfo.errors import KernelinfoError

_typer = typer.Typer(
    name="kernelinfo",
    help="What limits each AMD GPU kernel's occupancy, from what the compiler left on disk. "
    "`kernelinfo PATH...` is `kernelinfo report PATH...`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"kernelinfo {__version__}")
        raise typer.Exit


@_typer.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


_typer.command("report")(report.command)
_typer.command("explain")(explain.command)
_typer.command("calc")(calc.command)
_typer.command("limits")(limits.command)
_typer.command("extract")(extract.command)
_typer.command("arch")(arch.command)


def app() -> None:
    """Run the command line of this process.

    A `KernelinfoError` is one line on standard error and exit code 2; any other exception is a
    bug and shows its traceback.
    """
    try:
        _typer()
    except KernelinfoError as error:
        print(f"kernelinfo: {error}", file=sys.stderr)
        sys.exit(CANNOT_ANSWER)
