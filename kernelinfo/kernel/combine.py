"""Statements of several sources -> one Kernel: the best source of each number is chosen."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from kernelinfo.kernel import CodeObject, Kernel
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy.placement import VGPRS_ARE_DYNAMIC, Demand, align, total_vgprs
from kernelinfo.occupancy.targets import Target, Vgprs, find
from kernelinfo.reading.facts import SOURCES, Fact, KernelFacts, Numbers, Stated, facts_of
from kernelinfo.reading.paths import in_repository


def combine(facts: KernelFacts, code_object: CodeObject, target: Target | None) -> Kernel:
    """One kernel from all that is stated of it, without its instructions.

    Sources that should agree and do not are kept in `Traits.disagreements`.
    """
    source = facts.source
    if source is not None:
        source = in_repository(source)
    return Kernel(
        code_object,
        facts.symbol,
        demangle(facts.symbol),
        settled(facts.stated, target and target.name, code_object.target),
        facts.code_bytes,
        facts.places,
        facts.line,
        None,
        source,
    )


@lru_cache(maxsize=1 << 14)  # a library's 88,000 kernels make 25,000 different statements
def settled(stated: tuple[Stated, ...], processor: str | None, compiled_for: str | None) -> Traits:
    """The numbers of a kernel, each from its best source, and the demand that they make on a known
    processor."""
    target = find(processor) if processor else None
    stated = _best_first(stated)
    best: list[Any] = [None] * len(Numbers._fields)
    agree = True
    for _, numbers in stated:
        pairs = list(zip(best, numbers, strict=True))
        best = [one if other is None else other for other, one in pairs]
        agree = agree and best == [other if one is None else one for other, one in pairs]
    numbers = Numbers._make(best)
    registers = _vector_registers(numbers, target)
    impossible = _impossible(numbers, target)
    described = any(source in ("descriptor", "directive") for source, _ in stated)
    wave_size = _wave_size(numbers.wave_size, target)
    is_settled = (registers.total, wave_size) == (numbers.vgprs, numbers.wave_size)
    return Traits(
        target,
        compiled_for,
        numbers if is_settled else numbers._replace(vgprs=registers.total, wave_size=wave_size),
        None if target is None else _demand(numbers, registers, described, target),
        stated,
        () if agree and not impossible else _disagreements(stated, impossible),
    )


_RANK: dict[str, float] = {source: rank for rank, source in enumerate(SOURCES)}


def _best_first(stated: tuple[Stated, ...]) -> tuple[Stated, ...]:
    """The statements by the rank of their sources; kernel info on SGPRs reserved comes before
    directives.

    Up to LLVM 16 the compiler leaves XNACK's SGPRs out and the assembler, given the same
    directives, counts them: llvm-mc 15 makes 104 of what clang 16 encodes as 96.
    """
    ranked: list[tuple[float, Stated]] = []
    for source, numbers in stated:
        if source == "kernel-info" and numbers.reserved_sgprs is not None:
            own = Numbers(reserved_sgprs=numbers.reserved_sgprs)
            ranked.append((_RANK["directive"] - 0.5, (source, own)))
            numbers = numbers._replace(reserved_sgprs=None)
        ranked.append((_RANK[source], (source, numbers)))
    ranked.sort(key=lambda one: one[0])
    return tuple([one for _, one in ranked])


def _wave_size(stated: int | None, target: Target | None) -> int | None:
    """Lanes in a wave: as stated, or the only size that the target has."""
    sizes = () if target is None else target.vgprs
    return sizes[0].wave_size if stated is None and len(sizes) == 1 else stated


class VectorRegisters(NamedTuple):
    """Registers per lane that the code uses; None where the input does not say."""

    total: int | None  # as the target counts them: the sum in a unified file, else the larger count
    arch: int | None
    agprs: int | None


def _vector_registers(numbers: Numbers, target: Target | None) -> VectorRegisters:
    """What the code uses; where no source states that, what the descriptor reserves, apart."""
    total, arch, agprs = numbers.vgprs, numbers.arch_vgprs, numbers.agprs
    if target is None:
        return VectorRegisters(total, arch, agprs)
    if target.agprs.file == "unified":
        return _unified(numbers, target)
    if target.agprs.file == "none":
        return VectorRegisters(total, numbers.reserved_vgprs if total is None else total, 0)
    if arch is None and total is not None and agprs is not None and (not agprs or total > agprs):
        arch = total
    return VectorRegisters(total, arch, agprs)


def _unified(numbers: Numbers, target: Target) -> VectorRegisters:
    total, arch, agprs = numbers.vgprs, numbers.arch_vgprs, numbers.agprs
    reserved, offset = numbers.reserved_vgprs, numbers.accum_offset
    if total is None:
        return VectorRegisters(None, *_reserved(reserved, offset, target))
    # Without arch VGPRs nothing is aligned (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs).
    agprs_alone = total == agprs and offset == target.agprs.offset_granule
    if agprs and offset is not None and total <= offset and not agprs_alone:
        # AGPRs begin at the offset: this count, as hand-written metadata has it, leaves them out.
        return VectorRegisters(offset + agprs, total, agprs)
    if offset is not None and not agprs and total > offset:
        agprs = total - offset
    elif offset is not None and reserved is not None and reserved <= offset:
        agprs = agprs or 0
    if arch is None and agprs is not None:
        arch = total - agprs
    return VectorRegisters(total, arch, agprs)


def _reserved(
    reserved: int | None, offset: int | None, target: Target
) -> tuple[int | None, int | None]:
    """VGPRs and AGPRs that a descriptor reserves and code can name."""
    if reserved is None or offset is None:
        return None, None
    agprs = min(max(reserved - offset, 0), target.agprs.addressable)
    return min(reserved, offset), agprs


def _demand(
    numbers: Numbers, registers: VectorRegisters, described: bool, target: Target
) -> Demand:
    """The demand on the hardware, and why it may be higher than the file says.

    `described` is whether any source is a descriptor, or the directives that it is made from.
    """
    at_least = []
    required = prod(numbers.required_workgroup or (0,))
    wave_size = numbers.wave_size
    wgp_mode = numbers.wgp_mode
    sizes = {file.wave_size for file in target.vgprs}
    if wave_size not in sizes:
        wave_size = target.waves.default_size
        if len(sizes) > 1:
            at_least.append(f"the wave size is not stated: {wave_size} is assumed")
    if numbers.graphics_stage:
        at_least.append(
            "a graphics stage: the pipeline's own LDS, and which waves start together, "
            "are not in the file"
        )
    elif wgp_mode is None and len(target.domains) > 1:
        at_least.append(f"the mode is not stated: {target.domains[0].per} mode is assumed")
    vgprs, sgprs = numbers.reserved_vgprs, numbers.reserved_sgprs
    if vgprs is None and (doubtful := numbers.least_reserved_vgprs) is not None:
        at_least.append(_two_units(target.vgpr_file(wave_size)))
        vgprs = max(doubtful, registers.total or 0)
    elif vgprs is None and registers.total is not None:
        read = "the descriptor does not say of how many" if described else "no descriptor was read"
        at_least.append(f"{read}: it may reserve more VGPRs than the code uses")
    if numbers.indirect_call:
        at_least.append("the kernel calls functions that are not known here")
    if numbers.dynamic_stack:
        at_least.append("the scratch of the kernel grows at run time")
    vgpr_block = 0
    if numbers.dynamic_vgprs:
        file, block = target.vgpr_file(wave_size), numbers.dynamic_vgpr_block
        vgpr_block = _dynamic_block(block, registers.total or 0, file)
        if block is None and file.dynamic_blocks:
            at_least.append("the file does not state the blocks in which VGPRs are dynamic")
        if not vgpr_block:
            at_least.append(VGPRS_ARE_DYNAMIC)
    if numbers.named_barriers:
        at_least.append("the hardware's pool of named barriers is not published")
    return Demand(
        wave_size=wave_size,
        vgprs=_asked(registers.total, vgprs, target.vgpr_file(wave_size).granule),
        sgprs=_asked(numbers.sgprs, sgprs, target.sgprs.granule),
        lds_bytes=numbers.lds_bytes,
        scratch_bytes_per_lane=numbers.scratch_bytes_per_lane,
        accum_offset=numbers.accum_offset,
        wgp_mode=wgp_mode,
        tg_split=bool(numbers.tg_split),
        at_least=tuple(at_least),
        dynamic_vgpr_block=vgpr_block,
        arch_vgprs=registers.arch,
        agprs=registers.agprs,
        least_workgroup=required or 1,
        most_workgroup=required or numbers.max_workgroup_size,
    )


def _dynamic_block(stated: int | None, vgprs: int, file: Vgprs) -> int:
    """VGPRs that a wave takes at a time: as stated, else those of which it gets the fewest; 0 for
    the granule of waves whose VGPRs are not dynamic."""
    if stated in file.dynamic_blocks:
        return stated
    blocks = [b for b in file.dynamic_blocks if vgprs <= b * file.most_dynamic_blocks]
    return min((0, *blocks), key=lambda block: align(vgprs, block or file.granule))


def _two_units(file: Vgprs) -> str:
    """Why a descriptor's VGPRs are a bound where the object does not tell their unit."""
    return (
        f"the descriptor counts VGPRs by {file.early_encoding_granule}, if one of the target's "
        f"first compilers made it, or by {file.encoding_granule}; nothing in the file tells which"
    )


