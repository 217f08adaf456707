"""What each resource of the hardware allows: one function a resource, one Limit each.

Registers, slots and scratch are counted in waves, LDS and barriers in workgroups. A workgroup is
placed as a whole or not at all, so every count is rounded to whole workgroups in one residency
domain (see `targets.Domain`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from kernelinfo.occupancy.placement import Demand, Launch, Placement, align

Resource = Literal["slots", "vgpr", "sgpr", "lds", "barriers", "scratch"]
RESOURCES: dict[Resource, str] = {
    "slots": "slots",
    "vgpr": "VGPR",
    "sgpr": "SGPR",
    "lds": "LDS",
    "barriers": "barriers",
    "scratch": "scratch",
}
"""As the field writes them."""
REGISTER_BYTES = 4  # of a VGPR in one lane, on every target
_remembered = lru_cache(maxsize=1 << 12)  # kernels differ in few amounts of each resource


class Limit(NamedTuple):
    """What one resource allows: one line of the arithmetic."""

    resource: Resource
    used: int
    """What is asked for: waves per workgroup (slots), registers per lane (VGPR) or wave (SGPR),
    bytes per workgroup (LDS) or lane (scratch), 1 barrier."""
    allocated: int
    """The same rounded up to granules; SGPRs with the trap handler's, scratch in bytes per wave."""
    available: int
    """Registers per SIMD; slots, barriers, bytes of LDS or waves with scratch per domain."""
    granule: int
    waves: int | None = None
    """Waves that fit in the domain, not yet in whole workgroups; None where nothing is asked."""
    workgroups: int | None = None
    waves_per_simd: float | None = None
    """With whole workgroups."""


@_remembered
def slots(at: Placement) -> Limit:
    """Wave slots: the waves a SIMD can hold whatever they use."""
    available = at.domain.simds * at.target.waves.slots_per_simd
    return _whole(at, "slots", at.group, at.group, available, 1, available)


def allocated_vgprs(at: Placement, asked: int | None) -> int | None:
    """VGPRs a wave is given per lane; every wave gets at least one granule."""
    return None if asked is None else align(max(1, asked), at.vgpr_file.granule)


