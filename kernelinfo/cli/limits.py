"""`kernelinfo limits GFX`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from kernelinfo.cli.options import FORMAT_OF_RECORDS, NAMED_TARGET, takes, target_option
from kernelinfo.cli.output import write
from kernelinfo.cli.values import parse_workgroup
from kernelinfo.errors import OptionError
from kernelinfo.occupancy.calculator import arch as find_arch
from kernelinfo.render import View
from kernelinfo.render.hardware import render_limits
from kernelinfo.render.records import render_records

EXAMPLES = """
  kernelinfo limits gfx942
  kernelinfo limits MI250X --block 1024
  kernelinfo limits gfx1100 --wave 64 --cu-mode
  kernelinfo limits gfx1201 --format csv
"""


@takes("arch workgroup_size wave cu_mode dynamic_vgpr_block no_trap_handler format output color")
def command(
    gfx: str | None = NAMED_TARGET,
    arch: str | None = target_option("--arch", "Set the target, as the argument does."),
    workgroup_size: int = typer.Option(
        256,
        "--workgroup-size",
        "--block",
        metavar="N|XxYxZ",
        parser=parse_workgroup,
        help="Set the workitems of a workgroup.",
    ),
    format: str = FORMAT_OF_RECORDS,
    *,
    view: View,
    wave: int | None,
    cu_mode: bool,
    dynamic_vgpr_block: int,
    no_trap_handler: bool,
    output: str | None,
) -> None:
    """Show the most registers and LDS for each occupancy.

    How many VGPRs, SGPRs and how much LDS a kernel may use to reach each number of waves per
    SIMD, and the staircase of waves against VGPRs.
    """
    if gfx and arch and gfx != arch:
        raise OptionError(f"{gfx} is not --arch {arch}; name one target")
    if (name := gfx or arch) is None:
        raise OptionError("no target is named; give one, such as gfx942 or MI300X")
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
    records = [asdict(rung) for rung in rungs]
    write(text if format == "text" else render_records(records, format), output, color=view.color)
