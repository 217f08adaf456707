"""KI201."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark, waves_per_simd

_NEAR = 0.05
_WORTH = 1.2
"""Times the waves of now: one wave more on top of eight is not worth a word."""


def near_next_step(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """A few VGPRs fewer would fit one more workgroup.

    What it finds: VGPRs as the only limit, and the next step 5 % below what the kernel uses, or
    one granule where this step is wider: with few VGPRs each granule is a step, and nothing is
    near. The step must bring a fifth more waves. Kernels that spill are left out: they are
    pressed already.
    Why it matters: so few registers can often be had by a small change of the source.
    What to do: look for values that need not stay alive; whether more waves help, measure.
    """
    if occupancy.limiters != ("vgpr",) or len(occupancy.next) != 1 or traits.spills.vgprs:
        return
    step = occupancy.next[0]
    limit = next(limit for limit in occupancy.limits if limit.resource == "vgpr")
    top = limit.used + (occupancy.headroom.vgprs or 0)
    padded = traits.used.vgprs is not None and limit.used > traits.used.vgprs
    one_granule = limit.allocated - step.at_most <= limit.granule < top - step.at_most
    if step.waves_per_simd < _WORTH * occupancy.waves_per_simd:
        return
    if padded or not (one_granule or -step.change <= _NEAR * step.at_most):
        return
    fewer = "VGPR" if step.change == -1 else "VGPRs"
    yield Remark(
        f"{-step.change} {fewer} fewer than {limit.used} would give "
        f"{step.waves_per_simd:.4g} instead of {waves_per_simd(occupancy.waves_per_simd)}",
        "look for values that need not stay alive",
    )
