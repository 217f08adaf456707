"""`kernelinfo arch [GFX]`."""

from __future__ import annotations

from typing import Annotated

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.hardware import targets
from kernelinfo.render.hardware import render_constants, render_targets
from kernelinfo.render.json import as_json
from kernelinfo.render.tables import WRITERS, of_records

EXAMPLES = """
  kernelinfo arch                                 # all targets
  kernelinfo arch gfx942
  kernelinfo arch MI300X
  kernelinfo arch gfx1100 --format json
"""

OUTPUTS = WRITERS
SCHEMA = "kernelinfo/arch/1"


def command(
    *,
    gfx: options.NamedTarget = None,
    arch: options.SameTarget = None,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Show the hardware constants of a target, with sources.

    Without a target, one line for each known target.
    """
    view = make_view(color=color, width=width, output=output)
    gfx = options.one_target(gfx, arch)
    names = targets.known() if gfx is None else (gfx,)
    hardware = [targets.find(name) for name in names]
    text = render_targets(hardware, view) if gfx is None else render_constants(hardware[0], view)
    table = of_records([*map(as_json, hardware)], SCHEMA, "targets", text=text)
    write(OUTPUTS[format](table, view), output, color=view.color)
