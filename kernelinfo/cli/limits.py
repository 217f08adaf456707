"""`kernelinfo limits GFX`."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelinfo.cli import options
from kernelinfo.cli.messages import say
from kernelinfo.cli.options import parse_workgroup
from kernelinfo.cli.output import make_view, write
from kernelinfo.errors import OptionError
from kernelinfo.model.calculator import arch as find_arch
from kernelinfo.render.hardware import render_limits
from kernelinfo.render.tables import WRITERS, of_records

EXAMPLES = """
  kernelinfo limits gfx942
  kernelinfo limits MI250X --block 1024
  kernelinfo limits gfx1100 --wave 64 --cu-mode
  kernelinfo limits gfx1201 --format csv
"""

OUTPUTS = WRITERS
SCHEMA = "kernelinfo/limits/1"


def command(
    *,
    gfx: options.NamedTarget = None,
    arch: options.SameTarget = None,
    workgroup_size: int = typer.Option(
        256,
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ",
        parser=parse_workgroup,
        help="Set the workitems of a workgroup.",
    ),
    wave: options.Wave = None,
    cu_mode: options.CuMode = False,
    dynamic_vgpr_block: options.DynamicVgprBlock = 0,
    no_trap_handler: options.NoTrapHandler = False,
    format: Annotated[str, options.format_option(OUTPUTS)] = "text",
    output: options.Output = None,
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """Show the most registers and LDS for each occupancy.

    The table has the VGPRs, SGPRs and LDS that a kernel may use at each number of waves per SIMD.
    The staircase shows waves against VGPRs.
    """
    view = make_view(color=color, width=width, output=output)
    if (name := options.one_target(gfx, arch)) is None:
        raise OptionError(say("limits-without-target"))
    target = find_arch(name)
    rungs = target.limits(
        workgroup_size=workgroup_size,
        wave_size=wave,
        wgp_mode=False if cu_mode else None,
        trap_handler=not no_trap_handler,
        dynamic_vgpr_block=dynamic_vgpr_block,
    )
    about = f"{name} ({target.target.family}), workgroups of {workgroup_size}"
    text = render_limits(rungs, f"{about}: the most for each step", view)
    records = [rung._asdict() for rung in rungs]
    table = of_records(records, SCHEMA, "steps", {"target": target.target.name}, text)
    write(OUTPUTS[format](table, view), output, color=view.color)
