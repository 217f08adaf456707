"""KI102."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel, Spills
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.limits import REGISTER_BYTES
from kernelinfo.rules.remark import Remark

_FRAME_BYTES = 16
"""What a spilling kernel may have besides: the stack is aligned to it, and a register that the
compiler needs for addresses may have its slot."""

_LARGE_BYTES = 256
"""Per lane: more is rarely an accident of the calling convention."""


def scratch_without_spill(kernel: Kernel, occupancy: Occupancy | None) -> Iterator[Remark]:
    """Scratch memory that register spills do not explain.

    What it finds: scratch in a kernel that is known to spill nothing, or more of it than its
    spilled registers take. `dynamic-stack` takes its place where scratch grows at run time.
    Why it matters: a local array indexed at run time, an alloca or the frame of a call that was
    not inlined lives in memory instead of registers.
    A warning where a loop touches it, of which assembly tells, or above 256 B: below, it is often
    written once and rarely read.
    What to do: index the array by constants (unroll the loop), or inline the call.
    """
    scratch, spills = kernel.used.scratch_bytes_per_lane or 0, kernel.spills
    if spills.vgprs is None or spills.sgprs is None or kernel.flags.dynamic_stack:
        return
    spilled = spills.vgprs + spills.sgprs
    explained = REGISTER_BYTES * spilled + _FRAME_BYTES if spilled else 0
    if scratch > explained:
        beyond = f"beyond {_spilled(spills)}" if spilled else "without spills"
        calls = kernel.code is None or kernel.code.calls
        what = "an array or a call frame" if calls else "an array"
        text = f"{scratch} B of scratch per lane {beyond}: {what}"
        # A clause of reloads has their comment once: with spills the count is none of the array's.
        in_loops = 0 if spilled or kernel.code is None else kernel.code.scratch_in_loops or 0
        if in_loops:
            text += f", touched {in_loops} {'time' if in_loops == 1 else 'times'} inside loops"
        yield Remark(
            text,
            "index the array by constants, or inline the call",
            "warning" if in_loops or scratch - explained > _LARGE_BYTES else None,
        )


def _spilled(spills: Spills) -> str:
    kinds = ((spills.vgprs, "VGPRs"), (spills.sgprs, "SGPRs"))
    return "the " + " and ".join(f"{count} {noun}" for count, noun in kinds if count) + " spilled"
