"""The verdict: how many workgroups are resident at once, what limits them, what more would take.

The result is a steady-state ceiling of one residency domain, not a speed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from kernelinfo.errors import LaunchError
from kernelinfo.limits import (
    MOST,
    Demand,
    Launch,
    Limit,
    Resource,
    align,
    allocated_sgprs,
    allocated_vgprs,
    lds_of,
    limits,
    most_lds_of_a_workgroup,
    scratch_per_wave,
    trap_sgprs,
    waves_of,
)
from kernelinfo.targets import Target, find


@dataclass(frozen=True, slots=True)
class Allocated:
    """What the hardware reserves, after rounding to its granules."""

    vgprs: int | None
    """Per lane, AGPRs included."""
    arch_vgprs: int | None
    agprs: int | None
    sgprs: int | None
    """Per wave, without the trap handler's."""
    trap_sgprs: int
    lds_bytes: int | None
    """Per workgroup, static and dynamic."""


@dataclass(frozen=True, slots=True)
class Step:
    """The least change of one resource on the way to the next higher occupancy."""

    resource: Resource
    at_most: int
    """In the unit of the limit's `used`."""
    change: int
    waves_per_simd: float
    """Reached when every resource that limits takes its step."""
    percent: float


@dataclass(frozen=True, slots=True)
class Headroom:
    """What more the kernel may ask for without losing a workgroup; None where it cannot be said."""

    vgprs: int | None
    sgprs: int | None
    lds_bytes: int | None


@dataclass(frozen=True, slots=True)
class Range:
    """The occupancy over all workgroup sizes that the kernel allows, in whole waves."""

    min_percent: float
    max_percent: float
    worst_workgroup_size: int
    best_workgroup_size: int


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What one target makes of a kernel's demand under one launch."""

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
    """Of the wave slots."""
    obstacles: tuple[str, ...]
    """Why no workgroup can start, in words."""
    at_most_because: tuple[str, ...]
    """Why the result is an upper bound, in words; empty when it is exact."""
    allocated: Allocated
    limits: tuple[Limit, ...]
    limiters: tuple[Resource, ...]
    """All that bind: ties are the normal case."""
    next: tuple[Step, ...]
    headroom: Headroom
    range: Range | None
    """None when the workgroup size is not in question."""

    @property
    def launchable(self) -> bool:
        return not self.obstacles

    @property
    def exact(self) -> bool:
        return not self.at_most_because


def occupancy(target: Target, demand: Demand, launch: Launch) -> Occupancy:
    """The occupancy of `demand` on `target`.

    Raises `LaunchError` for a workgroup without workitems or negative LDS, and `TargetsError`
    for a wave size that the target does not have.
    """
    if launch.workgroup_size < 1 or launch.dynamic_lds_bytes < 0:
        raise LaunchError(
            f"workgroup of {launch.workgroup_size} workitems and {launch.dynamic_lds_bytes} bytes "
            "of dynamic LDS: give at least 1 workitem and 0 bytes"
        )
    if target.members:
        return _best_member(target, demand, launch)
    domain = target.domain(demand.wgp_mode)
    wave_slots = domain.simds * target.waves.slots_per_simd
    bounds = limits(target, demand, launch)
    waves = min(_resident(limit, demand, launch) for limit in bounds if limit.waves is not None)
    obstacles = _obstacles(target, demand, launch, bounds)
    resident = 0 if obstacles else waves
    return Occupancy(
        target=target.name,
        launch=launch,
        per=domain.per,
        simds=domain.simds,
        wave_slots=wave_slots,
        workgroups=resident // waves_of(launch.workgroup_size, demand.wave_size),
        waves=resident,
        waves_per_simd=resident / domain.simds,
        percent=100 * resident / wave_slots,
        obstacles=obstacles,
        at_most_because=_at_most_because(target, demand, launch, bounds),
        allocated=allocated(target, demand, launch),
        limits=bounds,
        limiters=tuple(
            limit.resource
            for limit in bounds
            if limit.waves is not None and _resident(limit, demand, launch) == waves
        ),
        next=_next(target, demand, launch, bounds, waves),
        headroom=_headroom(target, demand, launch, waves),
        range=_range(target, demand, launch, bounds),
    )


