"""`kernelinfo limits GFX`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.occupancy.calculator import arch as find_arch
from kernelinfo.render.hardware import render_limits
from kernelinfo.render.records import render_records

EXAMPLES = """\
Examples:
  kernelinfo limits gfx942
  kernelinfo limits MI250X --block 1024
  kernelinfo limits gfx1100 --wave 64 --cu-mode
  kernelinfo limits gfx1201 --format csv
"""


def command(
    gfx: options.NamedTarget = None,
    arch: options.ArchInstead = None,
    workgroup_size: Annotated[
        int,
        typer.Option(
            "--workgroup-size",
            "--block",
            metavar="N|XxYxZ",
            parser=options.parse_workgroup,
            help="Set the workitems of a workgroup.",
        ),
    ] = 256,
    wave: options.WaveSize = None,
    cu_mode: options.CuMode = False,
    dynamic_vgpr_block: options.DynamicVgprBlock = 0,
    no_trap_handler: options.NoTrapHandler = False,
    format: options.FormatOfRecords = "text",
    output: options.Output = None,
    color: options.Color = "auto",
) -> None:
    """Show the most registers and LDS for each occupancy.

    How many VGPRs, SGPRs and how much LDS a kernel may use to reach each number of waves per
    SIMD, and the staircase of waves against VGPRs.
    """
    view = make_view(color=color, output=output)
    name = options.named_target(gfx, arch)
    target = find_arch(name)
    rungs = target.limits(
        workgroup_size=workgroup_size,
        wave_size=wave,
        wgp_mode=False if cu_mode else None,
        trap_handler=not no_trap_handler,
        dynamic_vgpr_block=dynamic_vgpr_block,
    )
    if format == "text":
        about = f"{name} ({target.target.family}), workgroups of {workgroup_size}"
        title = f"{about}: the most for each step"
        write(render_limits(rungs, title, view.color), output)
    else:
        write(render_records([asdict(rung) for rung in rungs], format), output)
