"""KI102."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def scratch_without_spill(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Scratch memory that register spills do not explain.

    What it finds: scratch in a kernel that is known to spill nothing.
    Why it matters: a local array indexed at run time, an alloca or the frame of a call that was
    not inlined lives in memory instead of registers.
    What to do: index the array by constants (unroll the loop), or inline the call.
    """
    scratch = kernel.used.scratch_bytes_per_lane
    if scratch and kernel.spills.vgprs == 0 and kernel.spills.sgprs == 0:
        yield Remark(f"{scratch} B of scratch per lane without spills: an array or a call frame")
