"""The way to the next step, headroom, and the range over launch sizes."""

from __future__ import annotations

from sys import maxsize
from typing import NamedTuple

from kernelinfo.model.limits import (
    MOST,
    USED,
    Resource,
    Waves,
    lds_of,
    most_lds_of_a_workgroup,
    room,
    waves_by_resource,
)
from kernelinfo.model.placement import Demand, Placement, waves_of


class Step(NamedTuple):
    """The smallest change of one limiting resource that the next higher occupancy needs."""

    resource: Resource
    at_most: int
    """The amount to come down to, in the unit of `Limit.used`."""
    change: int
    """`at_most` minus the used amount."""
    waves_per_simd: float
    """Reached if all limiters take their steps."""
    percent: float


class Headroom(NamedTuple):
    """Amounts that the kernel may use more without losing a workgroup; None if not known."""

    vgprs: int | None
    """Per lane."""
    sgprs: int | None
    """Per wave."""
    lds_bytes: int | None
    """Per workgroup."""

    def of(self, resource: Resource) -> int | None:
        """Headroom of one resource in the unit of `Limit.used`; None for slots, barriers and
        scratch, and if it is not known."""
        return {"vgpr": self.vgprs, "sgpr": self.sgprs, "lds": self.lds_bytes}.get(resource)


class Range(NamedTuple):
    """The lowest and highest occupancy over all workgroup sizes that the kernel allows.

    Occupancy in % of the wave slots, sizes in workitems and whole waves."""

    min_percent: float
    max_percent: float
    worst_workgroup_size: int
    best_workgroup_size: int


def next_steps(
    at: Placement,
    demand: Demand,
    allowed: Waves,
    limiters: tuple[Resource, ...],
    *,
    launchable: bool,
) -> tuple[Step, ...]:
    """One step per limiter, for one more workgroup or for the first.

    Empty if no smaller use helps: slots and barriers cannot be used less."""
    bounds = {} if launchable else _beyond(at, demand)
    waves = 0 if bounds else at.whole(min(allowed.values()))
    more = waves + (1 if at.is_split else at.group)
    if bounds:
        limiters = tuple([name for name in allowed if name in bounds or allowed[name] < more])
    if any(resource not in MOST for resource in limiters):
        return ()
    most = {name: min(MOST[name](at, more), bounds.get(name, maxsize)) for name in limiters}
    least = {"vgpr": 1, "sgpr": 1, "lds": at.launch.dynamic_lds_bytes, "scratch": 0}
    if any(amount < least[resource] for resource, amount in most.items()):
        return ()
    lowered = [USED[resource](at, amount) for resource, amount in most.items()]
    others = [count for resource, count in allowed.items() if resource not in most]
    reached = at.whole(min([*others, *(count for count in lowered if count is not None)]))
    share = reached / at.domain.simds
    percent = 100 * share / at.target.waves.slots_per_simd
    used: dict[Resource, int | None] = {
        "vgpr": demand.vgprs,
        "sgpr": demand.sgprs,
        "lds": lds_of(demand, at.launch),
        "scratch": demand.scratch_bytes_per_lane,
    }
    return tuple(
        [Step(name, to, to - (used[name] or 0), share, percent) for name, to in most.items()]
    )


def _beyond(at: Placement, demand: Demand) -> dict[Resource, int]:
    """Resource → hardware maximum per wave or workgroup; only resources that exceed it."""
    target, file = at.target, at.vgpr_file.addressable
    kinds = (demand.arch_vgprs or 0, demand.agprs or 0)
    if target.agprs.file == "unified" and max(kinds) > target.agprs.addressable:
        file = min(file, sum(min(kind, target.agprs.addressable) for kind in kinds))
    bounds: dict[Resource, tuple[int | None, int]] = {
        "vgpr": (demand.vgprs, file),
        "sgpr": (demand.sgprs if target.sgprs.per_simd else None, target.sgprs.allocatable),
        "lds": (lds_of(demand, at.launch), most_lds_of_a_workgroup(at)),
        "scratch": (demand.scratch_bytes_per_lane, target.scratch.bytes_per_wave // at.wave_size),
    }
    return {name: most for name, (asked, most) in bounds.items() if (asked or 0) > most}


def headroom(at: Placement, demand: Demand) -> Headroom:
    """Free amounts of each resource at the present number of waves."""
    waves = at.whole(min(waves_by_resource(at, demand).values()))
    waves = 0 if _beyond(at, demand) else waves

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


def size_range(at: Placement, demand: Demand) -> Range | None:
    """Best and worst workgroup size that may be launched; the largest size wins ties.

    None if the size is known for sure, waves of a workgroup may be split, or no size can start."""
    sure = at.launch.assumption not in ("declared-max", "hardware-max")
    if at.is_split or (sure and at.launch.smallest_size is None):
        return None
    allowed = waves_by_resource(at, demand)
    lds = allowed["lds"] // at.group if "lds" in allowed else None
    waves, sizes = room(allowed), {}
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