def _resident(limit: Limit, demand: Demand, launch: Launch) -> int:
    """Waves in the domain that a limit allows, in whole workgroups where those stay together."""
    assert limit.waves is not None
    assert limit.workgroups is not None
    if demand.tg_split:
        return limit.waves
    return limit.workgroups * waves_of(launch.workgroup_size, demand.wave_size)


def _best_member(target: Target, demand: Demand, launch: Launch) -> Occupancy:
    """Code for a generic target runs as its device does: the best device is an upper bound."""
    members = [occupancy(find(name), demand, launch) for name in target.members]
    best = max(members, key=lambda member: member.percent)
    reason = f"{target.name} is what its device makes of it: this is {best.target}"
    return replace(best, target=target.name, at_most_because=(reason, *best.at_most_because))


def _obstacles(
    target: Target, demand: Demand, launch: Launch, bounds: tuple[Limit, ...]
) -> tuple[str, ...]:
    """Why no workgroup of this launch can start."""
    found = []
    if launch.workgroup_size > (most := target.waves.max_workgroup_size):
        found.append(f"a workgroup has at most {most} workitems, not {launch.workgroup_size}")
    asked = lds_of(demand, launch) or 0
    if asked > (most := most_lds_of_a_workgroup(target, demand)):
        found.append(f"a workgroup has at most {most} bytes of LDS, not {asked}")
    most = target.vgpr_file(demand.wave_size).addressable
    if (demand.vgprs or 0) > most:
        found.append(f"a wave has at most {most} VGPRs, not {demand.vgprs}")
    if target.sgprs.per_simd and (demand.sgprs or 0) > (most := target.sgprs.allocatable):
        found.append(f"a wave has at most {most} SGPRs, not {demand.sgprs}")
    if scratch_per_wave(target, demand) > (most := target.scratch.bytes_per_wave):
        found.append(f"a wave has at most {most} bytes of scratch")
    if found:
        return tuple(found)
    group = waves_of(launch.workgroup_size, demand.wave_size)
    place = f"in one {target.domain(demand.wgp_mode).per}"
    return tuple(
        f"{limit.resource}: the {group} waves of a workgroup need room at once {place}, "
        f"{limit.waves} fit"
        for limit in bounds
        if limit.workgroups == 0
    )


def _at_most_because(
    target: Target, demand: Demand, launch: Launch, bounds: tuple[Limit, ...]
) -> tuple[str, ...]:
    """Why the true number may be lower."""
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
    domain = target.domain(demand.wgp_mode)
    group = waves_of(launch.workgroup_size, demand.wave_size)
    if group % domain.simds and domain.simds % group:
        reasons.append(
            f"{group} waves do not spread evenly over {domain.simds} SIMDs: "
            "counted as if they did, nobody has measured it"
        )
    if any(b.resource == "scratch" and b.available < domain.scratch_waves for b in bounds):
        reasons.append(
            "the room for scratch depends on the device: "
            f"{target.scratch.cus_per_aperture} CUs to an aperture are assumed"
        )
    return tuple(reasons)


def allocated(target: Target, demand: Demand, launch: Launch) -> Allocated:
    vgprs = allocated_vgprs(target, demand)
    arch_vgprs, agprs = vgprs, None if vgprs is None else 0
    if target.agprs.file == "separate":
        agprs = vgprs  # gfx908 gives a wave as many of each
    elif target.agprs.file == "unified":
        arch_vgprs = agprs = None
        if vgprs is not None and demand.accum_offset is not None:
            arch_vgprs = min(vgprs, demand.accum_offset)
            agprs = vgprs - arch_vgprs
    lds_bytes = lds_of(demand, launch)
    return Allocated(
        vgprs=vgprs,
        arch_vgprs=arch_vgprs,
        agprs=agprs,
        sgprs=allocated_sgprs(target, demand),
        trap_sgprs=trap_sgprs(target, launch),
        lds_bytes=None if lds_bytes is None else align(lds_bytes, target.lds.granule_bytes),
    )