@_remembered
def vgpr(at: Placement, asked: int | None) -> Limit | None:
    """The vector register file of each SIMD."""
    allocated = allocated_vgprs(at, asked)
    if asked is None or allocated is None:
        return None
    file = at.vgpr_file
    waves = at.domain.simds * (file.per_simd // allocated)
    return _whole(at, "vgpr", asked, allocated, file.per_simd, file.granule, waves)


def most_vgprs(at: Placement, waves: int) -> int:
    """The most VGPRs per lane with which `waves` waves fit in the domain."""
    file = at.vgpr_file
    share = file.per_simd // -(-waves // at.domain.simds)
    return min(file.addressable, share // file.granule * file.granule)


def allocated_sgprs(at: Placement, asked: int | None) -> int | None:
    """SGPRs a wave is given, the trap handler's not counted."""
    sgprs = at.target.sgprs
    if not sgprs.per_simd:
        return sgprs.granule
    if sgprs.fixed_allocation:
        return sgprs.fixed_allocation
    return None if asked is None else align(max(1, asked), sgprs.granule)


def trap_sgprs(at: Placement) -> int:
    """SGPRs that each wave is given on top for the trap handler."""
    return at.target.sgprs.trap_handler if at.launch.trap_handler else 0


@_remembered
def sgpr(at: Placement, asked: int | None) -> Limit | None:
    """The scalar register file of each SIMD; from gfx10 on every wave has its fixed share."""
    sgprs = at.target.sgprs
    wave = allocated_sgprs(at, asked)
    if not sgprs.per_simd or wave is None:
        return None
    allocated = wave + trap_sgprs(at)
    waves = at.domain.simds * (sgprs.per_simd // allocated)
    used = wave if asked is None else asked
    return _whole(at, "sgpr", used, allocated, sgprs.per_simd, sgprs.granule, waves)


def most_sgprs(at: Placement, waves: int) -> int:
    """The most SGPRs per wave with which `waves` waves fit in the domain; 0 where none would do."""
    sgprs = at.target.sgprs
    if sgprs.fixed_allocation:
        return 0
    share = sgprs.per_simd // -(-waves // at.domain.simds)
    share = (share - trap_sgprs(at)) // sgprs.granule * sgprs.granule
    return max(0, min(sgprs.allocatable, share))


def most_lds_of_a_workgroup(at: Placement) -> int:
    """Bytes of LDS beyond which a workgroup cannot start."""
    return min(at.target.lds.bytes_per_workgroup, at.domain.lds_bytes)


def lds_of(demand: Demand, launch: Launch) -> int | None:
    """Bytes of LDS that a workgroup uses, static and dynamic."""
    return None if demand.lds_bytes is None else demand.lds_bytes + launch.dynamic_lds_bytes


@_remembered
def lds(at: Placement, asked: int | None) -> Limit | None:
    """The LDS that the workgroups of one domain share; `asked` is static and dynamic."""
    if asked is None:
        return None
    pool, granule = at.domain.lds_bytes, at.target.lds.granule_bytes
    allocated = align(asked, granule)
    if not allocated:
        return Limit("lds", 0, 0, pool, granule)
    return _whole(at, "lds", asked, allocated, pool, granule, pool // allocated * at.group)


def most_lds(at: Placement, waves: int) -> int:
    """The most bytes of LDS per workgroup with which `waves` waves fit in the domain."""
    workgroups = -(-waves // at.group)
    share = at.domain.lds_bytes // workgroups
    granule = at.target.lds.granule_bytes
    return min(most_lds_of_a_workgroup(at), share // granule * granule)


@_remembered
def barriers(at: Placement) -> Limit | None:
    """Each workgroup of several waves takes a barrier, used or not (PAL gfx9Device.cpp:5622)."""
    if at.group == 1 or at.is_split:
        return None
    available = at.domain.barriers
    return _whole(at, "barriers", 1, 1, available, 1, available * at.group)


def scratch_per_wave(at: Placement, bytes_per_lane: int | None) -> int:
    """Bytes of scratch that one wave is given."""
    return align((bytes_per_lane or 0) * at.wave_size, at.target.scratch.granule_bytes)


@_remembered
def scratch(at: Placement, bytes_per_lane: int | None) -> Limit | None:
    """Waves that get scratch: the runtime's slots, or what the scratch aperture holds."""
    if not bytes_per_lane:
        return None
    waves = at.domain.scratch_waves
    allocated = scratch_per_wave(at, bytes_per_lane)
    if cus := at.target.scratch.cus_per_aperture:
        waves = min(waves, at.target.scratch.aperture_bytes // allocated // cus)
    granule = at.target.scratch.granule_bytes
    return _whole(at, "scratch", bytes_per_lane, allocated, waves, granule, waves)


def most_scratch(at: Placement, waves: int) -> int:
    """The most bytes of scratch per lane with which `waves` waves fit in the domain."""
    cus = at.target.scratch.cus_per_aperture
    if waves > at.domain.scratch_waves or not cus:
        return 0
    granule = at.target.scratch.granule_bytes
    wave = at.target.scratch.aperture_bytes // cus // waves // granule * granule
    return wave // at.wave_size


USED: dict[Resource, Callable[[Placement, int], Limit | None]] = {
    "vgpr": vgpr,
    "sgpr": sgpr,
    "lds": lds,
    "scratch": scratch,
}
"""For each resource a kernel can use less of: its limit at such an amount."""
MOST: dict[Resource, Callable[[Placement, int], int]] = {
    "vgpr": most_vgprs,
    "sgpr": most_sgprs,
    "lds": most_lds,
    "scratch": most_scratch,
}
"""For each resource a kernel can use less of: the most it may use for so many waves."""


def limits(at: Placement, demand: Demand) -> tuple[Limit, ...]:
    """All limits that are known, in a fixed order; what the input does not say has none."""
    found = (
        slots(at),
        vgpr(at, demand.vgprs),
        sgpr(at, demand.sgprs),
        lds(at, lds_of(demand, at.launch)),
        barriers(at),
        scratch(at, demand.scratch_bytes_per_lane),
    )
    return tuple([limit for limit in found if limit is not None])


def rounded(at: Placement, demand: Demand) -> Demand:
    """The demand in whole granules, which allows what the demand itself does."""
    lds_bytes, scratch = lds_of(demand, at.launch), demand.scratch_bytes_per_lane
    if lds_bytes is not None:
        lds_bytes = align(lds_bytes, at.target.lds.granule_bytes) - at.launch.dynamic_lds_bytes
    return Demand(
        demand.wave_size,
        allocated_vgprs(at, demand.vgprs),
        None if demand.sgprs is None else allocated_sgprs(at, demand.sgprs),
        lds_bytes,
        scratch and scratch_per_wave(at, scratch) // at.wave_size,
        demand.accum_offset,
        demand.wgp_mode,
        demand.tg_split,
        demand.at_least,
        demand.dynamic_vgpr_block,
        least_workgroup=demand.least_workgroup,
        most_workgroup=demand.most_workgroup,
    )


def fitting(at: Placement, bounds: Iterable[Limit]) -> int:
    """Waves in the domain that all limits allow, in whole workgroups unless these may be split."""
    return at.whole(min([bound.waves for bound in bounds if bound.waves is not None]))


def room(bounds: tuple[Limit, ...]) -> int:
    """Waves in the domain for which registers, slots and scratch have room."""
    by_wave = [b.waves for b in bounds if b.resource not in ("lds", "barriers")]
    return min([waves for waves in by_wave if waves is not None])


def binding(bounds: tuple[Limit, ...]) -> list[Limit]:
    """Those that allow the fewest waves."""
    least = min([b.waves_per_simd for b in bounds if b.waves_per_simd is not None])
    return [bound for bound in bounds if bound.waves_per_simd == least]


def _whole(
    at: Placement,
    resource: Resource,
    used: int,
    allocated: int,
    available: int,
    granule: int,
    waves: int,
) -> Limit:
    """A limit of `waves` waves, in whole workgroups unless those may be split over CUs."""
    per_simd = at.whole(waves) / at.domain.simds
    workgroups = waves // at.group
    return Limit(resource, used, allocated, available, granule, waves, workgroups, per_simd)
