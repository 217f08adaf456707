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


class Attributes(NamedTuple):
    """Function attributes of the source that describe a kernel's launch."""

    sizes: tuple[int, int] | None = None
    """`amdgpu-flat-work-group-size`: workitems of the smallest and the largest workgroup."""
    waves_per_eu: tuple[int, int] | None = None
    """`amdgpu-waves-per-eu`: (at least, at most); 0 for no upper bound."""
    trap_handler: bool = True  # amdhsa targets reserve SGPRs for one


class Printed(NamedTuple):
    """Five lines of the `; Kernel info:` comment."""

    waves_per_simd: int  # `Occupancy`
    vgprs: int
    """`NumVGPRsForWavesPerEU`, per lane: the used count, raised by the upper bound on waves."""
    sgprs: int
    """`NumSGPRsForWavesPerEU`, per wave: raised likewise."""
    vgpr_blocks: int  # `VGPRBlocks`, as the kernel descriptor encodes it
    sgpr_blocks: int  # `SGPRBlocks`, likewise


def printed(target: Target, version: int, demand: Demand, attributes: Attributes) -> Printed:
    """The lines that `version` prints. `demand` has AGPRs in its VGPRs, and static LDS only."""
    known = target_in_llvm(target, version)
    file = known.vgpr_file(demand.wave_size)
    top = _most_waves(known, version, demand, attributes)
    trap = attributes.trap_handler
    vgprs = max(demand.vgprs or 0, 1, least_vgprs(known, version, demand.wave_size, top))
    # Chips with the initialisation bug print their fixed share (FIXED_NUM_SGPRS_FOR_INIT_BUG).
    sgprs = known.sgprs.fixed_allocation or max(demand.sgprs or 0, 1, least_sgprs(known, top, trap))
    raised = demand._replace(vgprs=vgprs, sgprs=sgprs)
    encoding = known.sgprs.encoding_granule
    return Printed(
        waves_per_simd(target, version, raised, sizes_of(attributes.sizes, known), trap),
        vgprs,
        sgprs,
        -(-vgprs // file.encoding_granule) - 1,
        -(-sgprs // encoding) - 1 if encoding else 0,
    )


def waves_per_simd(
    target: Target, version: int, demand: Demand, sizes: tuple[int, int], trap_handler: bool = True
) -> int:
    """The `; Occupancy:` line; `demand` has raised registers (GCNSubtarget::computeOccupancy)."""
    known = target_in_llvm(target, version)
    return min(
        waves_by_workgroup(known, version, demand, sizes)[1],
        waves_by_vgprs(known, demand.wave_size, demand.vgprs or 1, demand.dynamic_vgpr_block),
        waves_by_sgprs(known, version, demand.sgprs or 1, trap_handler),
    )


def sizes_of(sizes: tuple[int, int] | None, target: Target) -> tuple[int, int]:
    """(smallest, largest) workgroup; all sizes if `sizes` is None or wrong
    (getFlatWorkGroupSizes)."""
    most = target.waves.max_workgroup_size
    return sizes if sizes and 1 <= sizes[0] <= sizes[1] <= most else (1, most)


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
    known: Target, version: int, demand: Demand, sizes: tuple[int, int]
) -> tuple[int, int]:
    """(fewest, most) waves per SIMD that workgroups and LDS allow.

    Up to LLVM 15: waves per CU, for the largest size (getOccupancyWithLocalMemSize). LLVM 16 to 19:
    waves per SIMD (D139468), for the largest size. From LLVM 20 on: for the range of sizes
    (getOccupancyWithWorkGroupSizes, #123748).
    """
    domain, most = known.domain(demand.wgp_mode), known.waves.slots_per_simd
    by_lds = domain.lds_bytes // max(align(demand.lds_bytes or 0, known.lds.granule_bytes), 1)
    if not by_lds:
        return 1, 1
    if version < 20:
        group = waves_of(sizes[1], demand.wave_size)
        waves = min(_most_workgroups(known, domain, version, group), by_lds) * group
        waves = min(waves if version < 16 else -(-waves // domain.simds), most)
        return waves, waves
    small, large = (waves_of(size, demand.wave_size) for size in sizes)
    many = min(_most_workgroups(known, domain, version, small), by_lds)
    few = min(_most_workgroups(known, domain, version, large), by_lds)
    least, greatest = _range(domain.simds * most, (small, many), (large, few))
    fewest, highest = least // domain.simds, -(-greatest // domain.simds)
    return min(max(fewest, 1), most), min(max(highest, 1), most)


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


def _most_workgroups(known: Target, domain: Domain, version: int, group: int) -> int:
    """The most workgroups of `group` waves per domain (IsaInfo::getMaxWorkGroupsPerCU)."""
    # LLVM 13 to 15 assume 40 waves per CU on every target.
    slots = 40 if version < 16 else known.waves.slots_per_simd * domain.simds
    return slots if group == 1 else min(slots // group, domain.barriers)


def _most_waves(known: Target, version: int, demand: Demand, attributes: Attributes) -> int:
    """The upper bound on waves per SIMD that registers are raised for (getEffectiveWavesPerEU)."""
    most = known.waves.slots_per_simd
    sizes = sizes_of(attributes.sizes, known)
    domain = known.domain(demand.wgp_mode)
    implied = -(-waves_of(sizes[1], demand.wave_size) // domain.simds)
    if version < 14 and attributes.sizes is None:
        implied = 1
    # Since #137807 the default is the waves that LDS and workgroup size allow, not all slots.
    default = waves_by_workgroup(known, version, demand, sizes)[1] if version > 20 else most
    if attributes.waves_per_eu is None:
        return default
    least, greatest = attributes.waves_per_eu[0], attributes.waves_per_eu[1] or most
    if min(implied, default) <= least <= min(greatest, default) and 1 <= least <= greatest <= most:
        return min(greatest, default)
    return default
