"""What a kernel uses, how it is started, and how its waves are placed on a target."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kernelinfo.errors import LaunchError
from kernelinfo.occupancy.targets import Domain, Target, Vgprs

Assumption = Literal[
    "option", "config", "required", "declared-max", "hardware-max", "graphics-stage"
]


VGPRS_ARE_DYNAMIC = "VGPRs are dynamic: this is how many waves start, before any takes more"


class Demand(NamedTuple):
    """What a kernel uses of the hardware; None where the input does not say."""

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
    """Why the kernel may use more than this, in words."""
    dynamic_vgpr_block: int = 0
    """VGPRs per lane that a wave takes at a time while it runs; 0 where it keeps what it has."""
    arch_vgprs: int | None = None
    """Architectural VGPRs per lane that the code uses: `vgprs` without AGPRs and padding."""
    agprs: int | None = None
    """AGPRs per lane that the code uses."""
    least_workgroup: int = 1
    """Workitems of the smallest workgroup that the code is compiled for."""
    most_workgroup: int | None = None
    """Those of the largest: its launch bound; None where that is not known."""

    def is_compiled_for(self, workgroup_size: int) -> bool:
        """Whether the launch bound allows workgroups of so many workitems."""
        most = self.most_workgroup
        return most is None or self.least_workgroup <= workgroup_size <= most

    def with_registers(self, target: Target, arch_vgprs: int, agprs: int) -> Demand:
        """The demand of code that uses these registers per lane on `target`. Raises `LaunchError`
        for AGPRs where there are none."""
        if agprs and target.agprs.file == "none":
            raise LaunchError(f"{target.name} has no AGPRs, not {agprs}")
        offset = None
        if target.agprs.file == "unified":
            offset = align(max(1, arch_vgprs), target.agprs.offset_granule)
        return self._replace(
            vgprs=total_vgprs(target, arch_vgprs, agprs),
            accum_offset=offset,
            arch_vgprs=arch_vgprs,
            agprs=agprs,
        )


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


def align(count: int, granule: int) -> int:
    """`count` rounded up to a multiple of `granule`."""
    return -(-count // granule) * granule


def total_vgprs(target: Target, arch_vgprs: int, agprs: int) -> int:
    """What both kinds cost together, per lane (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs)."""
    if agprs and target.agprs.file == "unified":
        return align(arch_vgprs, target.agprs.offset_granule) + agprs
    return max(arch_vgprs, agprs)


def extra_sgprs(target: Target, *, vcc: bool, flat_scratch: bool, xnack: bool) -> int:
    """SGPRs that a wave has beyond the numbered ones (LLVM IsaInfo::getNumExtraSGPRs)."""
    sgprs = target.sgprs
    extra = sgprs.with_vcc if vcc else 0
    for used, count in ((xnack, sgprs.with_xnack), (flat_scratch, sgprs.with_flat_scratch)):
        # Targets that spend nothing on it state the same count as with VCC alone.
        if used and count > sgprs.with_vcc:
            extra = max(extra, count)
    return extra


def waves_of(workgroup_size: int, wave_size: int) -> int:
    """Waves that a workgroup of so many workitems takes."""
    return -(-workgroup_size // wave_size)


class Placement(NamedTuple):
    """How the waves of one launch are placed on one target, whatever resources they use."""

    target: Target
    launch: Launch
    wave_size: int
    domain: Domain
    group: int
    """Waves of a workgroup."""
    is_split: bool
    """Waves of a workgroup need not be together."""
    vgpr_file: Vgprs
    """As these waves see it: where VGPRs are dynamic, they come in blocks."""

    def whole(self, waves: int) -> int:
        """Of `waves` waves in the domain those in whole workgroups, unless these may be split."""
        return waves if self.is_split else waves // self.group * self.group


def placement(target: Target, demand: Demand, launch: Launch) -> Placement:
    """Raises `TargetsError` for a wave size that the target does not have."""
    domain, file = target.domain(demand.wgp_mode), target.vgpr_file(demand.wave_size)
    if block := demand.dynamic_vgpr_block:
        file = file._replace(granule=block, addressable=block * file.most_dynamic_blocks)
    group = waves_of(launch.workgroup_size, demand.wave_size)
    return Placement(target, launch, demand.wave_size, domain, group, demand.tg_split, file)
