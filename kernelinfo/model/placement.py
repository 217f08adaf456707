"""A kernel's demand, its launch, and the placement of its waves on a target."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kernelinfo.errors import LaunchError
from kernelinfo.hardware.targets import Domain, Target, Vgprs, align, total_vgprs

Assumption = Literal[
    "option", "config", "required", "declared-max", "hardware-max", "graphics-stage"
]


VGPRS_ARE_DYNAMIC = "VGPRs are dynamic: this is how many waves start, before any takes more"


class Demand(NamedTuple):
    """Resources that a kernel asks the hardware for; None if the input does not say."""

    wave_size: int
    """Lanes per wave: 32 or 64."""
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

    def is_compiled_for(self, workgroup_size: int) -> bool:
        """True if the launch bound allows workgroups of `workgroup_size` workitems."""
        most = self.most_workgroup
        return most is None or self.least_workgroup <= workgroup_size <= most

    def with_registers(self, target: Target, arch_vgprs: int, agprs: int) -> Demand:
        """The demand with these registers per lane on `target`. Raises `LaunchError` for AGPRs on a
        target without them."""
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
    """The launch of a kernel, and the source of its workgroup size."""

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
    """The placement of one launch's waves on one target, independent of their resources."""

    target: Target
    launch: Launch
    wave_size: int
    domain: Domain
    group: int
    """Waves per workgroup."""
    is_split: bool
    """True if the waves of a workgroup may be on different CUs."""
    vgpr_file: Vgprs
    """The VGPR file for this wave size. With dynamic VGPRs its granule is the block."""

    def whole(self, waves: int) -> int:
        """`waves` rounded down to whole workgroups, unless workgroups may be split."""
        return waves if self.is_split else waves // self.group * self.group


def placement(target: Target, demand: Demand, launch: Launch) -> Placement:
    """The placement. Raises `TargetsError` for a wave size that the target does not have."""
    domain, file = target.domain(demand.wgp_mode), target.vgpr_file(demand.wave_size)
    if block := demand.dynamic_vgpr_block:
        file = file._replace(granule=block, addressable=block * file.most_dynamic_blocks)
    group = waves_of(launch.workgroup_size, demand.wave_size)
    return Placement(target, launch, demand.wave_size, domain, group, demand.tg_split, file)