def _next(
    target: Target, demand: Demand, launch: Launch, bounds: tuple[Limit, ...], waves: int
) -> tuple[Step, ...]:
    """What every binding resource has to come down to for one more workgroup.

    Empty where nothing the kernel asks for would help: slots and barriers cannot be asked less of.
    """
    more = waves + (1 if demand.tg_split else waves_of(launch.workgroup_size, demand.wave_size))
    binding = [b for b in bounds if b.waves is not None and _resident(b, demand, launch) == waves]
    if any(bound.resource not in MOST for bound in binding):
        return ()
    most = {b.resource: MOST[b.resource](target, demand, launch, more) for b in binding}
    if any(most[name] < 1 for name in most if name in ("vgpr", "sgpr")):
        return ()
    static_lds = most.get("lds", 0) - launch.dynamic_lds_bytes
    if static_lds < 0 and "lds" in most:
        return ()
    changed = replace(
        demand,
        vgprs=most.get("vgpr", demand.vgprs),
        sgprs=most.get("sgpr", demand.sgprs),
        lds_bytes=static_lds if "lds" in most else demand.lds_bytes,
        scratch_bytes_per_lane=most.get("scratch", demand.scratch_bytes_per_lane),
    )
    after = limits(target, changed, launch)
    reached = min(_resident(b, changed, launch) for b in after if b.waves is not None)
    domain = target.domain(demand.wgp_mode)
    share = reached / domain.simds
    percent = 100 * share / target.waves.slots_per_simd
    return tuple(
        Step(b.resource, most[b.resource], most[b.resource] - b.used, share, percent)
        for b in binding
    )


def _headroom(target: Target, demand: Demand, launch: Launch, waves: int) -> Headroom:
    def free(resource: Resource, asked: int | None) -> int | None:
        if asked is None or waves == 0:
            return None
        return MOST[resource](target, demand, launch, waves) - asked

    sgprs = demand.sgprs
    if not target.sgprs.per_simd or target.sgprs.fixed_allocation:
        sgprs = None
    return Headroom(
        vgprs=free("vgpr", demand.vgprs),
        sgprs=free("sgpr", sgprs),
        lds_bytes=free("lds", lds_of(demand, launch)),
    )


def _range(
    target: Target, demand: Demand, launch: Launch, bounds: tuple[Limit, ...]
) -> Range | None:
    """The best and the worst size that may be launched; the largest of equals."""
    if launch.assumption not in ("declared-max", "hardware-max") or demand.tg_split:
        return None
    domain = target.domain(demand.wgp_mode)
    waves = min(
        bound.waves
        for bound in bounds
        if bound.waves is not None and bound.resource not in ("lds", "barriers")
    )
    lds = next((b.workgroups for b in bounds if b.resource == "lds"), None)
    sizes = {}
    for group in range(1, waves_of(launch.workgroup_size, demand.wave_size) + 1):
        workgroups = waves // group
        if group > 1:
            workgroups = min(workgroups, domain.barriers)
        if lds is not None:
            workgroups = min(workgroups, lds)
        size = min(group * demand.wave_size, launch.workgroup_size)
        sizes[size] = workgroups * group
    worst = min(reversed(sizes), key=lambda size: sizes[size])
    best = max(reversed(sizes), key=lambda size: sizes[size])
    slots = domain.simds * target.waves.slots_per_simd
    percents = (100 * sizes[worst] / slots, 100 * sizes[best] / slots)
    return Range(*percents, worst_workgroup_size=worst, best_workgroup_size=best)
