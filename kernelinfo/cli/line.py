"""The commands and their options, which typer reads."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

import typer

from kernelinfo.cli import print_version
from kernelinfo.cli.help import Command, CommandLine

_EPILOG = """
Exit codes:
  0  answered; nothing to report
  1  a claim about the kernels: what a gate was asked to find
  2  cannot answer: wrong usage, unreadable or partly read input,
     unknown target, no kernel found

Examples:
  kernelinfo kernels.s                        # what limits each kernel
  kernelinfo explain kernels.s vgprbound      # one of them, number by number
  kernelinfo limits --arch gfx942             # the steps of a target
  kernelinfo calc --arch gfx942 --vgpr 96 --vary lds
  kernelinfo --show-completion                # for TAB, as a script
"""


def _version(wanted: bool) -> None:
    if wanted:
        print_version()
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    pass


def command_line(commands: Iterable[str]) -> typer.Typer:
    """The command line with these commands, each imported only now."""
    line = typer.Typer(
        name="kernelinfo",
        cls=CommandLine,
        help="What limits each AMD GPU kernel's occupancy, from what the compiler left on disk: "
        "assembly, code objects, and programs, libraries and archives that hold them. "
        "`kernelinfo PATH...` is `kernelinfo report PATH...`.",
        epilog=_EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    line.callback()(_root)
    for name in commands:
        module = import_module(f"kernelinfo.cli.{name.replace('-', '_')}")
        line.command(name, cls=Command, epilog=f"Examples:{module.EXAMPLES}")(module.command)
    return line
