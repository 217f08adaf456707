"""Which of the next steps of an occupancy are worth taking."""

from __future__ import annotations

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.headroom import Step


def useful_steps(occupancy: Occupancy, traits: Traits) -> tuple[Step, ...]:
    """`occupancy.next`, or none of it where that asks for fewer registers of a kind that spills.

    VGPRs that only pad what LDS allows are left out: they end with the LDS.
    """
    steps = occupancy.next
    spilled = {"vgpr": traits.spills.vgprs, "sgpr": traits.spills.sgprs}
    if any(spilled.get(step.resource) for step in steps):
        return ()
    used = traits.used.vgprs
    asked = next((limit.used for limit in occupancy.limits if limit.resource == "vgpr"), None)
    if None in (used, asked) or used == asked:
        return steps
    others = tuple(step for step in steps if step.resource != "vgpr")
    return others if any(step.resource == "lds" for step in others) or not others else steps
