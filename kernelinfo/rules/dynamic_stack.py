"""KI104."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def dynamic_stack(traits: Traits, occupancy: Occupancy | None) -> Iterator[Remark]:
    """Scratch grows at run time, so its size cannot be known.

    What it finds: `.uses_dynamic_stack`: recursion, an alloca of unknown size, or a call whose
    callee the compiler did not see.
    Why it matters: the runtime reserves a guess; too little is a memory fault.
    What to do: bound the recursion, give the alloca a constant size, make the callee visible.
    """
    if traits.flags.dynamic_stack:
        known = traits.used.scratch_bytes_per_lane or 0
        yield Remark(
            f"scratch grows at run time; {known} B per lane are only its known part",
            "bound the recursion, give an alloca a constant size, make callees visible",
        )
