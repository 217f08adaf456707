"""KI204."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def workgroup_leaves_slots(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Whole workgroups do not fill the wave slots that registers and LDS would leave.

    What it finds: where slots are the only limit, or scratch for as many waves with them, a fixed
    size that does not divide them, or a kernel that may have any size, some of which do not. A
    kernel whose template arguments name the hardware's largest size, or two sides of it
    (`<16, 64>`), is made for that one.
    Why it matters: 704 workitems are 11 waves; two such workgroups fill 22 of 32 slots.
    What to do: launch a size that divides the slots; `--workgroup-size` tells what is launched.
    """
    launch, span = occupancy.launch, occupancy.range
    unsure = occupancy.allocated.vgprs is None or occupancy.allocated.lds_bytes is None
    if set(occupancy.limiters) - {"scratch"} != {"slots"} or kernel.target is None or unsure:
        return
    if not occupancy.launchable:
        return
    if span is None and occupancy.percent < 100:
        yield Remark(
            f"workgroups of {launch.workgroup_size} fill {occupancy.waves} of "
            f"{occupancy.wave_slots} wave slots",
            severity="warning",
        )
    unbounded = launch.workgroup_size == kernel.target.waves.max_workgroup_size
    if span is None or not unbounded or _named(launch.workgroup_size, kernel.name):
        return
    if span.min_percent < span.max_percent:
        yield Remark(
            f"no launch bound below {launch.workgroup_size}: block sizes give "
            f"{span.min_percent:.0f}–{span.max_percent:.0f} % "
            f"({span.worst_workgroup_size} is worst)"
        )


_NUMBER = r"(?<=[<, ])\d{1,4}(?=u?[,>])"


def _named(size: int, name: str) -> bool:
    """Whether template arguments of `name` are that size or two of its sides."""
    sides = {int(number) for number in re.findall(_NUMBER, name)}
    return any(side == size or (side and size / side in sides) for side in sides)
