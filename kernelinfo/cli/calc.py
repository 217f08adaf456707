"""`kernelinfo calc --arch GFX --vgpr N ...`."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelinfo.arch import arch as find_arch
from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.limits import Launch
from kernelinfo.occupancy import occupancy
from kernelinfo.render.explain import render_numbers
from kernelinfo.render.json import occupancy_document
from kernelinfo.render.records import render_records


def command(
    arch: options.NeededArch,
    vgpr: Annotated[int, typer.Option(min=0, help="Architectural VGPRs per lane.")] = 0,
    agpr: Annotated[int, typer.Option(min=0, help="AGPRs per lane.")] = 0,
    sgpr: Annotated[int, typer.Option(min=0, help="SGPRs per wave, VCC included.")] = 0,
    lds: Annotated[
        int,
        typer.Option(metavar="BYTES", parser=options.parse_bytes, help="LDS per workgroup."),
    ] = 0,
    scratch: Annotated[
        int,
        typer.Option(metavar="BYTES", parser=options.parse_bytes, help="Scratch per lane."),
    ] = 0,
    workgroup_size: options.WorkgroupSize = 256,
    wave: options.WaveSize = None,
    cu_mode: options.CuMode = False,
    no_trap_handler: options.NoTrapHandler = False,
    format: options.Format = "text",
    output: options.Output = None,
    color: options.Color = "auto",
    width: options.Width = None,
) -> None:
    """The occupancy of given numbers, with the arithmetic."""
    view = make_view(color=color, width=width, output=output)
    target = find_arch(arch)
    demand = target.demand(
        vgprs=vgpr,
        agprs=agpr,
        sgprs=sgpr,
        lds_bytes=lds,
        scratch_bytes_per_lane=scratch,
        wave_size=wave,
        wgp_mode=False if cu_mode else None,
    )
    assert workgroup_size is not None
    launch = Launch(workgroup_size, trap_handler=not no_trap_handler)
    found = occupancy(target.target, demand, launch)
    if format == "text":
        write(render_numbers(target.target, demand, found, view), output)
    else:
        record = {"target": arch, "workgroup_size": workgroup_size, **occupancy_document(found)}
        write(render_records([record], format), output)
