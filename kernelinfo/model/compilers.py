"""Occupancy as compilers and HIP count it, in waves per SIMD (LLVM: EU).

Formulas of LLVM are from llvm/lib/Target/AMDGPU: `AMDGPUSubtarget.cpp`,
`Utils/AMDGPUBaseInfo.cpp` (IsaInfo), `AMDGPUAsmPrinter.cpp`; "#n" is a pull request of
llvm/llvm-project. Versions are the major ones; 24 is main of September 2026.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from kernelinfo.hardware import llvm_registers
from kernelinfo.hardware.targets import Domain, Target, Vgprs, align, believed
from kernelinfo.model import limits
from kernelinfo.model.limits import Demand, Launch, Resource, Waves, lds_of, waves_of

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

    The other arguments are attributes of the source: `sizes` is `amdgpu-flat-work-group-size` in
    workitems, `waves_per_eu` is `amdgpu-waves-per-eu` with 0 for no upper bound; amdhsa reserves
    SGPRs for a `trap_handler`.
    """
    llvm_target = target_in_llvm(target, version)
    file = llvm_target.vgpr_file(demand.wave_size)
    top = _most_waves(llvm_target, version, demand, sizes, waves_per_eu)
    vgprs = max(
        demand.vgprs or 0,
        1,
        llvm_registers.least_vgprs(llvm_target, version, demand.wave_size, top),
    )
    # Chips with the initialisation bug print their fixed share (FIXED_NUM_SGPRS_FOR_INIT_BUG).
    sgprs = llvm_target.sgprs.fixed_allocation
    sgprs = sgprs or max(
        demand.sgprs or 0, 1, llvm_registers.least_sgprs(llvm_target, top, trap_handler)
    )
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
    """The value of the `; Occupancy:` line. The registers of `demand` are already raised to those
    of the printed waves (GCNSubtarget::computeOccupancy)."""
    llvm_target = target_in_llvm(target, version)
    return min(
        waves_by_workgroup(llvm_target, version, demand, sizes)[1],
        llvm_registers.waves_by_vgprs(
            llvm_target, demand.wave_size, demand.vgprs or 1, demand.dynamic_vgpr_block
        ),
        llvm_registers.waves_by_sgprs(llvm_target, version, demand.sgprs or 1, trap_handler),
    )


def sizes_of(sizes: Interval | None, target: Target) -> tuple[int, int]:
    """(smallest, largest) workgroup; the full range if `sizes` is None or invalid
    (getFlatWorkGroupSizes)."""
    largest = target.waves.max_workgroup_size
    return sizes if sizes and 1 <= sizes[0] <= sizes[1] <= largest else (1, largest)


@lru_cache(maxsize=1 << 9)  # 80,000 instructions: in JSON of 313 kernels 407 calls for 17 targets
def target_in_llvm(target: Target, version: int) -> Target:
    """The target with the constants that this LLVM version uses, right or wrong."""
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
    """(fewest, most) waves of a domain for workgroups between two sizes, each given as (waves per
    workgroup, workgroups).

    LLVM uses a closed form instead of a search, so a result may be a number that no size reaches.
    """
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
    """The most waves per SIMD for which LLVM raises the register counts
    (getEffectiveWavesPerEU)."""
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


# Causes: single steps of the hardware's count become LLVM's. A cause is one step that a version of
# LLVM counts differently from `limits`. The tests check that all causes of a version together give
# its formula, `waves_per_simd`.

CauseName = str  # a key of `CAUSES`
CAUSES: dict[CauseName, str] = {
    "unlaunchable": "does not check that a workgroup can start",
    "required-size": "takes the launch bound's largest workgroup, not the size that is required",
    "best-size": "takes the best workgroup size that the kernel allows",
    "declared-size": "takes the largest workgroup that the kernel allows",
    "static-lds": "does not know the LDS of the launch",
    "generic-target": "takes the generic target for a device of its own",
    "vgpr-file": "takes another size for the VGPR file",
    "no-trap-sgprs": "leaves the trap handler's SGPRs out",
    "trap-sgprs": "counts SGPRs for a trap handler",
    "sgpr-table": "has a table that knows neither the SGPRs' granule nor the trap handler",
    "asked-sgprs": "counts the SGPRs asked for, not the share that this chip gives every wave",
    "lds-pool": "counts only the LDS that one workgroup may have",
    "lds-granule": "does not round LDS to what the hardware allocates",
    "barriers": "allows fewer workgroups of several waves",
    "scratch-slots": "does not count which waves get scratch",
    "tg-split": "keeps the waves of a workgroup together",
    "whole-workgroups": "does not round registers to whole workgroups",
    "rounded-up": "rounds up to whole waves per SIMD",
    "waves-per-cu": "counts waves per CU, not per SIMD, where LDS or workgroups limit",
    "closed-form": "estimates the best workgroup size by a formula",
    "vgpr-blocks": "counts dynamic VGPRs in blocks of a size that the file does not state",
    "other-version": "counts as a version that the file does not name",
}
"""Cause → what the compiler does, in words. Among equally good causes the first is named."""


