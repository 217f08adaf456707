"""The commands and their options, which typer reads."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from kernelinfo import __version__


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


def command_line(commands: Iterable[str]) -> typer.Typer:
    """The command line with these commands, each imported only now."""
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
