"""`kernelinfo limits --arch GFX`."""

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
  kernelinfo limits --arch gfx942
  kernelinfo limits --arch gfx90a --block 1024
  kernelinfo limits --arch gfx1100 --wave 64 --cu-mode
  kernelinfo limits --arch gfx1201 --format csv
"""


def command(
    arch: options.NeededArch,
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
    target = find_arch(arch)
    rungs = target.limits(
        workgroup_size=workgroup_size,
        wave_size=wave,
        wgp_mode=False if cu_mode else None,
        trap_handler=not no_trap_handler,
        dynamic_vgpr_block=dynamic_vgpr_block,
    )
    if format == "text":
        name = f"{arch} ({target.target.family})"
        title = f"{name}, workgroups of {workgroup_size}: the most for each step"
        write(render_limits(rungs, title, view.color), output)
    else:
        write(render_records([asdict(rung) for rung in rungs], format), output)