_REGISTERS: tuple[Resource, ...] = ("vgpr", "sgpr")
_BY_WAVE: tuple[Resource, ...] = ("slots", "scratch")


class Case(NamedTuple):
    """A kernel's demand under one launch, and the version of LLVM to compare with."""

    targets: tuple[Target, ...]  # the target, or the members of a generic one
    target: Target
    demand: Demand
    launch: Launch
    sizes: tuple[int, int]  # (smallest, largest) workgroup that the source allows, in workitems
    version: int


@lru_cache(maxsize=1 << 12)  # a library's kernels share their cases
def fewest(case: Case, printed: int, unlaunchable: bool) -> tuple[CauseName, ...] | None:
    """The smallest set of causes that gives the compiler's number `printed`, in waves/SIMD.

    Among sets of equal size, the first in the order of `CAUSES`. None if even all causes do not
    give the number."""
    always: tuple[CauseName, ...] = ("unlaunchable",) if unlaunchable else ()
    names = [name for name in CAUSES if _concerns(name, case)]
    if waves_by_causes(case, {*always, *names}) != printed:
        return None
    for count in range(len(names) + 1):
        for chosen in combinations(names, count):
            if waves_by_causes(case, {*always, *chosen}) == printed:
                return always + chosen
    return None


def _concerns(name: CauseName, case: Case) -> bool:
    """True if a cause can change the count in this case. False for causes that callers add."""
    match name:
        case "unlaunchable" | "vgpr-blocks" | "other-version":
            return False
        case "best-size" | "closed-form":
            return case.version >= 20
        case "waves-per-cu":
            return case.version < 16
        case "sgpr-table":
            return case.version < 23 and case.target.sgprs.per_simd > 0
        case "whole-workgroups" | "rounded-up":
            return True
        case _:
            return _facts(_changed(name, case)) != _facts(case)


def _facts(case: Case) -> tuple[object, ...]:
    targets = [(t.name, t.vgprs, t.sgprs, t.lds, t.domains) for t in case.targets]
    return case.demand, case.launch, targets


def _changed(name: CauseName, case: Case) -> Case:
    """The case with the compiler's value of one fact of hardware or launch, selected by `name`."""
    demand, launch, version = case.demand, case.launch, case.version
    match name:
        case "required-size" if launch.assumption == "required":
            return case._replace(launch=launch._replace(workgroup_size=case.sizes[1]))
        case "declared-size" if launch.assumption != "required":
            return case._replace(launch=launch._replace(workgroup_size=case.sizes[1]))
        case "static-lds":
            return case._replace(launch=launch._replace(dynamic_lds_bytes=0))
        case "no-trap-sgprs" if version < 23:
            return case._replace(launch=launch._replace(trap_handler=False))
        case "trap-sgprs" if version >= 23:
            return case._replace(launch=launch._replace(trap_handler=True))
        case "asked-sgprs" if version >= 23:
            targets = tuple(
                target._replace(sgprs=target.sgprs._replace(fixed_allocation=0))
                for target in case.targets
            )
            return case._replace(targets=targets)
        case "scratch-slots":
            return case._replace(demand=demand._replace(scratch_bytes_per_lane=0))
        case "tg-split":
            return case._replace(demand=demand._replace(tg_split=False))
        case "generic-target":
            return case._replace(targets=(case.target,))
        case "vgpr-file" | "lds-granule" | "lds-pool" | "barriers":
            targets = tuple(_with_belief(name, target, version) for target in case.targets)
            return case._replace(targets=targets)
        case _:
            return case


def _with_belief(name: CauseName, target: Target, version: int) -> Target:
    llvm_target = target_in_llvm(target, version)
    if name == "vgpr-file":
        return target._replace(vgprs=llvm_target.vgprs)
    if name == "lds-granule":
        return target._replace(lds=llvm_target.lds)
    field = "lds_bytes" if name == "lds-pool" else "barriers"
    pairs = zip(target.domains, llvm_target.domains, strict=True)
    domains = (domain._replace(**{field: getattr(believed, field)}) for domain, believed in pairs)
    return target._replace(domains=tuple(domains))


def waves_by_causes(case: Case, causes: Collection[CauseName]) -> float:
    """Waves per SIMD by the hardware's count, except that the facts in `causes` are counted as the
    compiler counts them."""
    for name in CAUSES:
        if name in causes:
            case = _changed(name, case)
    waves = max(_waves_on(target, case, causes) for target in case.targets)
    if not waves and not {"unlaunchable", "generic-target"}.isdisjoint(causes):
        return 1  # LLVM's terms are never 0, not even for a generic target without room
    return math.ceil(waves) if "rounded-up" in causes else waves


