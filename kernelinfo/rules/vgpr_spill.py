"""KI101."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark

_FEW = 4
"""Spilled VGPRs that rarely cost anything: often one value saved across a call."""


def vgpr_spill(kernel: Kernel, occupancy: Occupancy | None) -> Iterator[Remark]:
    """VGPRs did not fit and are kept in scratch memory or in AGPRs.

    What it finds: a spill count above 0 in the metadata; a note when only a few spilled.
    `spill-in-loop` takes its place where it can say more.
    Why it matters: every reload costs a memory access for a whole wave.
    What to do: look where the reloads are (`explain`); a looser launch bound gives more registers.
    """
    in_loop = kernel.code is not None and kernel.code.loops
    if (spilled := kernel.spills.vgprs) and not in_loop:
        scratch = kernel.used.scratch_bytes_per_lane
        where = f", {scratch} B of scratch per lane" if scratch else ", none of them to scratch"
        yield Remark(
            f"{spilled} {'VGPR' if spilled == 1 else 'VGPRs'} spilled{where}",
            "keep fewer values alive, or allow more VGPRs by a looser launch bound",
            "note" if spilled <= _FEW else None,
        )
