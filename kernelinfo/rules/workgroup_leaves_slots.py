"""KI204."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.model import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def workgroup_leaves_slots(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Whole workgroups do not fill the wave slots that registers and LDS would leave.

    What it finds: a workgroup size that does not divide the wave slots, where slots are the limit.
    Why it matters: 704 workitems are 11 waves; two such workgroups fill 22 of 32 slots.
    What to do: launch a size that divides the slots, or pin the size with `__launch_bounds__`.
    """
    launch, span = occupancy.launch, occupancy.range
    if span is not None:
        if occupancy.limiters == ("slots",) and span.min_percent < span.max_percent:
            yield Remark(
                f"no fixed workgroup size: sizes to {launch.workgroup_size} give "
                f"{span.min_percent:.0f}–{span.max_percent:.0f} % "
                f"({span.worst_workgroup_size} is worst)"
            )
    elif occupancy.limiters == ("slots",) and occupancy.percent < 100:
        yield Remark(
            f"workgroups of {launch.workgroup_size} fill {occupancy.waves} of "
            f"{occupancy.wave_slots} wave slots",
            severity="warning",
        )
