"""KI303."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.limits import most_vgprs
from kernelinfo.occupancy.placement import Launch, placement
from kernelinfo.rules.at_cap_and_spilling import step_in_use
from kernelinfo.rules.remark import Remark


def missing_launch_bound(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Spills because the compiler had to leave room for the largest workgroup there is.

    What it finds: `at-cap-and-spilling`, where the declared maximum is the hardware's, as without
    a launch bound, and the step is just the one with which such a workgroup can start.
    Why it matters: a kernel that is only launched with fewer workitems pays for those that never
    come.
    What to do: state the real size by `__launch_bounds__`.
    """
    target, demand, step = traits.target, traits.demand, step_in_use(traits)
    if target is None or demand is None or step is None or not traits.spills.vgprs:
        return
    largest = target.waves.max_workgroup_size
    if traits.workgroup.declared_max != largest or traits.workgroup.required is not None:
        return
    whole, half = (placement(target, demand, Launch(size)) for size in (largest, largest // 2))
    if step[0] == most_vgprs(whole, whole.group):
        yield Remark(
            f"the launch bound is {largest}, as without one, which allows {step[0]} VGPRs; "
            f"{largest // 2} would allow {most_vgprs(half, half.group)}",
            "state the size that is launched by __launch_bounds__",
        )
