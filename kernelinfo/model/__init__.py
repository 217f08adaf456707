"""The occupancy model: resident workgroups, their limits, and the way to the next step.

The result is a steady-state ceiling of one residency domain, not a speed.
"""

from __future__ import annotations

from sys import maxsize
from typing import Literal, NamedTuple

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.targets import Target, align, find
from kernelinfo.model.limits import (
    MOST,
    USED,
    VGPRS_ARE_DYNAMIC,
    Demand,
    Launch,
    Limit,
    Placement,
    Resource,
    Waves,
    allocated_sgprs,
    allocated_vgprs,
    lds_of,
    limits,
    most_lds_of_a_workgroup,
    placement,
    room,
    scratch_per_wave,
    slots,
    trap_sgprs,
    waves_by_resource,
    waves_of,
)


class Allocated(NamedTuple):
    """Resources that the hardware allocates, rounded to its granules."""

    vgprs: int | None
    """Per lane, AGPRs included."""
    arch_vgprs: int | None
    """Architectural VGPRs per lane; None if their share of a unified file is not known."""
    agprs: int | None
    """Per lane."""
    sgprs: int | None
    """Per wave, without the trap handler's."""
    trap_sgprs: int
    """SGPRs per wave for the trap handler."""
    lds_bytes: int | None
    """Per workgroup, static and dynamic."""