def _waves_on(target: Target, case: Case, causes: Collection[CauseName]) -> float:
    """Waves per SIMD on one device."""
    demand, launch = case.demand, case.launch
    placed = limits.place(target, demand, launch)
    simds = placed.domain.simds
    allowed = limits.waves_by_resource(placed)
    registers = [allowed[name] for name in _REGISTERS if name in allowed]
    if "sgpr-table" in causes:
        waves = llvm_registers.waves_by_sgprs(target, case.version, demand.sgprs or 1)
        registers[-1] = waves * simds
    apart = demand.tg_split or "whole-workgroups" in causes
    size = launch.workgroup_size
    small, large = case.sizes if "best-size" in causes else (size, size)
    best = 0
    for group in range(waves_of(small, demand.wave_size), waves_of(large, demand.wave_size) + 1):
        by_registers = min(registers) if apart else min(registers) // group * group
        by_workgroup = _waves_by_workgroup(target, case, causes, allowed, group)
        best = max(best, min(by_registers, by_workgroup))
    return best / simds


def _waves_by_workgroup(
    target: Target,
    case: Case,
    causes: Collection[CauseName],
    allowed: Waves,
    group: int,
) -> int:
    """Waves in the domain that slots, scratch, LDS and barriers allow, in workgroups of `group`
    waves."""
    demand, launch = case.demand, case.launch
    domain = target.domain(demand.wgp_mode)
    if "closed-form" in causes or "waves-per-cu" in causes:
        whole = demand._replace(lds_bytes=lds_of(demand, launch))
        size = group * demand.wave_size
        sizes = case.sizes if "closed-form" in causes else (size, size)
        return domain.simds * waves_by_workgroup(target, case.version, whole, sizes)[1]
    free = min(allowed[name] for name in _BY_WAVE if name in allowed)
    workgroups = [] if demand.tg_split else [free // group]
    if "lds" in allowed:
        launched = waves_of(launch.workgroup_size, demand.wave_size)
        workgroups.append(allowed["lds"] // launched)
    if group > 1 and not demand.tg_split:
        workgroups.append(domain.barriers)
    return min([free, *(count * group for count in workgroups)])


# The result of HIP's `hipOccupancyMaxActiveBlocksPerMultiprocessor`.
#
# Source: ROCm/clr f9f995c6 (October 2024), hipamd/src/hip_platform.cpp:337-438 and
# rocclr/device/rocm/rocdevice.cpp:1815-1880; its fixes of 2026: ROCm/rocm-systems #9571 (LDS of
# both CUs in WGP mode) and #10618 (SGPRs of the trap handler).

_LAST_UNFIXED = 2025  # up to this year HIP assumes the VGPR file of gfx9 for targets it lacks


def max_active_blocks(target: Target, demand: Demand, launch: Launch, *, fixed: bool = True) -> int:
    """Workgroups per "multiprocessor": per WGP in WGP mode (gfx10 and later), else per CU.

    `demand` has the metadata's numbers (`.vgpr_count`, `.sgpr_count`): HIP does not read the
    descriptor, which may reserve more. `fixed` selects HIP with the fixes of 2026.
    """
    if launch.workgroup_size > target.waves.max_workgroup_size:
        return 0
    domain = target.domain(demand.wgp_mode)
    file = target.vgpr_file(demand.wave_size)
    if not fixed:
        file = file._replace(**believed(file.believed, "HIP", _LAST_UNFIXED))
    by_vgprs = file.per_simd // align(max(1, demand.vgprs or 0), file.granule)
    waves = min(_slots(target), by_vgprs, _by_sgprs(target, demand, launch, fixed))
    lanes = domain.simds * waves * demand.wave_size
    workgroups = lanes // align(launch.workgroup_size, demand.wave_size)
    if lds_bytes := lds_of(demand, launch):
        pool = domain.lds_bytes if fixed else target.lds.bytes_per_workgroup
        workgroups = min(workgroups, pool // lds_bytes)
    return workgroups


def _slots(target: Target) -> int:
    """Waves per SIMD: 8 up to gfx9 ("limited by SPI"), 16 later, although RDNA1 has 20."""
    return 8 if target.sgprs.per_simd else 16


def _by_sgprs(target: Target, demand: Demand, launch: Launch, fixed: bool) -> int:
    """Waves per SIMD that the SGPRs allow. Without the fix: a granule of 16 on every target and no
    SGPRs of a trap handler."""
    sgprs = target.sgprs
    if not (sgprs.per_simd and demand.sgprs):
        return _slots(target)
    if not fixed:
        return sgprs.per_simd // align(demand.sgprs, 16)
    reserve = sgprs.trap_handler if launch.trap_handler else 0
    return sgprs.per_simd // (align(demand.sgprs, sgprs.granule) + reserve)
