"""What more or fewer waves cost and save against the kernel as compiled."""

from __future__ import annotations

from kernelinfo.kernel import Result
from kernelinfo.light_typing import NamedTuple
from kernelinfo.sweep.variants import SweptKernel, Variant


class Cost(NamedTuple):
    """What a kernel pays for registers that it does not have; differences may be negative."""

    scratch_bytes: int
    """Per lane."""
    reloads: int
    """Loads of spilled registers from scratch inside loops."""
    spills: int
    """VGPRs and SGPRs spilled."""

    @property
    def costs(self) -> bool:
        """True if scratch, or else reloads or spills, are more."""
        return self > Cost(0, 0, 0)

    @property
    def saves(self) -> bool:
        """True if scratch, or else reloads or spills, are less."""
        return self < Cost(0, 0, 0)

    def over(self, other: Cost) -> Cost:
        """This cost less another."""
        return Cost(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


class Step(NamedTuple):
    """The cheapest way among the variants to reach a number of waves/SIMD."""

    waves_per_simd: float
    variant: Variant
    cost: Cost
    """Against the kernel as compiled."""


def cost_of(result: Result) -> Cost:
    """Scratch, reloads inside loops and spills; what the assembly does not state counts as 0."""
    kernel = result.kernel
    loops = (kernel.code.loops if kernel.code else None) or ()
    return Cost(
        kernel.used.scratch_bytes_per_lane or 0,
        sum(loop.reloads for loop in loops),
        kernel.spills.registers,
    )


def tradeoff(kernel: SweptKernel) -> tuple[Step, ...]:
    """Steps to more waves, and those to as many or fewer that save something; fewest waves first.

    Empty where the kernel as compiled was not made.
    """
    base = kernel.variants[0].result
    if base is None or base.occupancy is None:
        return ()
    found: dict[float, Step] = {}
    for variant in kernel.variants[1:]:
        result = variant.result
        if result is None or result.occupancy is None or variant.is_ignored:
            continue
        waves = result.occupancy.waves_per_simd
        step = Step(waves, variant, cost_of(result).over(cost_of(base)))
        if waves not in found or step.cost < found[waves].cost:
            found[waves] = step
    now = base.occupancy.waves_per_simd
    return tuple(step for waves, step in sorted(found.items()) if waves > now or step.cost.saves)
