"""`kernelinfo rules`."""

from __future__ import annotations

from typing import Annotated

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.render.rules import render_rules

EXAMPLES = """
  kernelinfo rules
  kernelinfo rules --format json
  kernelinfo explain KI302                        # one rule in full
"""


def command(
    *,
    format: Annotated[str, options.format_option(("text", "json"))] = "text",
    output: options.Output = None,
    width: options.Width = None,
) -> None:
    """List every rule with its severity."""
    view = make_view(width=width, output=output)
    write(render_rules(format, view), output, color=view.color)
