"""The occupancy that each version of LLVM prints, `; Occupancy:`, in waves per SIMD (LLVM: EU).

Formulas are from llvm/lib/Target/AMDGPU: `AMDGPUSubtarget.cpp`,
`Utils/AMDGPUBaseInfo.cpp` (IsaInfo), `AMDGPUAsmPrinter.cpp`; "#n" is a pull request of
llvm/llvm-project. Versions are the major ones; 24 is main of September 2026.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kernelinfo.hardware.llvm_registers import (
    least_sgprs,
    least_vgprs,
    waves_by_sgprs,
    waves_by_vgprs,
)
from kernelinfo.hardware.targets import Domain, Target, Vgprs, align, believed
from kernelinfo.model.limits import Demand, waves_of

FIRST, MAIN = 13, 24  # the oldest and the newest version whose formulas are known
DYNAMIC_BLOCKS = (16, 32)
"""Block sizes of dynamic VGPRs on gfx12, in VGPRs per lane (`amdgpu-dynamic-vgpr-block-size`)."""


Interval = tuple[int, int]
"""The least and the greatest value that an attribute of the source allows."""


class Printed(NamedTuple):
    """Five lines of the `; Kernel info:` comment."""

    waves_per_simd: int  # `Occupancy`
    vgprs: int
    """`NumVGPRsForWavesPerEU`, per lane: the used count, raised by the upper bound on waves."""
    sgprs: int
    """`NumSGPRsForWavesPerEU`, per wave: raised likewise."""
    vgpr_blocks: int  # `VGPRBlocks`, as the kernel descriptor encodes it
    sgpr_blocks: int  # `SGPRBlocks`, likewise


def printed(
    target: Target,
    version: int,
    demand: Demand,
    sizes: Interval | None = None,
    waves_per_eu: Interval | None = None,
    trap_handler: bool = True,
) -> Printed:
    """The lines that `version` prints. `demand` has AGPRs in its VGPRs, and static LDS only.

    The others are attributes of the source: `sizes` is `amdgpu-flat-work-group-size` in workitems,
    `waves_per_eu` is `amdgpu-waves-per-eu` with 0 for no upper bound; amdhsa reserves SGPRs for a
    `trap_handler`."""
    llvm_target = target_in_llvm(target, version)
    file = llvm_target.vgpr_file(demand.wave_size)
    top = _most_waves(llvm_target, version, demand, sizes, waves_per_eu)
    vgprs = max(demand.vgprs or 0, 1, least_vgprs(llvm_target, version, demand.wave_size, top))
    # Chips with the initialisation bug print their fixed share (FIXED_NUM_SGPRS_FOR_INIT_BUG).
    sgprs = llvm_target.sgprs.fixed_allocation
    sgprs = sgprs or max(demand.sgprs or 0, 1, least_sgprs(llvm_target, top, trap_handler))
    raised = demand._replace(vgprs=vgprs, sgprs=sgprs)
    encoding = llvm_target.sgprs.encoding_granule
    return Printed(
        waves_per_simd(target, version, raised, sizes_of(sizes, llvm_target), trap_handler),
        vgprs,
        sgprs,
        -(-vgprs // file.encoding_granule) - 1,
        -(-sgprs // encoding) - 1 if encoding else 0,
    )


def waves_per_simd(
    target: Target, version: int, demand: Demand, sizes: Interval, trap_handler: bool = True
) -> int:
    """The `; Occupancy:` line; `demand` has raised registers (GCNSubtarget::computeOccupancy)."""
    llvm_target = target_in_llvm(target, version)
    return min(
        waves_by_workgroup(llvm_target, version, demand, sizes)[1],
        waves_by_vgprs(llvm_target, demand.wave_size, demand.vgprs or 1, demand.dynamic_vgpr_block),
        waves_by_sgprs(llvm_target, version, demand.sgprs or 1, trap_handler),
    )


def sizes_of(sizes: Interval | None, target: Target) -> tuple[int, int]:
    """(smallest, largest) workgroup; all sizes if `sizes` is None or wrong
    (getFlatWorkGroupSizes)."""
    largest = target.waves.max_workgroup_size
    return sizes if sizes and 1 <= sizes[0] <= sizes[1] <= largest else (1, largest)


@lru_cache(maxsize=1 << 9)
def target_in_llvm(target: Target, version: int) -> Target:
    """The target with the constants of this LLVM version, right or wrong."""
    lds = believed(target.lds.believed, "LLVM", version)
    return target._replace(
        members=(),
        # gfx10 and later ignore the field, but LLVM fills it up to version 21 (#154666).
        sgprs=target.sgprs._replace(
            encoding_granule=target.sgprs.encoding_granule or (8 if version < 22 else 0)
        ),
        vgprs=tuple(_file_in_llvm(file, version) for file in target.vgprs),
        # getOccupancyWithWorkGroupSizes rounds since #205637.
        lds=target.lds._replace(**({"granule_bytes": 1} if version < 23 else lds)),
        domains=tuple(
            domain._replace(**believed(domain.believed, "LLVM", version))
            for domain in target.domains
        ),
    )


def _file_in_llvm(file: Vgprs, version: int) -> Vgprs:
    if version < file.early_encoding_before:
        file = file._replace(encoding_granule=file.early_encoding_granule)
    return file._replace(**believed(file.believed, "LLVM", version))


def waves_by_workgroup(
    llvm_target: Target, version: int, demand: Demand, sizes: Interval
) -> tuple[int, int]:
    """(fewest, most) waves per SIMD that workgroups and LDS allow.

    Up to LLVM 15: waves per CU, for the largest size (getOccupancyWithLocalMemSize). LLVM 16 to 19:
    waves per SIMD (D139468), for the largest size. From LLVM 20 on: for the range of sizes
    (getOccupancyWithWorkGroupSizes, #123748).
    """
    domain, slots = llvm_target.domain(demand.wgp_mode), llvm_target.waves.slots_per_simd
    by_lds = domain.lds_bytes // max(align(demand.lds_bytes or 0, llvm_target.lds.granule_bytes), 1)
    if not by_lds:
        return 1, 1
    if version < 20:
        group = waves_of(sizes[1], demand.wave_size)
        waves = min(_most_workgroups(llvm_target, domain, version, group), by_lds) * group
        waves = min(waves if version < 16 else -(-waves // domain.simds), slots)
        return waves, waves
    small, large = (waves_of(size, demand.wave_size) for size in sizes)
    many = min(_most_workgroups(llvm_target, domain, version, small), by_lds)
    few = min(_most_workgroups(llvm_target, domain, version, large), by_lds)
    least, greatest = _range(domain.simds * slots, (small, many), (large, few))
    fewest, highest = least // domain.simds, -(-greatest // domain.simds)
    return min(max(fewest, 1), slots), min(max(highest, 1), slots)


def _range(slots: int, smallest: tuple[int, int], largest: tuple[int, int]) -> tuple[int, int]:
    """(fewest, most) waves of a domain between two sizes, given as (waves per workgroup,
    workgroups).

    LLVM uses a closed form instead of a search: the result may be a number that no size reaches."""
    (small, many), (large, few) = smallest, largest
    least, greatest = large * few, small * many
    if least >= greatest:
        return greatest, least
    fewer = -(-slots // (few + 1)) * few
    if least > fewer:
        least -= few * min((least - fewer) // few, large - small)
    return least, greatest + many * min((slots - many * small) // many, large - small)


def _most_workgroups(llvm_target: Target, domain: Domain, version: int, group: int) -> int:
    """The most workgroups of `group` waves per domain (IsaInfo::getMaxWorkGroupsPerCU)."""
    # LLVM 13 to 15 assume 40 waves per CU on every target.
    slots = 40 if version < 16 else llvm_target.waves.slots_per_simd * domain.simds
    return slots if group == 1 else min(slots // group, domain.barriers)


def _most_waves(
    llvm_target: Target,
    version: int,
    demand: Demand,
    sizes: Interval | None,
    waves_per_eu: Interval | None,
) -> int:
    """The upper bound on waves per SIMD that registers are raised for (getEffectiveWavesPerEU)."""
    slots = llvm_target.waves.slots_per_simd
    allowed = sizes_of(sizes, llvm_target)
    domain = llvm_target.domain(demand.wgp_mode)
    implied = -(-waves_of(allowed[1], demand.wave_size) // domain.simds)
    if version < 14 and sizes is None:
        implied = 1
    # Since #137807 the default is the waves that LDS and workgroup size allow, not all slots.
    default = slots
    if version > 20:
        default = waves_by_workgroup(llvm_target, version, demand, allowed)[1]
    if waves_per_eu is None:
        return default
    least, greatest = waves_per_eu[0], waves_per_eu[1] or slots
    if min(implied, default) <= least <= min(greatest, default) and 1 <= least <= greatest <= slots:
        return min(greatest, default)
    return default
