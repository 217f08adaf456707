"""`kernelinfo limits --arch GFX`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from kernelinfo.cli import options
from kernelinfo.cli.output import make_view, write
from kernelinfo.occupancy.calculator import Rung
from kernelinfo.occupancy.calculator import arch as find_arch
from kernelinfo.render.curves import render_steps
from kernelinfo.render.paint import paint
from kernelinfo.render.records import render_records, render_table
from kernelinfo.render.words import number, percent, size

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
        write(_table(rungs, title, view.color), output)
    else:
        write(render_records([asdict(rung) for rung in rungs], format), output)


def _table(rungs: tuple[Rung, ...], title: str, color: bool) -> Iterator[str]:
    yield paint([(title, "bold")], color) + "\n\n"
    rows = [
        (
            number(rung.waves_per_simd),
            percent(rung.percent),
            str(rung.vgprs),
            "any" if rung.sgprs is None else str(rung.sgprs),
            size(rung.lds_bytes),
        )
        for rung in rungs
    ]
    yield from render_table(("waves/SIMD", "occ", "VGPRs", "SGPRs", "LDS/workgroup"), rows)
    steps = {rung.vgprs: rung.waves_per_simd for rung in reversed(rungs)}
    yield from render_steps([*steps.items()], "vgpr")
