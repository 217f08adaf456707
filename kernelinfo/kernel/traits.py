"""The numbers of a kernel, each from its best source, and its occupancy."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

from kernelinfo.errors import LaunchError, UnknownTargetError
from kernelinfo.hardware.targets import Target, Vgprs, align, find, total_vgprs
from kernelinfo.hardware.targets import known as known_targets
from kernelinfo.kernel.messages import say
from kernelinfo.model import Allocated, Occupancy, allocated, occupancy
from kernelinfo.model.limits import VGPRS_ARE_DYNAMIC, Assumption, Demand, Launch, place
from kernelinfo.reading.facts import NOTHING, SOURCES, Fact, Numbers, StatedNumbers, facts_of

LDS_NOT_STATED = (
    "the kernel takes LDS sized at launch, which the file does not say; see --dynamic-lds"
)


class Traits(NamedTuple):
    """Target, numbers and demand of a kernel; kernels with equal statements have equal traits."""

    target: Target | None
    """None if the input names none or an unknown one."""
    compiled_for: str | None
    """The processor that the input names."""
    numbers: Numbers
    """Each from its best source. `vgprs` includes AGPRs of a unified file; an unstated wave size is
    the target's only one."""
    demand: Demand | None
    """The demand on the hardware; None without a target."""
    stated: tuple[StatedNumbers, ...]
    """Numbers by source, the best source first."""
    disagreements: tuple[tuple[Fact, Fact], ...] = ()
    """Pairs of facts from sources that contradict each other; the first was chosen."""

    def __hash__(self) -> int:
        return hash((self.compiled_for, self.numbers))

    def launch(
        self,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Launch:
        """The launch. Its workgroup size is one wave for a graphics stage, else the first known of
        `workgroup_size`, `configured_size`, the required size, the launch bound and the hardware's
        maximum."""
        target, demand = self._known()
        numbers = self.numbers
        lds = (numbers.dynamic_lds_bytes or 0) if dynamic_lds is None else dynamic_lds
        required = numbers.required_workgroup and prod(numbers.required_workgroup)
        size: int | None
        assumption: Assumption
        if numbers.graphics_stage:
            size, assumption = demand.wave_size, "graphics-stage"
        elif workgroup_size is not None:
            size, assumption = workgroup_size, "option"
        elif configured_size not in (None, required):
            size, assumption = configured_size, "config"
        elif required is not None:
            size, assumption = required, "required"
        else:
            size, assumption = numbers.max_workgroup_size, "declared-max"
        if size is None:
            size, assumption = target.waves.max_workgroup_size, "hardware-max"
        return Launch(size, assumption, lds, trap_handler)

    def occupancy(
        self,
        *,
        workgroup_size: int | None = None,
        dynamic_lds: int | None = None,
        trap_handler: bool = True,
        configured_size: int | None = None,
    ) -> Occupancy:
        """The occupancy on the kernel's own target.

        `workgroup_size` and `configured_size` in workitems, `dynamic_lds` in bytes. The defaults
        are `configured_size`, then the input's own statements. Raises `UnknownTargetError` for an
        unknown target and `LaunchError` for an impossible launch.
        """
        target, demand = self._known()
        launch = self.launch(workgroup_size, dynamic_lds, trap_handler, configured_size)
        is_stated = dynamic_lds is not None or self.numbers.dynamic_lds_bytes is not None
        if self.numbers.dynamic_lds and not is_stated:
            demand = demand._replace(at_least=(*demand.at_least, LDS_NOT_STATED))
        return occupancy(target, demand, launch)

    @property
    def allocated(self) -> Allocated:
        """Allocated resources, without dynamic LDS. Raises `UnknownTargetError`."""
        target, demand = self._known()
        return allocated(place(target, demand, self.launch()))

    def on(self, target: Target) -> Traits:
        """The traits of the kernel, assuming that it uses the same registers on another target.

        VGPRs and AGPRs are added up as that target does, without the descriptor's padding. A
        generic target's code runs unchanged on its members and keeps its numbers. Raises
        `UnknownTargetError` if the kernel's own target is unknown, and `LaunchError` if `target`
        lacks its wave size or the AGPRs that it uses.
        """
        compiled_for, demand = self._known()
        size, used = demand.wave_size, self.numbers
        if size not in {file.wave_size for file in target.vgprs}:
            raise LaunchError(say("kernel-wave-size", target=target.name, lanes=size))
        if target.name in (compiled_for.name, *compiled_for.members):
            return self._replace(target=target)
        if demand.agprs and target.agprs.file == "none":
            raise LaunchError(say("kernel-agprs", target=target.name, agprs=demand.agprs))
        demand = demand.unpadded._replace(
            sgprs=demand.sgprs if used.sgprs is None else used.sgprs,
            tg_split=demand.tg_split and target.tg_split,
        )
        arch_vgprs, agprs = demand.arch_vgprs, demand.agprs
        if arch_vgprs is not None and agprs is not None:
            demand = demand.with_registers(target, arch_vgprs, agprs)
        elif compiled_for.agprs.file == target.agprs.file:
            demand = demand._replace(vgprs=demand.vgprs if used.vgprs is None else used.vgprs)
        else:
            # The total depends on the count of each kind, and the input does not say.
            demand = demand._replace(vgprs=None, accum_offset=None)
        numbers = used._replace(
            vgprs=demand.vgprs, reserved_vgprs=None, accum_offset=None, reserved_sgprs=None
        )
        return self._replace(target=target, demand=demand, numbers=numbers)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All numbers of all sources, the best source first."""
        return facts_of(self.stated)

    def _known(self) -> tuple[Target, Demand]:
        """(target, demand). Raises `UnknownTargetError` if the target is unknown."""
        if self.target is None or self.demand is None:
            raise UnknownTargetError(self.compiled_for or "", known_targets())
        return self.target, self.demand


@lru_cache(maxsize=1 << 15)  # a library's 88,000 kernels make 25,000 different statements
def settled(
    stated: tuple[StatedNumbers, ...], processor: str | None, compiled_for: str | None
) -> Traits:
    """The traits that these statements give: each number from its best source, and the demand if
    the processor is known."""
    target = find(processor) if processor else None
    stated = _best_first(stated)
    numbers, agree = _chosen(stated)
    used = _with_vector_registers(numbers, target)
    impossible = _impossible(numbers, target)
    described = any(source in ("descriptor", "directive") for source, _ in stated)
    wave_size = _wave_size(numbers.wave_size, target)
    is_settled = (used.vgprs, wave_size) == (numbers.vgprs, numbers.wave_size)
    return Traits(
        target,
        compiled_for,
        numbers if is_settled else numbers._replace(vgprs=used.vgprs, wave_size=wave_size),
        None if target is None else _demand(used, described, target),
        stated,
        () if agree and not impossible else _disagreements(stated, impossible),
    )


def _chosen(stated: tuple[StatedNumbers, ...]) -> tuple[Numbers, bool]:
    """(each number from the first source that states it, True if no later source differs)."""
    chosen, agree = list(stated[0][1] if stated else NOTHING), True
    for _, numbers in stated[1:]:
        for index, value in enumerate(numbers):
            if value is None:
                continue
            if chosen[index] is None:
                chosen[index] = value
            elif chosen[index] != value:
                agree = False
    return Numbers._make(chosen), agree


_RANK: dict[str, float] = {source: rank for rank, source in enumerate(SOURCES)}


def _best_first(stated: tuple[StatedNumbers, ...]) -> tuple[StatedNumbers, ...]:
    """Statements sorted by rank of source. Reserved SGPRs of kernel info rank above directives.

    Up to LLVM 16 the compiler omits XNACK's SGPRs and the assembler counts them for the same
    directives: clang 16 encodes 96 where llvm-mc 15 encodes 104.
    """
    ranked: list[tuple[float, StatedNumbers]] = []
    for source, numbers in stated:
        if source == "kernel-info" and numbers.reserved_sgprs is not None:
            sgprs = Numbers(reserved_sgprs=numbers.reserved_sgprs)
            ranked.append((_RANK["directive"] - 0.5, (source, sgprs)))
            numbers = numbers._replace(reserved_sgprs=None)
        ranked.append((_RANK[source], (source, numbers)))
    ranked.sort(key=lambda pair: pair[0])
    return tuple([pair for _, pair in ranked])


def _wave_size(stated: int | None, target: Target | None) -> int | None:
    """Lanes per wave: as stated, else the target's only size; None if it has two."""
    sizes = () if target is None else target.vgprs
    return sizes[0].wave_size if stated is None and len(sizes) == 1 else stated


def _with_vector_registers(numbers: Numbers, target: Target | None) -> Numbers:
    """The numbers with used vector registers. `vgprs` becomes their total: VGPRs + AGPRs of a
    unified file, else the larger count. If no source states them: the descriptor's reserved VGPRs
    and AGPRs, without a total on a unified file."""
    total, arch, agprs = numbers.vgprs, numbers.arch_vgprs, numbers.agprs
    if target is None:
        return numbers
    if target.agprs.file == "unified":
        return _unified(numbers, target)
    if target.agprs.file == "none":
        arch = numbers.reserved_vgprs if total is None else total
        return numbers._replace(arch_vgprs=arch, agprs=0)
    if arch is None and total is not None and agprs is not None and (not agprs or total > agprs):
        arch = total
    return numbers._replace(arch_vgprs=arch)


def _unified(numbers: Numbers, target: Target) -> Numbers:
    total, arch, agprs = numbers.vgprs, numbers.arch_vgprs, numbers.agprs
    reserved, offset = numbers.reserved_vgprs, numbers.accum_offset
    if total is None:
        arch, agprs = _reserved(reserved, offset, target)
        return numbers._replace(arch_vgprs=arch, agprs=agprs)
    # A kernel of AGPRs alone has no alignment (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs).
    agprs_alone = total == agprs and offset == target.agprs.offset_granule
    if agprs and offset is not None and total <= offset and not agprs_alone:
        # AGPRs begin at the offset, so this total, as in hand-written metadata, omits them.
        return numbers._replace(vgprs=offset + agprs, arch_vgprs=total)
    if offset is not None and not agprs and total > offset:
        agprs = total - offset
    elif offset is not None and reserved is not None and reserved <= offset:
        agprs = agprs or 0
    if arch is None and agprs is not None:
        arch = total - agprs
    return numbers._replace(arch_vgprs=arch, agprs=agprs)


def _reserved(
    reserved: int | None, offset: int | None, target: Target
) -> tuple[int | None, int | None]:
    """(VGPRs, AGPRs) that a descriptor reserves and code can address."""
    if reserved is None or offset is None:
        return None, None
    agprs = min(max(reserved - offset, 0), target.agprs.addressable)
    return min(reserved, offset), agprs


def _demand(numbers: Numbers, described: bool, target: Target) -> Demand:
    """The demand on the hardware, with the reasons why it may be higher than the input states.

    The used vector registers of `numbers` are filled in already. `described` is True if some of the
    numbers were read from a kernel descriptor or its directives.
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
        vgprs = max(doubtful, numbers.vgprs or 0)
    elif vgprs is None and numbers.vgprs is not None:
        read = "the descriptor does not say of how many" if described else "no descriptor was read"
        at_least.append(f"{read}: it may reserve more VGPRs than the code uses")
    if numbers.indirect_call:
        at_least.append("the kernel calls functions that are not known here")
    if numbers.dynamic_stack:
        at_least.append("the scratch of the kernel grows at run time")
    vgpr_block = 0
    if numbers.dynamic_vgprs:
        file, block = target.vgpr_file(wave_size), numbers.dynamic_vgpr_block
        vgpr_block = _dynamic_block(block, numbers.vgprs or 0, file)
        if block is None and file.dynamic_blocks:
            at_least.append("the file does not state the blocks in which VGPRs are dynamic")
        if not vgpr_block:
            at_least.append(VGPRS_ARE_DYNAMIC)
    if numbers.named_barriers:
        at_least.append("the hardware's pool of named barriers is not published")
    asked_vgprs = _asked(numbers.vgprs, vgprs, target.vgpr_file(wave_size).granule)
    asked_sgprs = _asked(numbers.sgprs, sgprs, target.sgprs.granule)
    # VGPRs beside uncounted AGPRs may be these. A fixed share is no padding.
    has_choice = target.sgprs.per_simd and not target.sgprs.fixed_allocation
    return Demand(
        wave_size=wave_size,
        vgprs=asked_vgprs,
        sgprs=asked_sgprs,
        lds_bytes=numbers.lds_bytes,
        scratch_bytes_per_lane=numbers.scratch_bytes_per_lane,
        accum_offset=numbers.accum_offset,
        wgp_mode=wgp_mode,
        tg_split=bool(numbers.tg_split),
        at_least=tuple(at_least),
        dynamic_vgpr_block=vgpr_block,
        arch_vgprs=numbers.arch_vgprs,
        agprs=numbers.agprs,
        least_workgroup=required or 1,
        most_workgroup=required or numbers.max_workgroup_size,
        used_vgprs=None if numbers.agprs is None else _padded(numbers.vgprs, asked_vgprs),
        used_sgprs=_padded(numbers.sgprs, asked_sgprs) if has_choice else None,
    )


def _dynamic_block(stated: int | None, vgprs: int, file: Vgprs) -> int:
    """Block size of dynamic VGPRs: as stated, else the size with which the fewest VGPRs are
    allocated.

    0 means static VGPRs, which win ties.
    """
    if stated in file.dynamic_blocks:
        return stated
    blocks = [b for b in file.dynamic_blocks if vgprs <= b * file.most_dynamic_blocks]
    return min((0, *blocks), key=lambda block: align(vgprs, block or file.granule))


def _two_units(file: Vgprs) -> str:
    """The reason why the VGPRs are only a lower bound: the file does not show in which unit the
    descriptor counts them."""
    return (
        f"the descriptor counts VGPRs by {file.early_encoding_granule}, if one of the target's "
        f"first compilers made it, or by {file.encoding_granule}; nothing in the file tells which"
    )


def _asked(used: int | None, encoded: int | None, granule: int) -> int | None:
    """Registers to allocate: the used count if it rounds to the encoded one, else the encoded one.

    The hardware obeys a descriptor that encodes more than the code uses. From LLVM 21 on the
    compiler pads registers to the waves that LDS and workgroup size allow; older versions pad to
    those of `amdgpu_waves_per_eu` (AMDGPUAsmPrinter::getSIProgramInfo, `Num…ForWavesPerEU`;
    #137807).
    """
    if used is None or encoded is None:
        return used if encoded is None else encoded
    same = align(max(1, used), granule) == align(max(1, encoded), granule)
    return used if same else encoded


def _padded(used: int | None, encoded: int | None) -> int | None:
    """The registers in use if the descriptor asks for more; else None."""
    return used if used is not None and encoded is not None and used < encoded else None


def _impossible(numbers: Numbers, target: Target | None) -> list[tuple[str, str]]:
    """Pairs of names of contradicting numbers: fewer registers reserved than used, or a total of
    vector registers that VGPRs and AGPRs do not add up to."""
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
    stated: tuple[StatedNumbers, ...], impossible: list[tuple[str, str]]
) -> tuple[tuple[Fact, Fact], ...]:
    """Pairs of facts that differ or cannot both be true; the first of each pair was chosen."""
    best: dict[str, Fact] = {}
    pairs = []
    for fact in facts_of(stated):
        if (first := best.setdefault(fact.name, fact)).value != fact.value:
            pairs.append((first, fact))
    return (*pairs, *((best[name], best[other]) for name, other in impossible))
