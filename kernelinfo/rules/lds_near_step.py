"""KI202."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.lds_rounding_costs_workgroup import lost_to_rounding
from kernelinfo.rules.remark import Remark, waves_per_simd

_NEAR = 0.1
_WORTH = 1.2
"""Times the waves of now."""


def lds_near_step(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """A little less LDS would fit one more workgroup.

    What it finds: LDS as the only limit, and the next step, which brings a fifth more waves, at
    most 10 % below what is asked for. Where granules alone cost it, `lds-rounding-costs-workgroup`
    says so instead.
    Why it matters: padding against bank conflicts often costs just this much.
    What to do: a narrower pad or a smaller tile; whether more waves help, measure.
    """
    if occupancy.limiters != ("lds",) or len(occupancy.next) != 1:
        return
    step = occupancy.next[0]
    worth = step.waves_per_simd >= _WORTH * occupancy.waves_per_simd
    if worth and -step.change <= _NEAR * step.at_most and not lost_to_rounding(occupancy):
        yield Remark(
            f"{-step.change} B of LDS less would give {step.waves_per_simd:.4g} instead of "
            f"{waves_per_simd(occupancy.waves_per_simd)}",
            "take a narrower pad or a smaller tile",
        )
