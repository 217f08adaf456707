"""`kernelinfo rules`."""

from __future__ import annotations

from typing import Annotated

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.render.hardware import rules_table
from kernelinfo.render.tables import WRITERS

EXAMPLES = """
  kernelinfo rules
  kernelinfo rules --format json
  kernelinfo explain KI302                        # one rule in full
"""


OUTPUTS = {format: WRITERS[format] for format in ("text", "json")}


def command(
    *,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    width: options.Width = None,
) -> None:
    """List every rule with its severity."""
    view = make_view(width=width, output=output)
    write(OUTPUTS[format](rules_table(view), view), output, color=view.color)
