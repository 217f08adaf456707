"""What each resource of the hardware allows: one function a resource, one Limit each.

Registers, slots and scratch are counted in waves, LDS and barriers in workgroups. A workgroup is
placed as a whole or not at all, so every count is rounded to whole workgroups in one residency
domain (see `targets.Domain`).
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from kernelinfo.targets import Target, Vgprs

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
REGISTER_BYTES = 4
"""Of a VGPR in one lane, on every target."""
Assumption = Literal["option", "config", "required", "declared-max", "hardware-max"]


class Demand(NamedTuple):
    """What a kernel asks of the hardware; None where the input does not say."""

    wave_size: int
    """Lanes: 32 or 64."""
    vgprs: int | None
    """Per lane, AGPRs included as the target counts them."""
    sgprs: int | None
    """Per wave, VCC, flat scratch and XNACK included."""
    lds_bytes: int | None
    """Static LDS per workgroup."""
    scratch_bytes_per_lane: int | None
    accum_offset: int | None = None
    """First AGPR in a unified file."""
    wgp_mode: bool | None = None
    tg_split: bool = False
    at_least: tuple[str, ...] = ()
    """Why the kernel may ask for more than this, in words."""
    dynamic_vgpr_block: int = 0
    """VGPRs per lane that a wave takes at a time while it runs; 0 where it keeps what it has."""


class Launch(NamedTuple):
    """How a kernel is started, and how that is known."""

    workgroup_size: int
    """Workitems."""
    assumption: Assumption = "option"
    dynamic_lds_bytes: int = 0
    trap_handler: bool = True
    """ROCm installs one, and up to gfx9 it costs SGPRs (AMDGPUUsage, "SGPR count")."""
    smallest_size: int | None = None
    """Workitems of the smallest workgroup, where any size up to `workgroup_size` may come."""


class Limit(NamedTuple):
    """What one resource allows: the working behind the verdict."""

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


def align(count: int, granule: int) -> int:
    """`count` rounded up to a multiple of `granule`."""
    return -(-count // granule) * granule


def waves_of(workgroup_size: int, wave_size: int) -> int:
    """Waves that a workgroup of so many workitems takes."""
    return -(-workgroup_size // wave_size)


def slots(target: Target, demand: Demand, launch: Launch) -> Limit:
    """Wave slots: the waves a SIMD can hold whatever they ask for."""
    group = waves_of(launch.workgroup_size, demand.wave_size)
    available = target.domain(demand.wgp_mode).simds * target.waves.slots_per_simd
    return _whole("slots", group, group, available, 1, available, target, demand, launch)


def vgpr_file(target: Target, demand: Demand) -> Vgprs:
    """The register file as these waves see it: where VGPRs are dynamic, they come in blocks."""
    file, block = target.vgpr_file(demand.wave_size), demand.dynamic_vgpr_block
    if not block:
        return file
    return file._replace(granule=block, addressable=block * file.most_dynamic_blocks)


def allocated_vgprs(target: Target, demand: Demand) -> int | None:
    """VGPRs a wave is given per lane; every wave gets at least one granule."""
    if demand.vgprs is None:
        return None
    return align(max(1, demand.vgprs), vgpr_file(target, demand).granule)


def vgpr(target: Target, demand: Demand, launch: Launch) -> Limit | None:
    """The vector register file of each SIMD."""
    allocated = allocated_vgprs(target, demand)
    if demand.vgprs is None or allocated is None:
        return None
    file = vgpr_file(target, demand)
    waves = target.domain(demand.wgp_mode).simds * (file.per_simd // allocated)
    shape = (demand.vgprs, allocated, file.per_simd, file.granule)
    return _whole("vgpr", *shape, waves, target, demand, launch)


def most_vgprs(target: Target, demand: Demand, launch: Launch, waves: int) -> int:
    """The most VGPRs per lane with which `waves` waves fit in the domain."""
    file = vgpr_file(target, demand)
    share = file.per_simd // -(-waves // target.domain(demand.wgp_mode).simds)
    return min(file.addressable, share // file.granule * file.granule)


def allocated_sgprs(target: Target, demand: Demand) -> int | None:
    """SGPRs a wave is given, the trap handler's not counted."""
    if not target.sgprs.per_simd:
        return target.sgprs.granule
    if target.sgprs.fixed_allocation:
        return target.sgprs.fixed_allocation
    return None if demand.sgprs is None else align(max(1, demand.sgprs), target.sgprs.granule)


def trap_sgprs(target: Target, launch: Launch) -> int:
    """SGPRs that each wave is given on top for the trap handler."""
    return target.sgprs.trap_handler if launch.trap_handler else 0


