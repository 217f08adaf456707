"""KI301."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def agpr_without_mfma(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """AGPRs are used, and no matrix instruction is there to use them.

    What it finds: in assembly text, AGPRs in a kernel without MFMA, SMFMAC and calls.
    Why it matters: they hold what did not fit into VGPRs. A move each way is cheap next to
    scratch; where both share one file, they count against occupancy all the same.
    What to do: nothing, if those waves are not missed; else the same as for spills.
    """
    code, agprs = kernel.code, kernel.used.agprs
    if code is None or not agprs or code.matrix or code.calls:
        return
    held = ""
    if code.agpr_moves:
        moves = "move" if code.agpr_moves == 1 else "moves"
        held = f": they hold spilled VGPRs ({code.agpr_moves} {moves})"
    yield Remark(
        f"{agprs} AGPRs without a matrix instruction{held}",
        "where waves are missed, keep fewer values alive",
    )
