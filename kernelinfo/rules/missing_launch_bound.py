"""KI303."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.limits import Launch, most_vgprs, waves_of
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.at_cap_and_spilling import step_in_use
from kernelinfo.rules.remark import Remark


def missing_launch_bound(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Spills because the compiler had to leave room for the largest workgroup there is.

    What it finds: `at-cap-and-spilling`, where the declared maximum is the hardware's, as without
    a launch bound, and the step is just the one with which such a workgroup can start.
    Why it matters: a kernel that is only launched with fewer workitems pays for those that never
    come.
    What to do: state the real size by `__launch_bounds__`.
    """
    target, demand, step = kernel.target, kernel.demand, step_in_use(kernel)
    if target is None or demand is None or step is None or not kernel.spills.vgprs:
        return
    largest = target.waves.max_workgroup_size
    if kernel.workgroup.declared_max != largest or kernel.workgroup.required is not None:
        return
    waves = waves_of(largest, demand.wave_size)
    if step[0] == most_vgprs(target, demand, Launch(largest), waves):
        half = most_vgprs(target, demand, Launch(largest // 2), -(-waves // 2))
        yield Remark(
            f"the launch bound is {largest}, as without one, which allows {step[0]} VGPRs; "
            f"{largest // 2} would allow {half}"
        )
