"""A kernel's demand and placement, and the waves that each hardware resource allows it.

Registers, slots and scratch limit waves; LDS and barriers limit workgroups. A workgroup starts as a
whole, so that the occupancy is the least count rounded down to whole workgroups (see
`targets.Domain`).
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.targets import Domain, Target, Vgprs, align, total_vgprs
from kernelinfo.model.messages import say

Assumption = Literal[
    "option", "config", "required", "declared-max", "hardware-max", "graphics-stage"
]


VGPRS_ARE_DYNAMIC = "VGPRs are dynamic: this is how many waves start, before any takes more"


class Demand(NamedTuple):
    """Resources that a kernel asks the hardware for; None if the input does not say."""

    wave_size: int
    """Lanes per wave: 32 or 64."""
    vgprs: int | None
    """Per lane, AGPRs included as the target counts them, padding included."""
    sgprs: int | None
    """Per wave, VCC, flat scratch, XNACK and padding included."""
    lds_bytes: int | None
    """Static LDS per workgroup."""
    scratch_bytes_per_lane: int | None
    accum_offset: int | None = None
    """First AGPR in a unified file."""
    wgp_mode: bool | None = None
    tg_split: bool = False
    at_least: tuple[str, ...] = ()
    """Reasons in words why the kernel may use more than this."""
    dynamic_vgpr_block: int = 0
    """VGPRs per lane in one block of dynamic VGPRs; 0 for static VGPRs."""
    arch_vgprs: int | None = None
    """Architectural VGPRs per lane that the code uses: `vgprs` without AGPRs and padding."""
    agprs: int | None = None
    """AGPRs per lane that the code uses."""
    least_workgroup: int = 1
    """Smallest workgroup that the code is compiled for, in workitems."""
    most_workgroup: int | None = None
    """Largest workgroup, the launch bound, in workitems; None if it is not known."""
    used_vgprs: int | None = None
    """VGPRs per lane that the code uses, if the descriptor is padded to `vgprs`; else None."""
    used_sgprs: int | None = None
    """SGPRs per wave that the code uses, if the descriptor is padded to `sgprs`; else None."""

    @property
    def is_padded(self) -> bool:
        """True if the descriptor asks for more registers than the code uses."""
        return self.used_vgprs is not None or self.used_sgprs is not None

    @property
    def unpadded(self) -> "Demand":
        """The demand of the code alone, without the descriptor's padding."""
        if not self.is_padded:
            return self
        return self._replace(
            vgprs=self.vgprs if self.used_vgprs is None else self.used_vgprs,
            sgprs=self.sgprs if self.used_sgprs is None else self.used_sgprs,
            used_vgprs=None,
            used_sgprs=None,
        )

    def is_compiled_for(self, workgroup_size: int) -> bool:
        """True if the launch bound allows workgroups of `workgroup_size` workitems."""
        largest = self.most_workgroup
        return largest is None or self.least_workgroup <= workgroup_size <= largest

    def with_registers(self, target: Target, arch_vgprs: int, agprs: int) -> "Demand":
        """The demand with these registers per lane on `target`. Raises `LaunchError` for AGPRs on a
        target without them."""
        vgprs, offset = vgprs_and_offset(target, arch_vgprs, agprs)
        return self._replace(
            vgprs=vgprs, accum_offset=offset, arch_vgprs=arch_vgprs, agprs=agprs, used_vgprs=None
        )


def vgprs_and_offset(target: Target, arch_vgprs: int, agprs: int) -> tuple[int, int | None]:
    """VGPRs per lane, AGPRs included, and the first AGPR if the file is unified. Raises
    `LaunchError` for AGPRs on a target without them."""
    if agprs and target.agprs.file == "none":
        raise LaunchError(say("launch-agprs", target=target.name, agprs=agprs))
    offset = None
    if target.agprs.file == "unified":
        offset = align(max(1, arch_vgprs), target.agprs.offset_granule)
    return total_vgprs(target, arch_vgprs, agprs), offset


