"""`kernelinfo rules`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.render.rules import render_rules

EXAMPLES = """\
Examples:
  kernelinfo rules
  kernelinfo rules --format json
  kernelinfo explain KI302                        # one of them in full
"""


def command(
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Choose the output format.")
    ] = "text",
    output: options.Output = None,
) -> None:
    """List every rule with its severity."""
    write(render_rules(format, make_view(output=output)), output)
