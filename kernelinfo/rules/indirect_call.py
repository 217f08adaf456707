"""KI105."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def indirect_call(traits: Traits, occupancy: Occupancy | None) -> Iterator[Remark]:
    """The kernel calls functions that the compiler could not see.

    What it finds: a call through a pointer, or to a function of another file.
    Why it matters: register counts and scratch are those of the functions in this file, so the
    occupancy is an upper bound.
    What to do: nothing, if the callees are small; else link with the device code in one module.
    """
    if traits.flags.indirect_call:
        yield Remark(
            "calls functions not known here: registers are lower bounds",
            "compile the callees in one module with it",
        )