def sgpr(target: Target, demand: Demand, launch: Launch) -> Limit | None:
    """The scalar register file of each SIMD; from gfx10 on every wave has its fixed share."""
    sgprs = target.sgprs
    wave = allocated_sgprs(target, demand)
    if not sgprs.per_simd or wave is None:
        return None
    allocated = wave + trap_sgprs(target, launch)
    waves = target.domain(demand.wgp_mode).simds * (sgprs.per_simd // allocated)
    asked = wave if demand.sgprs is None else demand.sgprs
    shape = (asked, allocated, sgprs.per_simd, sgprs.granule)
    return _whole("sgpr", *shape, waves, target, demand, launch)


def most_sgprs(target: Target, demand: Demand, launch: Launch, waves: int) -> int:
    """The most SGPRs per wave with which `waves` waves fit in the domain; 0 where none would do."""
    sgprs = target.sgprs
    if sgprs.fixed_allocation:
        return 0
    share = sgprs.per_simd // -(-waves // target.domain(demand.wgp_mode).simds)
    share = (share - trap_sgprs(target, launch)) // sgprs.granule * sgprs.granule
    return max(0, min(sgprs.allocatable, share))


def most_lds_of_a_workgroup(target: Target, demand: Demand) -> int:
    """Bytes of LDS beyond which a workgroup cannot start."""
    return min(target.lds.bytes_per_workgroup, target.domain(demand.wgp_mode).lds_bytes)


def lds_of(demand: Demand, launch: Launch) -> int | None:
    """Bytes of LDS that a workgroup asks for, static and dynamic."""
    return None if demand.lds_bytes is None else demand.lds_bytes + launch.dynamic_lds_bytes


def lds(target: Target, demand: Demand, launch: Launch) -> Limit | None:
    """The LDS that the workgroups of one domain share."""
    asked = lds_of(demand, launch)
    if asked is None:
        return None
    pool, granule = target.domain(demand.wgp_mode).lds_bytes, target.lds.granule_bytes
    allocated = align(asked, granule)
    if not allocated:
        return Limit("lds", 0, 0, pool, granule)
    waves = pool // allocated * waves_of(launch.workgroup_size, demand.wave_size)
    return _whole("lds", asked, allocated, pool, granule, waves, target, demand, launch)


def most_lds(target: Target, demand: Demand, launch: Launch, waves: int) -> int:
    """The most bytes of LDS per workgroup with which `waves` waves fit in the domain."""
    workgroups = -(-waves // waves_of(launch.workgroup_size, demand.wave_size))
    share = target.domain(demand.wgp_mode).lds_bytes // workgroups
    granule = target.lds.granule_bytes
    return min(most_lds_of_a_workgroup(target, demand), share // granule * granule)


def barriers(target: Target, demand: Demand, launch: Launch) -> Limit | None:
    """Each workgroup of several waves takes a barrier, used or not (PAL gfx9Device.cpp:5622)."""
    group = waves_of(launch.workgroup_size, demand.wave_size)
    if group == 1 or demand.tg_split:
        return None
    available = target.domain(demand.wgp_mode).barriers
    return _whole("barriers", 1, 1, available, 1, available * group, target, demand, launch)


def scratch_per_wave(target: Target, demand: Demand) -> int:
    """Bytes of scratch that one wave is given."""
    bytes_per_wave = (demand.scratch_bytes_per_lane or 0) * demand.wave_size
    return align(bytes_per_wave, target.scratch.granule_bytes)


def scratch(target: Target, demand: Demand, launch: Launch) -> Limit | None:
    """Waves that get scratch: the runtime's slots, or what the scratch aperture holds."""
    if not demand.scratch_bytes_per_lane:
        return None
    waves = target.domain(demand.wgp_mode).scratch_waves
    allocated = scratch_per_wave(target, demand)
    if cus := target.scratch.cus_per_aperture:
        waves = min(waves, target.scratch.aperture_bytes // allocated // cus)
    shape = (demand.scratch_bytes_per_lane, allocated, waves, target.scratch.granule_bytes)
    if waves >= slots(target, demand, launch).available:
        return Limit("scratch", *shape)  # as many as there are wave slots: no limit of its own
    return _whole("scratch", *shape, waves, target, demand, launch)


def most_scratch(target: Target, demand: Demand, launch: Launch, waves: int) -> int:
    """The most bytes of scratch per lane with which `waves` waves fit in the domain."""
    cus = target.scratch.cus_per_aperture
    if waves > target.domain(demand.wgp_mode).scratch_waves or not cus:
        return 0
    granule = target.scratch.granule_bytes
    wave = target.scratch.aperture_bytes // cus // waves // granule * granule
    return wave // demand.wave_size


_LIMITS: tuple[Callable[[Target, Demand, Launch], Limit | None], ...] = (
    slots,
    vgpr,
    sgpr,
    lds,
    barriers,
    scratch,
)

MOST: dict[Resource, Callable[[Target, Demand, Launch, int], int]] = {
    "vgpr": most_vgprs,
    "sgpr": most_sgprs,
    "lds": most_lds,
    "scratch": most_scratch,
}
"""For each resource a kernel can ask less of: the most it may ask for so many waves."""


def limits(target: Target, demand: Demand, launch: Launch) -> tuple[Limit, ...]:
    """All limits that are known, in a fixed order; what the input does not say has none."""
    found = (resource(target, demand, launch) for resource in _LIMITS)
    return tuple(limit for limit in found if limit is not None)


def resident(limit: Limit, demand: Demand, launch: Launch) -> int:
    """Waves in the domain that a limit allows, in whole workgroups where those stay together."""
    assert limit.waves is not None
    assert limit.workgroups is not None
    if demand.tg_split:
        return limit.waves
    return limit.workgroups * waves_of(launch.workgroup_size, demand.wave_size)


def _whole(
    resource: Resource,
    used: int,
    allocated: int,
    available: int,
    granule: int,
    waves: int,
    target: Target,
    demand: Demand,
    launch: Launch,
) -> Limit:
    """A limit of `waves` waves, in whole workgroups unless those may be split over CUs."""
    group = waves_of(launch.workgroup_size, demand.wave_size)
    workgroups = waves // group
    resident = waves if demand.tg_split else workgroups * group
    per_simd = resident / target.domain(demand.wgp_mode).simds
    return Limit(resource, used, allocated, available, granule, waves, workgroups, per_simd)
