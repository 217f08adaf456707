"""The occupancy model: resident workgroups, their limits, and the way to the next step.

The result is a steady-state ceiling of one residency domain, not a speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal, NamedTuple

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.targets import Target, align, find
from kernelinfo.model import limits
from kernelinfo.model.limits import MOST, Demand, Launch, Limit, Placement, Resource, Waves
from kernelinfo.model.messages import say


class Allocated(NamedTuple):
    """Resources that the hardware allocates, rounded to its granules."""

    vgprs: int | None
    """VGPRs per lane, AGPRs included."""
    arch_vgprs: int | None
    """Architectural VGPRs per lane; None if their share of a unified file is not known."""
    agprs: int | None
    """AGPRs per lane."""
    sgprs: int | None
    """SGPRs per wave, without the trap handler's."""
    trap_sgprs: int
    """SGPRs per wave for the trap handler."""
    lds_bytes: int | None
    """Bytes of LDS per workgroup, static and dynamic."""


class Occupancy(NamedTuple):
    """The occupancy of one demand under one launch on one target."""

    target: str
    placement: Placement
    """A generic target has that of its best device."""
    waves: int
    """Resident waves in the domain."""
    obstacles: tuple[str, ...]
    """Reasons in words why no workgroup can start."""
    at_most_because: tuple[str, ...]
    """Reasons in words why the result is only an upper bound; empty if it is exact."""
    limiters: tuple[Resource, ...]
    """All resources that limit the waves; ties are the normal case. Registers that limit only by
    the descriptor's padding are left out if as few waves fit without it."""
    next: tuple[Step, ...]
    """Per limiter, the largest amount with which one more workgroup fits. Empty if padding limits:
    fewer registers in use do not change it."""
    allocated: Allocated
    """Resources that the hardware allocates."""

    def __hash__(self) -> int:
        return hash((self.target, self.waves, self.demand))

    def __repr__(self) -> str:
        """One line: target, workgroup size, waves, limiters, next steps."""
        parts = [repr(self.target), f"workgroup_size={self.launch.workgroup_size}"]
        parts += [f"waves_per_simd={self.waves_per_simd:g}", f"percent={self.percent:g}"]
        parts += [] if self.exact else ["exact=False"]
        parts += [f"limiters={'+'.join(self.limiters)}", *next_in_repr(self.next)]
        return f"Occupancy({', '.join(parts)})"

    @property
    def launch(self) -> Launch:
        """Workgroup size, dynamic LDS and trap handler."""
        return self.placement.launch

    @property
    def demand(self) -> Demand:
        """The resources that the kernel asks for."""
        return self.placement.demand

    @property
    def per(self) -> Literal["CU", "WGP"]:
        """The domain that all waves of a workgroup share."""
        return self.placement.domain.per

    @property
    def simds(self) -> int:
        """SIMDs of the domain."""
        return self.placement.domain.simds

    @property
    def wave_slots(self) -> int:
        """Wave slots in the domain."""
        return limits.slots(self.placement)

    @property
    def workgroups(self) -> int:
        """Resident workgroups in the domain."""
        return self.waves // self.placement.group

    @property
    def waves_per_simd(self) -> float:
        """Resident waves per SIMD, on average over the domain."""
        return self.waves / self.simds

    @property
    def percent(self) -> float:
        """Resident waves in % of the wave slots."""
        return 100 * self.waves / self.wave_slots

    @property
    def launchable(self) -> bool:
        """True if at least one workgroup can start."""
        return not self.obstacles

    @property
    def refusal(self) -> str:
        """`compiled for at most 256` if the runtime refuses a launch of this size; else empty.

        Source: HIP, hip_module.cpp, `ihipLaunchKernel_validate`: "larger than launch bounds"."""
        if self.demand.is_compiled_for(self.launch.workgroup_size):
            return ""
        exact = self.demand.least_workgroup == self.demand.most_workgroup
        return f"compiled for {'exactly' if exact else 'at most'} {self.demand.most_workgroup}"

    @property
    def exact(self) -> bool:
        """False if the waves are an upper bound."""
        return not self.at_most_because

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What each resource allows."""
        return limits.limits(self.placement)

    @property
    def filled(self) -> tuple[Resource, ...]:
        """The resources without room for one more workgroup, as allocated: `limiters`, and
        registers that the descriptor's padding uses up."""
        placed, allowed = self.placement, limits.waves_by_resource(self.placement)
        return _without_room(allowed, placed.whole(min(allowed.values())) + placed.together)

    @property
    def headroom(self) -> Headroom:
        """How much more of each resource fits without losing a workgroup."""
        placed, sgprs, used = self.placement, self.placement.target.sgprs, self.placement.used
        waves = self._whole_waves()
        is_shared = sgprs.per_simd and not sgprs.fixed_allocation

        def free(resource: Resource) -> int | None:
            amount = used[resource]
            return None if amount is None or not waves else MOST[resource](placed, waves) - amount

        return Headroom(free("vgpr"), free("sgpr") if is_shared else None, free("lds"))

    @property
    def most_vgprs(self) -> int | None:
        """The most VGPRs per lane that fit without losing a workgroup; None if no workgroup
        fits."""
        waves = self._whole_waves()
        return limits.most_vgprs(self.placement, waves) if waves else None

    def _whole_waves(self) -> int:
        """Waves of the workgroups that the domain has room for; 0 if an amount exceeds what a wave
        or workgroup may have."""
        if self.obstacles and _exceeded(self.placement):
            return 0
        return self.placement.whole(min(limits.waves_by_resource(self.placement).values()))

    @property
    def range(self) -> Range | None:
        """The best and worst workgroup sizes that may be launched; the largest wins ties. None if
        the size is certain, if the waves of a workgroup may be split, or if no size can start."""
        placed, launch, wave = self.placement, self.launch, self.demand.wave_size
        sure = launch.assumption not in ("declared-max", "hardware-max")
        if self.demand.tg_split or (sure and launch.smallest_size is None):
            return None
        if self.obstacles and _excesses(placed):
            return None
        allowed = limits.waves_by_resource(placed)
        waves, barriers = limits.room(allowed), placed.domain.barriers
        most = allowed["lds"] // placed.group if "lds" in allowed else waves
        sizes: dict[int, int] = {}
        for group in range(limits.waves_of(launch.smallest_size or 1, wave), placed.group + 1):
            workgroups = min(waves // group, most, waves if group == 1 else barriers)
            size = min(group * wave, launch.workgroup_size)
            if size <= placed.target.waves.max_workgroup_size:
                sizes[size] = workgroups * group
        if not any(sizes.values()):
            return None
        worst = min(reversed(sizes), key=sizes.__getitem__)
        best = max(reversed(sizes), key=sizes.__getitem__)
        slots = self.wave_slots
        percents = (100 * sizes[worst] / slots, 100 * sizes[best] / slots)
        return Range(*percents, worst_workgroup_size=worst, best_workgroup_size=best)


def next_in_repr(steps: Sequence[Step]) -> list[str]:
    """`next='vgpr <= 96 -> 5'`, the next waves/SIMD; empty without steps."""
    amounts = " and ".join(f"{step.resource} <= {step.at_most}" for step in steps)
    return [f"next='{amounts} -> {steps[0].waves_per_simd:g}'"] if steps else []


def occupancy(target: Target, demand: Demand, launch: Launch) -> Occupancy:
    """The occupancy of `demand` on `target`. Raises `LaunchError` for a workgroup without
    workitems, for negative dynamic LDS, and for a wave size that the target does not have."""
    if launch.workgroup_size < 1 or launch.dynamic_lds_bytes < 0:
        size, dynamic_lds = launch.workgroup_size, launch.dynamic_lds_bytes
        raise LaunchError(say("launch-empty", workitems=size, dynamic_lds=dynamic_lds))
    if target.members:
        return _best_member(target, demand, launch)
    placed = limits.place(target, demand, launch)
    allowed = limits.waves_by_resource(placed)
    waves = placed.whole(min(allowed.values()))
    excesses = _excesses(placed)
    obstacles = _obstacles(placed, allowed, excesses)
    code = placed.unpadded
    by_code = limits.waves_by_resource(code) if demand.is_padded else allowed
    if placed.whole(min(by_code.values())) != waves:
        code, by_code = placed, allowed  # the padding costs waves
    can_step = demand.is_compiled_for(launch.workgroup_size) and not code.demand.is_padded
    return Occupancy(
        target.name,
        placed,
        0 if obstacles else waves,
        obstacles,
        _at_most_because(placed, allowed),
        _without_room(by_code, waves + placed.together),
        next_steps(code, by_code, _exceeded(code) if excesses else set()) if can_step else (),
        allocated(placed),
    )


def _best_member(target: Target, demand: Demand, launch: Launch) -> Occupancy:
    """The occupancy on the best device of a generic target, marked as an upper bound."""
    members = [occupancy(find(name), demand, launch) for name in target.members]
    best = max(members, key=lambda member: member.percent)
    reason = f"{target.name} runs on several targets: this is the best of them, {best.target}"
    return best._replace(target=target.name, at_most_because=(reason, *best.at_most_because))


def _without_room(allowed: Waves, waves: int) -> tuple[Resource, ...]:
    """The resources that have no room for this number of waves."""
    return tuple([name for name, count in allowed.items() if count < waves])


def _obstacles(placed: Placement, allowed: Waves, excesses: Excesses) -> tuple[str, ...]:
    """The reasons, in words, why no workgroup of this launch can start."""
    demand, size, reasons = placed.demand, placed.launch.workgroup_size, []
    if size > (largest := placed.target.waves.max_workgroup_size):
        reasons.append(f"a workgroup has at most {largest} workitems, not {size}")
    if not demand.is_compiled_for(size):
        exact = demand.least_workgroup == demand.most_workgroup
        reasons.append(
            f"the code is compiled for workgroups of {'exactly' if exact else 'at most'} "
            f"{demand.most_workgroup} (its launch bound)"
        )
    reasons += chain.from_iterable(excesses.values())
    if reasons or min(allowed.values()) >= placed.group:
        return tuple(reasons)
    return tuple(
        [
            f"{resource}: room for {waves} of the {placed.group} waves of a workgroup"
            for resource, waves in allowed.items()
            if waves < placed.group
        ]
    )


Excesses = dict[Resource, list[str]]
"""Resource → amounts above the most that one wave or workgroup may have, in words."""


def _excesses(placed: Placement) -> Excesses:
    """All amounts above the hardware's maxima."""
    target, demand = placed.target, placed.demand
    scratch = limits.scratch_per_wave(placed, demand.scratch_bytes_per_lane)
    lds_bytes, kinds = limits.most_lds_of_a_workgroup(placed), target.agprs.addressable
    vgprs = placed.vgpr_file.addressable
    sgprs = target.sgprs.allocatable if target.sgprs.per_simd else 0
    per_wave = target.scratch.bytes_per_wave
    amounts: tuple[tuple[Resource, str, int | None, int], ...] = (
        ("lds", "a workgroup has at most {} bytes of LDS, not {}", placed.lds_bytes, lds_bytes),
        ("vgpr", "a wave has at most {} VGPRs, not {}", demand.vgprs, vgprs),
        ("vgpr", "a wave has at most {} architectural VGPRs, not {}", demand.arch_vgprs, kinds),
        ("vgpr", "a wave has at most {} AGPRs, not {}", demand.agprs, kinds),
        ("sgpr", "a wave has at most {} SGPRs, not {}", demand.sgprs, sgprs),
        ("scratch", "a wave has at most {} bytes of scratch", scratch, per_wave),
    )
    excesses: Excesses = {}
    for resource, text, amount, maximum in amounts:
        if amount is not None and amount > maximum > 0:
            excesses.setdefault(resource, []).append(text.format(maximum, amount))
    return excesses


def _at_most_because(placed: Placement, allowed: Waves) -> tuple[str, ...]:
    """The reasons, in words, why the true number of waves may be lower."""
    target, demand, domain, group = placed.target, placed.demand, placed.domain, placed.group
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
        reasons.append(limits.VGPRS_ARE_DYNAMIC)
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


def allocated(placed: Placement) -> Allocated:
    target, demand = placed.target, placed.demand
    vgprs = limits.allocated_vgprs(placed, demand.vgprs)
    arch_vgprs, agprs = vgprs, None if vgprs is None else 0
    if target.agprs.file == "separate":
        agprs = vgprs  # gfx908 allocates equal numbers of VGPRs and AGPRs
    elif target.agprs.file == "unified":
        arch_vgprs = agprs = None
        if vgprs is not None and demand.accum_offset is not None:
            arch_vgprs = min(vgprs, demand.accum_offset)
            agprs = vgprs - arch_vgprs
    lds_bytes = placed.lds_bytes
    return Allocated(
        vgprs=vgprs,
        arch_vgprs=arch_vgprs,
        agprs=agprs,
        sgprs=limits.allocated_sgprs(placed, demand.sgprs),
        trap_sgprs=limits.trap_sgprs(placed),
        lds_bytes=None if lds_bytes is None else align(lds_bytes, target.lds.granule_bytes),
    )


class Step(NamedTuple):
    """The smallest change of one limiting resource that the next higher occupancy needs."""

    resource: Resource  # which one
    at_most: int
    """The amount to come down to, in the unit of `Limit.used`."""
    change: int
    """`at_most` minus the used amount."""
    waves_per_simd: float
    """Reached if all limiters take their steps."""
    percent: float  # the same in % of the wave slots


class Headroom(NamedTuple):
    """How much more of each resource fits without losing a workgroup; None if not known."""

    vgprs: int | None
    """VGPRs per lane."""
    sgprs: int | None
    """SGPRs per wave."""
    lds_bytes: int | None
    """Bytes of LDS per workgroup."""

    def of(self, resource: Resource) -> int | None:
        """Headroom of one resource in the unit of `Limit.used`; None for slots, barriers and
        scratch, and if it is not known."""
        return {"vgpr": self.vgprs, "sgpr": self.sgprs, "lds": self.lds_bytes}.get(resource)


class Range(NamedTuple):
    """The lowest and highest occupancy over all workgroup sizes that the kernel allows.

    Occupancy in % of the wave slots, sizes in workitems and whole waves."""

    min_percent: float  # lowest, in % of the wave slots
    max_percent: float  # highest, in % of the wave slots
    worst_workgroup_size: int  # size of the lowest, in workitems
    best_workgroup_size: int  # size of the highest, in workitems


def next_steps(placed: Placement, allowed: Waves, exceeded: set[Resource]) -> tuple[Step, ...]:
    """One step per limiter, towards one more workgroup or the first one.

    `exceeded` holds the resources whose amount exceeds what a wave or workgroup may have. Empty if
    no smaller use helps: slots and barriers cannot be used less.
    """
    waves = 0 if exceeded else placed.whole(min(allowed.values()))
    next_waves, dynamic_lds = waves + placed.together, placed.launch.dynamic_lds_bytes
    lowered: dict[Resource, int] = {}
    reached = []  # waves that each resource allows once all limiters have come down
    for name, count in allowed.items():
        if count >= next_waves and name not in exceeded:
            reached.append(count)
            continue
        if name not in MOST:
            return ()
        lowered[name] = amount = _most(placed, name, next_waves)
        if amount < (dynamic_lds if name == "lds" else name in ("vgpr", "sgpr")):
            return ()
        if (allows := limits.USED[name](placed, amount)) is not None:
            reached.append(allows)
    share = placed.whole(min(reached)) / placed.domain.simds
    percent, used = 100 * share / placed.target.waves.slots_per_simd, placed.used
    return tuple(
        [Step(name, to, to - (used[name] or 0), share, percent) for name, to in lowered.items()]
    )


def _most(placed: Placement, resource: Resource, waves: int) -> int:
    """The most of a resource with which `waves` waves fit in the domain and each can start."""
    amount = MOST[resource](placed, waves)
    return min(amount, _addressable(placed)) if resource == "vgpr" else amount


def _addressable(placed: Placement) -> int:
    """The most VGPRs of a wave. VGPRs and AGPRs count separately: fewer of one do not make room for
    more of the other."""
    kinds = (placed.demand.arch_vgprs or 0, placed.demand.agprs or 0)
    both, per_kind = placed.vgpr_file.addressable, placed.target.agprs.addressable
    if max(kinds) > per_kind > 0:
        return min(both, sum(min(kind, per_kind) for kind in kinds))
    return both


def _exceeded(placed: Placement) -> set[Resource]:
    """Resources whose amount exceeds what a wave or workgroup may have."""
    exceeded = set(_excesses(placed))
    fits = (placed.demand.vgprs or 0) <= _addressable(placed)
    return exceeded - {"vgpr"} if fits else exceeded
