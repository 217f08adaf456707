"""What more would take and what is free: the way to the next step, headroom, launch sizes."""

from __future__ import annotations

from typing import NamedTuple

from kernelinfo.occupancy.limits import (
    MOST,
    USED,
    Limit,
    Resource,
    binding,
    fitting,
    lds_of,
    room,
)
from kernelinfo.occupancy.placement import Demand, Placement, waves_of


class Step(NamedTuple):
    """The least change of one resource on the way to the next higher occupancy."""

    resource: Resource
    at_most: int
    """In the unit of the limit's `used`."""
    change: int
    waves_per_simd: float
    """Reached when every resource that limits takes its step."""
    percent: float


class Headroom(NamedTuple):
    """What more the kernel may use without losing a workgroup; None where that is not known."""

    vgprs: int | None
    sgprs: int | None
    lds_bytes: int | None

    def of(self, resource: Resource) -> int | None:
        """The headroom of one resource in the unit of its limit; None where it has none."""
        return {"vgpr": self.vgprs, "sgpr": self.sgprs, "lds": self.lds_bytes}.get(resource)


class Range(NamedTuple):
    """The occupancy over all workgroup sizes that the kernel allows, in whole waves."""

    min_percent: float
    max_percent: float
    worst_workgroup_size: int
    best_workgroup_size: int


def next_steps(at: Placement, bounds: tuple[Limit, ...], waves: int) -> tuple[Step, ...]:
    """What every binding resource has to come down to for one more workgroup. Empty where nothing
    the kernel uses would help: slots and barriers cannot be used less."""
    more = waves + (1 if at.is_split else at.group)
    lowered = binding(bounds)
    if any(bound.resource not in MOST for bound in lowered):
        return ()
    most = {b.resource: MOST[b.resource](at, more) for b in lowered}
    least = {"vgpr": 1, "sgpr": 1, "lds": at.launch.dynamic_lds_bytes, "scratch": 0}
    if any(amount < least[resource] for resource, amount in most.items()):
        return ()
    others = [bound for bound in bounds if bound.resource not in most]
    lower = [USED[resource](at, amount) for resource, amount in most.items()]
    share = fitting(at, [*others, *filter(None, lower)]) / at.domain.simds
    percent = 100 * share / at.target.waves.slots_per_simd
    steps = ((b.resource, most[b.resource], most[b.resource] - b.used) for b in lowered)
    return tuple([Step(*step, share, percent) for step in steps])


def headroom(at: Placement, demand: Demand, waves: int) -> Headroom:
    def free(resource: Resource, asked: int | None) -> int | None:
        if asked is None or waves == 0:
            return None
        return MOST[resource](at, waves) - asked

    file = at.target.sgprs
    sgprs = demand.sgprs if file.per_simd and not file.fixed_allocation else None
    return Headroom(
        vgprs=free("vgpr", demand.vgprs),
        sgprs=free("sgpr", sgprs),
        lds_bytes=free("lds", lds_of(demand, at.launch)),
    )


def size_range(at: Placement, bounds: tuple[Limit, ...]) -> Range | None:
    """The best and the worst size that may be launched, the largest of equals; None if none can."""
    sure = at.launch.assumption not in ("declared-max", "hardware-max")
    if at.is_split or (sure and at.launch.smallest_size is None):
        return None
    lds = next((b.workgroups for b in bounds if b.resource == "lds"), None)
    waves, sizes = room(bounds), {}
    for group in range(waves_of(at.launch.smallest_size or 1, at.wave_size), at.group + 1):
        workgroups = waves // group
        if group > 1:
            workgroups = min(workgroups, at.domain.barriers)
        if lds is not None:
            workgroups = min(workgroups, lds)
        size = min(group * at.wave_size, at.launch.workgroup_size)
        if size <= at.target.waves.max_workgroup_size:
            sizes[size] = workgroups * group
    if not any(sizes.values()):
        return None
    worst = min(reversed(sizes), key=lambda size: sizes[size])
    best = max(reversed(sizes), key=lambda size: sizes[size])
    slots = at.domain.simds * at.target.waves.slots_per_simd
    percents = (100 * sizes[worst] / slots, 100 * sizes[best] / slots)
    return Range(*percents, worst_workgroup_size=worst, best_workgroup_size=best)