def _asked(used: int | None, encoded: int | None, granule: int) -> int | None:
    """Registers asked for: the code's own count where that explains the descriptor's.

    A descriptor that encodes more than the code uses is obeyed all the same.
    """
    if used is None or encoded is None:
        return used if encoded is None else encoded
    same = align(max(1, used), granule) == align(max(1, encoded), granule)
    return used if same else encoded


def _impossible(numbers: Numbers, target: Target | None) -> list[tuple[str, str]]:
    """Names of numbers that cannot both be true: fewer registers reserved than used, and a total of
    vector registers that is not theirs."""
    pairs = []
    for encoded, used in ("reserved_vgprs", "vgprs"), ("reserved_sgprs", "sgprs"):
        reserved, needed = getattr(numbers, encoded), getattr(numbers, used)
        if None not in (reserved, needed) and reserved < needed:
            pairs.append((encoded, used))
    total, arch = numbers.vgprs, numbers.arch_vgprs
    if target is None or total is None or arch is None:
        return pairs
    if total != total_vgprs(target, arch, numbers.agprs or 0):
        pairs.append(("vgprs", "arch_vgprs"))
    return pairs


def _disagreements(
    stated: tuple[Stated, ...], impossible: list[tuple[str, str]]
) -> tuple[tuple[Fact, Fact], ...]:
    """Pairs that should be equal and are not, and impossible ones; the first of each counts."""
    best: dict[str, Fact] = {}
    pairs = []
    for fact in facts_of(stated):
        if (first := best.setdefault(fact.name, fact)).value != fact.value:
            pairs.append((first, fact))
    return (*pairs, *((best[one], best[other]) for one, other in impossible))