class Launch(NamedTuple):
    """The launch of a kernel, and where its workgroup size comes from."""

    workgroup_size: int
    """Workitems."""
    assumption: Assumption = "option"
    dynamic_lds_bytes: int = 0
    trap_handler: bool = True
    """ROCm installs one, and up to gfx9 it costs SGPRs (AMDGPUUsage, "SGPR count")."""
    smallest_size: int | None = None
    """Smallest workgroup in workitems, if any size up to `workgroup_size` may be launched."""


def waves_of(workgroup_size: int, wave_size: int) -> int:
    """Waves of a workgroup of `workgroup_size` workitems."""
    return -(-workgroup_size // wave_size)


class Placement(NamedTuple):
    """A demand under a launch on a target, and the domain and registers that its waves share."""

    target: Target
    demand: Demand
    launch: Launch
    domain: Domain
    vgpr_file: Vgprs
    """The VGPR file for this wave size. With dynamic VGPRs its granule is the block."""
    group: int
    """Waves per workgroup."""
    together: int
    """Waves that start together: a workgroup's, or 1 if they may be on different CUs."""

    @property
    def lds_bytes(self) -> int | None:
        """Static + dynamic LDS per workgroup; None if the static part is not known."""
        return lds_of(self.demand, self.launch)

    @property
    def unpadded(self) -> "Placement":
        """The placement of the code alone, without the descriptor's padding."""
        return self._replace(demand=self.demand.unpadded) if self.demand.is_padded else self

    @property
    def used(self) -> "dict[Resource, int | None]":
        """Amounts of the code, as in `Limit.used`; None if the input does not say."""
        demand = self.demand.unpadded
        return {
            "vgpr": demand.vgprs,
            "sgpr": demand.sgprs,
            "lds": self.lds_bytes,
            "scratch": demand.scratch_bytes_per_lane,
        }

    def whole(self, waves: int) -> int:
        """`waves` rounded down to a multiple of the waves that start together."""
        return waves // self.together * self.together


def place(target: Target, demand: Demand, launch: Launch) -> Placement:
    """The placement. Raises `LaunchError` for a wave size that the target does not have."""
    domain, file = target.domain(demand.wgp_mode), target.vgpr_file(demand.wave_size)
    if (block := demand.dynamic_vgpr_block) and file.most_dynamic_blocks:
        file = file._replace(granule=block, addressable=block * file.most_dynamic_blocks)
    group = waves_of(launch.workgroup_size, demand.wave_size)
    return Placement(target, demand, launch, domain, file, group, 1 if demand.tg_split else group)


Resource = Literal["slots", "vgpr", "sgpr", "lds", "barriers", "scratch"]
RESOURCES: dict[Resource, str] = {
    "slots": "slots",
    "vgpr": "VGPR",
    "sgpr": "SGPR",
    "lds": "LDS",
    "barriers": "barriers",
    "scratch": "scratch",
}
"""Resource → its name in tables and messages."""


class Limit(NamedTuple):
    """One resource: the amount asked for, the amount available, and the waves that this allows."""

    resource: Resource  # which one
    used: int
    """The amount that the code uses: waves per workgroup (slots), registers per lane (VGPR) or wave
    (SGPR), bytes per workgroup (LDS) or lane (scratch), 1 barrier."""
    allocated: int
    """`used` with the descriptor's padding, rounded up to granules; SGPRs with the trap handler's,
    scratch in bytes per wave."""
    available: int
    """Registers per SIMD; slots, barriers, bytes of LDS or waves with scratch per domain."""
    granule: int
    """The unit of allocation, in units of `used`."""
    waves: int | None = None
    """Waves for which `available` has room, not rounded to whole workgroups; None if nothing is
    asked."""
    workgroups: int | None = None  # whole workgroups per domain; None where nothing limits
    waves_per_simd: float | None = None
    """The same in waves per SIMD, rounded down to whole workgroups."""


def slots(placed: Placement) -> int:
    """Wave slots of the domain."""
    return placed.domain.simds * placed.target.waves.slots_per_simd


def allocated_vgprs(placed: Placement, amount: int | None) -> int | None:
    """Allocated VGPRs per lane, at least one granule; None if `amount` is None."""
    return None if amount is None else align(max(1, amount), placed.vgpr_file.granule)


def vgpr(placed: Placement, amount: int | None) -> int | None:
    """The waves in the domain that the VGPR files have room for; None if `amount` is None."""
    allocated = allocated_vgprs(placed, amount)
    return allocated and placed.domain.simds * (placed.vgpr_file.per_simd // allocated)


def most_vgprs(placed: Placement, waves: int) -> int:
    """The most VGPRs per lane with which `waves` waves fit in the domain."""
    file = placed.vgpr_file
    share = file.per_simd // -(-waves // placed.domain.simds)
    return min(file.addressable, share // file.granule * file.granule)


def allocated_sgprs(placed: Placement, amount: int | None) -> int | None:
    """Allocated SGPRs per wave, without the trap handler's; None if they depend on `amount` and it
    is None."""
    sgprs = placed.target.sgprs
    if not sgprs.per_simd:
        return sgprs.granule
    if sgprs.fixed_allocation:
        return sgprs.fixed_allocation
    return None if amount is None else align(max(1, amount), sgprs.granule)


def trap_sgprs(placed: Placement) -> int:
    """The extra SGPRs per wave that the trap handler takes; 0 without one."""
    return placed.target.sgprs.trap_handler if placed.launch.trap_handler else 0


def sgpr(placed: Placement, amount: int | None) -> int | None:
    """The waves in the domain that the SGPR files have room for. None if `amount` is unknown, and
    from gfx10 on, where every wave has a fixed share."""
    per_simd, allocated = placed.target.sgprs.per_simd, allocated_sgprs(placed, amount)
    if not per_simd or allocated is None:
        return None
    return placed.domain.simds * (per_simd // (allocated + trap_sgprs(placed)))


def most_sgprs(placed: Placement, waves: int) -> int:
    """The most SGPRs per wave with which `waves` waves fit in the domain.

    0 if no amount does, or if every wave has a fixed allocation."""
    sgprs = placed.target.sgprs
    if sgprs.fixed_allocation:
        return 0
    share = sgprs.per_simd // -(-waves // placed.domain.simds)
    share = (share - trap_sgprs(placed)) // sgprs.granule * sgprs.granule
    return max(0, min(sgprs.allocatable, share))


def most_lds_of_a_workgroup(placed: Placement) -> int:
    """The most bytes of LDS with which a workgroup can start."""
    return min(placed.target.lds.bytes_per_workgroup, placed.domain.lds_bytes)


def lds_of(demand: Demand, launch: Launch) -> int | None:
    """Static + dynamic LDS per workgroup in bytes; None if the static part is not known."""
    return None if demand.lds_bytes is None else demand.lds_bytes + launch.dynamic_lds_bytes


def lds(placed: Placement, amount: int | None) -> int | None:
    """The waves of as many workgroups as the domain's LDS has room for.

    `amount` is static + dynamic LDS per workgroup in bytes. None if it is 0 or not known.
    """
    allocated = amount and align(amount, placed.target.lds.granule_bytes)
    return placed.domain.lds_bytes // allocated * placed.group if allocated else None


def most_lds(placed: Placement, waves: int) -> int:
    """The most bytes of LDS per workgroup with which `waves` waves fit in the domain."""
    workgroups = -(-waves // placed.group)
    share = placed.domain.lds_bytes // workgroups
    granule = placed.target.lds.granule_bytes
    return min(most_lds_of_a_workgroup(placed), share // granule * granule)


def barriers(placed: Placement) -> int | None:
    """The waves of as many workgroups as the domain has barriers for.

    None for workgroups of one wave and for split ones, which take no barrier. Any other workgroup
    takes one, used or not (PAL gfx9Device.cpp:5622).
    """
    return None if placed.together == 1 else placed.domain.barriers * placed.group


def scratch_per_wave(placed: Placement, bytes_per_lane: int | None) -> int:
    """Allocated scratch per wave, in bytes."""
    size = (bytes_per_lane or 0) * placed.demand.wave_size
    return align(size, placed.target.scratch.granule_bytes)


def scratch(placed: Placement, bytes_per_lane: int | None) -> int | None:
    """The waves in the domain that scratch allows: the lesser of the runtime's scratch slots and
    the waves that fit in the scratch aperture. None if `bytes_per_lane` is 0 or not known."""
    if not bytes_per_lane:
        return None
    waves, hardware = placed.domain.scratch_waves, placed.target.scratch
    if not hardware.cus_per_aperture:
        return waves
    allocated = scratch_per_wave(placed, bytes_per_lane)
    return min(waves, hardware.aperture_bytes // allocated // hardware.cus_per_aperture)


def most_scratch(placed: Placement, waves: int) -> int:
    """The most bytes of scratch per lane with which `waves` waves fit in the domain."""
    cus = placed.target.scratch.cus_per_aperture
    if waves > placed.domain.scratch_waves or not cus:
        return 0
    granule = placed.target.scratch.granule_bytes
    wave = placed.target.scratch.aperture_bytes // cus // waves // granule * granule
    return min(wave, placed.target.scratch.bytes_per_wave) // placed.demand.wave_size


USED: dict[Resource, Callable[[Placement, int], int | None]] = {
    "vgpr": vgpr,
    "sgpr": sgpr,
    "lds": lds,
    "scratch": scratch,
}
"""Resource → function from the amount used to the waves allowed; only reducible resources."""
MOST: dict[Resource, Callable[[Placement, int], int]] = {
    "vgpr": most_vgprs,
    "sgpr": most_sgprs,
    "lds": most_lds,
    "scratch": most_scratch,
}
"""Resource → function from a number of waves to the largest amount with which they fit; only
reducible resources."""

Waves = dict[Resource, int]
"""Resource → waves that it allows in the domain, not rounded to whole workgroups."""


def waves_by_resource(placed: Placement) -> Waves:
    """Waves that each resource allows, in a fixed order. Omits unused and unknown resources."""
    demand = placed.demand
    counts: dict[Resource, int | None] = {
        "slots": slots(placed),
        "vgpr": vgpr(placed, demand.vgprs),
        "sgpr": sgpr(placed, demand.sgprs),
        "lds": lds(placed, placed.lds_bytes),
        "barriers": barriers(placed),
        "scratch": scratch(placed, demand.scratch_bytes_per_lane),
    }
    return {resource: waves for resource, waves in counts.items() if waves is not None}


def room(allowed: Waves) -> int:
    """The waves in the domain that registers, slots and scratch have room for."""
    return min([waves for name, waves in allowed.items() if name not in ("lds", "barriers")])


def limits(placed: Placement) -> tuple[Limit, ...]:
    """All known limits, in a fixed order. Omits resources that the input does not state and, except
    for LDS, those that do not limit the waves at all."""
    target, demand, allowed = placed.target, placed.demand, waves_by_resource(placed)
    file, sgprs, granule = placed.vgpr_file, target.sgprs, target.lds.granule_bytes
    code, wave = placed.used, allocated_sgprs(placed, demand.sgprs) or 0
    lds_bytes, lanes = code["lds"], code["scratch"]
    per_lane = scratch_per_wave(placed, lanes)
    amounts: dict[Resource, tuple[int | None, int | None, int, int]] = {
        "slots": (placed.group, placed.group, slots(placed), 1),
        "vgpr": (code["vgpr"], allocated_vgprs(placed, demand.vgprs), file.per_simd, file.granule),
        "sgpr": (
            *(wave if code["sgpr"] is None else code["sgpr"], wave + trap_sgprs(placed)),
            *(sgprs.per_simd, sgprs.granule),
        ),
        "lds": (lds_bytes, align(lds_bytes or 0, granule), placed.domain.lds_bytes, granule),
        "barriers": (1, 1, placed.domain.barriers, 1),
        "scratch": (lanes, per_lane, allowed.get("scratch", 0), target.scratch.granule_bytes),
    }
    stated = []
    for resource, (used, allocated, available, unit) in amounts.items():
        waves = allowed.get(resource)
        if used is None or allocated is None or (waves is None and resource != "lds"):
            continue
        whole = None if waves is None else placed.whole(waves) / placed.domain.simds
        groups = None if waves is None else waves // placed.group
        stated.append(Limit(resource, used, allocated, available, unit, waves, groups, whole))
    return tuple(stated)
