"""KI106."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.limits import REGISTER_BYTES
from kernelinfo.rules.remark import Remark


def spill_in_loop(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Spilled registers are stored or loaded inside a loop.

    What it finds: in assembly text, the compiler's "Folded Spill" and "Folded Reload" comments
    within blocks that it marks as part of a loop. Moves to AGPRs are not counted. Where this is
    reported, `vgpr-spill` is not.
    Why it matters: each is a memory access of the whole wave in every iteration, while spills
    around a loop are paid once.
    What to do: keep less alive across that loop, or let the kernel have more VGPRs.
    """
    loops = kernel.code.loops if kernel.code else None
    if not loops:
        return
    worst = max(loops, key=lambda loop: (loop.depth, loop.reloads + loop.spills))
    parts = [
        f"{count} spill {noun}{'' if count == 1 else 's'}"
        for count, noun in ((worst.reloads, "reload"), (worst.spills, "store"))
        if count
    ]
    text = f"{' and '.join(parts)} inside loop {worst.header}"
    if worst.depth > 1:
        text += f" at depth {worst.depth}"
    if others := len(loops) - 1:
        text += f", more in {others} other loop{'' if others == 1 else 's'}"
    if spilled := kernel.spills.vgprs:
        text += f" ({spilled} VGPRs spilled"
        scratch = kernel.used.scratch_bytes_per_lane or 0
        spilled_bytes = REGISTER_BYTES * spilled
        # A spilled register may share its place, or be in an AGPR: then the bytes say nothing.
        text += f", {spilled_bytes} of {scratch} B)" if spilled_bytes <= scratch else ")"
    yield Remark(text, "keep less alive across that loop, or allow more VGPRs")