class Occupancy(NamedTuple):
    """The occupancy of one demand under one launch on one target."""

    target: str
    launch: Launch
    per: Literal["CU", "WGP"]
    simds: int
    wave_slots: int
    """In the domain."""
    workgroups: int
    waves: int
    """Resident in the domain."""
    waves_per_simd: float
    percent: float
    """Waves in % of the wave slots."""
    obstacles: tuple[str, ...]
    """Reasons in words why no workgroup can start."""
    at_most_because: tuple[str, ...]
    """Reasons in words why the result is only an upper bound; empty if it is exact."""
    allocated: Allocated
    limiters: tuple[Resource, ...]
    """All resources that limit the waves; ties are the normal case."""
    next: tuple[Step, ...]
    """Amounts to which the limiters have to come down for one more workgroup."""
    placement: Placement
    demand: Demand

    def __hash__(self) -> int:
        return hash((self.target, self.launch, self.allocated))

    @property
    def launchable(self) -> bool:
        """True if at least one workgroup can start."""
        return not self.obstacles

    @property
    def exact(self) -> bool:
        """False if the waves are an upper bound."""
        return not self.at_most_because

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits of each resource, as a table."""
        return limits(self.placement, self.demand)

    @property
    def headroom(self) -> Headroom:
        """Amounts that the kernel may use more without losing a workgroup."""
        return headroom(self.placement, self.demand)

    @property
    def range(self) -> Range | None:
        """Best and worst occupancy over the workgroup sizes; None if the size is known for sure, or
        no size can start."""
        if _too_much(self.placement, self.demand):
            return None
        return size_range(self.placement, self.demand)


def occupancy(target: Target, demand: Demand, launch: Launch) -> Occupancy:
    """The occupancy of `demand` on `target`. Raises `LaunchError` for a workgroup without workitems
    or negative LDS, and `TargetsError` for a wave size that the target does not have."""
    if launch.workgroup_size < 1 or launch.dynamic_lds_bytes < 0:
        raise LaunchError(
            f"workgroup of {launch.workgroup_size} workitems and {launch.dynamic_lds_bytes} bytes "
            "of dynamic LDS: give at least 1 workitem and 0 bytes"
        )
    if target.members:
        return _best_member(target, demand, launch)
    at = placement(target, demand, launch)
    domain, wave_slots = at.domain, slots(at)
    allowed = waves_by_resource(at, demand)
    waves = at.whole(min(allowed.values()))
    limiters = tuple([name for name, count in allowed.items() if at.whole(count) == waves])
    is_compiled_for = demand.is_compiled_for(launch.workgroup_size)
    obstacles = _obstacles(at, demand, allowed)
    placed = 0 if obstacles else waves
    return Occupancy(
        target=target.name,
        launch=launch,
        per=domain.per,
        simds=domain.simds,
        wave_slots=wave_slots,
        workgroups=placed // at.group,
        waves=placed,
        waves_per_simd=placed / domain.simds,
        percent=100 * placed / wave_slots,
        obstacles=obstacles,
        at_most_because=_at_most_because(at, demand, allowed),
        allocated=allocated(at, demand),
        limiters=limiters,
        next=next_steps(at, demand, allowed, limiters, launchable=not obstacles)
        if is_compiled_for
        else (),
        placement=at,
        demand=demand,
    )


def _best_member(target: Target, demand: Demand, launch: Launch) -> Occupancy:
    """The occupancy on the best device of a generic target, marked as an upper bound."""
    members = [occupancy(find(name), demand, launch) for name in target.members]
    best = max(members, key=lambda member: member.percent)
    reason = f"{target.name} runs on several targets: this is the best of them, {best.target}"
    return best._replace(target=target.name, at_most_because=(reason, *best.at_most_because))


def _obstacles(at: Placement, demand: Demand, allowed: Waves) -> tuple[str, ...]:
    """Reasons in words why no workgroup of this launch can start."""
    found = [*_other_size(demand, at.launch.workgroup_size), *_too_much(at, demand)]
    if at.launch.workgroup_size > (most := at.target.waves.max_workgroup_size):
        size = at.launch.workgroup_size
        found.insert(0, f"a workgroup has at most {most} workitems, not {size}")
    if found:
        return tuple(found)
    return tuple(
        [
            f"{resource}: room for {waves} of the {at.group} waves of a workgroup"
            for resource, waves in allowed.items()
            if waves < at.group
        ]
    )


def _other_size(demand: Demand, size: int) -> list[str]:
    """The reason in words if the code is not compiled for this workgroup size; else empty."""
    if demand.is_compiled_for(size):
        return []
    exact = demand.least_workgroup == demand.most_workgroup
    return [
        f"the code is compiled for workgroups of {'exactly' if exact else 'at most'} "
        f"{demand.most_workgroup} (its launch bound)"
    ]


def _too_much(at: Placement, demand: Demand) -> list[str]:
    """Reasons in words why no wave or workgroup of any size may have so many resources."""
    target, found = at.target, []
    asked = lds_of(demand, at.launch) or 0
    if asked > (most := most_lds_of_a_workgroup(at)):
        found.append(f"a workgroup has at most {most} bytes of LDS, not {asked}")
    registers = (
        ("VGPRs", demand.vgprs, at.vgpr_file.addressable),
        ("architectural VGPRs", demand.arch_vgprs, target.agprs.addressable),
        ("AGPRs", demand.agprs, target.agprs.addressable),
        ("SGPRs", demand.sgprs, target.sgprs.allocatable if target.sgprs.per_simd else 0),
    )
    for kind, count, most in registers:
        if most and count is not None and count > most:
            found.append(f"a wave has at most {most} {kind}, not {count}")
    scratch = scratch_per_wave(at, demand.scratch_bytes_per_lane)
    if scratch > (most := target.scratch.bytes_per_wave):
        found.append(f"a wave has at most {most} bytes of scratch")
    return found


def _at_most_because(at: Placement, demand: Demand, allowed: Waves) -> tuple[str, ...]:
    """Reasons in words why the true number of waves may be lower."""
    target, domain, group = at.target, at.domain, at.group
    reasons = [*demand.at_least]
    unknown = {
        "VGPRs": demand.vgprs,
        "SGPRs": demand.sgprs if target.sgprs.per_simd else 0,
        "LDS": demand.lds_bytes,
        "scratch": demand.scratch_bytes_per_lane,
    }
    if missing := [name for name, value in unknown.items() if value is None]:
        reasons.append(f"the input does not say: {', '.join(missing)}")
    if target.caveat:
        reasons.append(target.caveat)
    if demand.dynamic_vgpr_block:
        reasons.append(VGPRS_ARE_DYNAMIC)
    if group % domain.simds and domain.simds % group:
        reasons.append(
            f"{group} waves do not spread evenly over {domain.simds} SIMDs: "
            "counted as if they did, nobody has measured it"
        )
    if allowed.get("scratch", domain.scratch_waves) < domain.scratch_waves:
        reasons.append(
            "the room for scratch depends on the device: "
            f"{target.scratch.cus_per_aperture} CUs to an aperture are assumed"
        )
    return tuple(reasons)


def allocated(at: Placement, demand: Demand) -> Allocated:
    target = at.target
    vgprs = allocated_vgprs(at, demand.vgprs)
    arch_vgprs, agprs = vgprs, None if vgprs is None else 0
    if target.agprs.file == "separate":
        agprs = vgprs  # gfx908 allocates equal numbers of VGPRs and AGPRs
    elif target.agprs.file == "unified":
        arch_vgprs = agprs = None
        if vgprs is not None and demand.accum_offset is not None:
            arch_vgprs = min(vgprs, demand.accum_offset)
            agprs = vgprs - arch_vgprs
    lds_bytes = lds_of(demand, at.launch)
    return Allocated(
        vgprs=vgprs,
        arch_vgprs=arch_vgprs,
        agprs=agprs,
        sgprs=allocated_sgprs(at, demand.sgprs),
        trap_sgprs=trap_sgprs(at),
        lds_bytes=None if lds_bytes is None else align(lds_bytes, target.lds.granule_bytes),
    )


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
