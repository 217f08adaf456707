"""`kernelinfo arch [GFX]`."""

from __future__ import annotations

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.hardware import targets
from kernelinfo.render.hardware import render_constants, render_targets
from kernelinfo.render.json import as_json
from kernelinfo.render.records import render_document

EXAMPLES = """
  kernelinfo arch                                 # all targets
  kernelinfo arch gfx942
  kernelinfo arch MI300X
  kernelinfo arch gfx1100 --format json
"""

SCHEMA = "kernelinfo/arch/1"


def command(
    *,
    gfx: options.NamedTarget = None,
    arch: options.SameTarget = None,
    format: options.FormatOfRecords = "text",
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
    found = [targets.find(name) for name in names]
    if format != "text":
        records = [*map(as_json, found)]
        document = {"schema": SCHEMA, "targets": records}
        write(render_document(document, records, format), output)
    elif gfx is None:
        write(render_targets(found, view), output, color=view.color)
    else:
        write(render_constants(found[0], view), output, color=view.color)
