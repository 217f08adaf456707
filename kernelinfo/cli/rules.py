"""`kernelinfo rules`."""

from __future__ import annotations

from kernelinfo.cli.options import format_option, takes
from kernelinfo.cli.output import write
from kernelinfo.render import View
from kernelinfo.render.rules import render_rules

EXAMPLES = """
  kernelinfo rules
  kernelinfo rules --format json
  kernelinfo explain KI302                        # one of them in full
"""


@takes("format output")
def command(
    format: str = format_option(("text", "json")),
    *,
    view: View,
    output: str | None,
) -> None:
    """List every rule with its severity."""
    write(render_rules(format, view), output, color=view.color)
