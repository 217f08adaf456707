"""KI0xx: launches that fail and inputs that contradict themselves; registers that code touches."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from kernelinfo.hardware.targets import align
from kernelinfo.kernel import Finding, Kernel, Rule, waves_per_simd
from kernelinfo.kernel.code_object import TouchedRegisters
from kernelinfo.kernel.names import demangle, short
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy, occupancy
from kernelinfo.model.limits import RESOURCES, Demand, room, waves_by_resource
from kernelinfo.reading.facts import Fact
from kernelinfo.rules.messages import remark, say


def unlaunchable_workgroup(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """The waves of one workgroup do not fit on the hardware at once.

    What it finds: a workgroup that needs more registers, scratch or workitems than one CU (or WGP)
    has, or a size that the code is not compiled for, which the runtime refuses. It is a warning if
    only the largest size is known and a smaller workgroup can start, because the host may launch
    less. It is an error if the size is required, configured or given, or if no smaller workgroup
    can start.
    Why it matters: the launch fails at run time, or the runtime refuses it.
    What to do: launch smaller workgroups, bound the registers with `__launch_bounds__`, or compile
    for the launched size.
    """
    obstacles = [text for text in occupancy.obstacles if "LDS" not in text]
    if not obstacles:
        return
    launch = occupancy.launch
    if occupancy.refusal:
        yield remark(rule, "KI001-refused", size=launch.workgroup_size, refusal=occupancy.refusal)
        return
    is_assumed = launch.assumption in ("declared-max", "hardware-max")
    may_be_smaller = is_assumed and (occupancy.range is not None or traits.numbers.tg_split)
    severity = "warning" if may_be_smaller else None
    finding = remark(rule, "KI001", severity, size=launch.workgroup_size, obstacle=obstacles[0])
    if may_be_smaller:
        finding = finding._replace(hint=say("KI001-smaller", most=_largest_that_can(occupancy)))
    elif is_assumed:
        finding = finding._replace(hint=say("KI001-none"))
    yield finding


def _largest_that_can(occupancy: Occupancy) -> int:
    """The most workitems of one workgroup that fit in registers, slots and scratch."""
    placed = occupancy.placement
    waves = room(waves_by_resource(placed))
    return min(waves * placed.demand.wave_size, placed.target.waves.max_workgroup_size)


def lds_over_limit(rule: Rule, traits: Traits, occupancy: Occupancy) -> Iterator[Finding]:
    """A workgroup uses more LDS than one workgroup may have.

    What it finds: static and dynamic LDS together above the hardware's limit for a workgroup.
    Why it matters: the launch fails at run time; static LDS alone may still compile.
    What to do: use less, or run on a target with more (`kernelinfo arch` lists them).
    """
    for text in occupancy.obstacles:
        if "LDS" in text:
            yield remark(rule, "KI002", obstacle=text)


_WORDS = {
    "reserved": "allocated", "vgprs": "VGPRs", "agprs": "AGPRs", "sgprs": "SGPRs", "lds": "LDS",
}  # fmt: skip
"""Parts of fact names as messages write them."""


def sources_disagree(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """Descriptor, metadata and Kernel info contradict each other.

    What it finds: two sources of one kernel that differ beyond the compiler's known padding, an
    assembly and a code object of one compilation (hipcc --save-temps) that differ, or a required
    workgroup above the declared maximum, so that every launch breaks one of them. A special case
    is a note if it changes the occupancy: LLVM up to 16 reserves XNACK's SGPRs when it assembles,
    but not when it compiles.
    Why it matters: the file was edited, assembled by hand or damaged. Tools that read the other
    source report other numbers. The hardware obeys the descriptor, and so does this report.
    What to do: rebuild the file, or correct the metadata of hand-written assembly.
    """
    traits = kernel.traits
    if not (kernel.contradiction or traits.disagreements or traits.numbers.required_workgroup):
        return  # as nearly all kernels
    if kernel.contradiction:
        yield remark(rule, "KI004-copies", contradiction=kernel.contradiction)
    yield from _required_above_maximum(rule, kernel)
    for chosen, other in kernel.traits.disagreements:
        if _is_xnack_padding(chosen, other, kernel):
            yield from _assembled(rule, other, kernel, occupancy)
        elif not _come_to_the_same(chosen, other, kernel):
            first, second = (_statement(fact, kernel) for fact in (chosen, other))
            yield remark(rule, "KI004", first=first, second=second)


def _required_above_maximum(rule: Rule, kernel: Kernel) -> Iterator[Finding]:
    """A remark if the kernel requires larger workgroups than it declares at most."""
    numbers = kernel.numbers
    declared, required = numbers.max_workgroup_size, prod(numbers.required_workgroup or (0,))
    if declared is None or required <= declared:
        return
    facts = [fact for fact in kernel.traits.facts if fact.name == "required_workgroup"]
    line = kernel.line_of(facts[0]) if facts else None
    yield remark(rule, "KI004-required", required=required, line=_in_line(line), most=declared)


def _is_xnack_padding(info: Fact, directive: Fact, kernel: Kernel) -> bool:
    """True if the difference is XNACK's SGPRs, which only the assembler of LLVM up to 16 adds."""
    if kernel.target is None or (info.source, directive.source) != ("kernel-info", "directive"):
        return False
    sgprs = kernel.target.sgprs
    padded = align(info.value + sgprs.with_xnack, max(sgprs.encoding_granule, 1))
    return info.name == "reserved_sgprs" and info.value < directive.value <= padded


def _assembled(
    rule: Rule, directive: Fact, kernel: Kernel, compiled: Occupancy
) -> Iterator[Finding]:
    """A note if the assembled object's occupancy differs from the compiled one's."""
    demand, launch = kernel.traits.demand, compiled.launch
    if demand is None or kernel.code_object.target != compiled.target:
        return
    traits = kernel.traits._replace(demand=demand._replace(sgprs=directive.value))
    assembled = traits.occupancy(
        workgroup_size=launch.workgroup_size,
        dynamic_lds=launch.dynamic_lds_bytes,
        trap_handler=launch.trap_handler,
    )
    if assembled.waves_per_simd != compiled.waves_per_simd:
        yield remark(
            rule,
            "KI004-xnack",
            "note",
            assembled=waves_per_simd(assembled.waves_per_simd),
            compiled=f"{compiled.waves_per_simd:.4g}",
        )


def _come_to_the_same(fact: Fact, other: Fact, kernel: Kernel) -> bool:
    """True if the hardware rounds both SGPR counts to the same number."""
    if kernel.target is None or {fact.name, other.name} != {"reserved_sgprs"}:
        return False
    granule = kernel.target.sgprs.granule
    return align(fact.value, granule) == align(other.value, granule)


def _statement(fact: Fact, kernel: Kernel) -> str:
    noun = " ".join(_WORDS.get(word, word) for word in fact.name.split("_"))
    line = _in_line(kernel.line_of(fact))
    return say("KI004-value", source=fact.source, noun=noun, value=fact.value, line=line)


def _in_line(line: int | None) -> str:
    return "" if line is None else say("KI004-line", line=line)


def unallocated_registers(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """The code touches registers that are not allocated.

    What it finds: a VGPR, AGPR or SGPR that the code of the kernel or of a function that it calls
    names, above those that the descriptor makes the hardware allocate. It is a warning if the
    hardware's rounding up to granules allocates the register. Only where all code was read:
    assembly without a compiler's stamp, and with `--instructions`, `pressure` and `explain`
    everything else.
    Why it matters: a register out of range reads as v0 and drops what is written, or belongs to
    another wave. The results are wrong, and nothing says so.
    What to do: declare as many registers as the code and its callees name.
    """
    for noun, letter, needed, declared, allocated, callee in _shares(kernel, occupancy):
        if declared is None or allocated is None or needed <= declared:
            continue
        code = say("KI006-kernel")
        if callee:
            code = say("KI006-callee", function=short(demangle(callee)))
        register = f"{letter}{needed - 1}"
        if needed > allocated:
            yield remark(
                rule,
                "KI006",
                code=code,
                register=register,
                allocated=allocated,
                noun=noun,
                needed=needed,
            )
        else:
            yield remark(
                rule,
                "KI006-covered",
                "warning",
                code=code,
                register=register,
                declared=declared,
                noun=noun,
                allocated=allocated,
                target=occupancy.target,
                needed=needed,
            )


def unwritten_registers(rule: Rule, kernel: Kernel, occupancy: Occupancy) -> Iterator[Finding]:
    """Registers are read that nothing wrote.

    What it finds: in assembly without a compiler's stamp that was read whole, registers that a path
    from the kernel's entry reads, that no path writes before it reads them, and that the hardware
    does not set. Compilers read such registers on purpose; `pressure` and `explain` list those.
    Why it matters: the register holds what the last wave left there.
    What to do: write the register first, or state in the descriptor that it is set.
    """
    unwritten = kernel.touched.unwritten if kernel.touched else ()
    if unwritten and kernel.code_object.kind == "assembly" and not _is_compiled(kernel):
        yield remark(rule, "KI007", registers=", ".join(unwritten))


def untouched_registers(rule: Rule, kernel: Kernel, result: Occupancy) -> Iterator[Finding]:
    """Fewer registers than are allocated would do, and give more waves.

    What it finds: a kernel without a compiler's stamp or counts whose code, its callees' included,
    touches fewer VGPRs, AGPRs or SGPRs than the descriptor makes the hardware allocate, if
    allocating only the touched ones would give more waves. It needs code that was read whole.
    `padded-registers` replaces it where the metadata counts fewer, too.
    Why it matters: a few numbers in the descriptor cost waves.
    What to do: write the numbers that the message names into the descriptor; the code stays as it
    is.
    """
    target, demand = kernel.target, kernel.traits.demand
    if kernel.touched is None or target is None or demand is None or demand.is_padded:
        return
    if _is_compiled(kernel):  # registers that inline assembly reserves are touched by no text
        return
    fewer_vgprs, fewer_sgprs = _fewer_vgprs(kernel, result), _fewer_sgprs(kernel, result)
    both = fewer_vgprs and fewer_sgprs and fewer_vgprs._replace(sgprs=fewer_sgprs.sgprs)
    best = result
    for fewer in filter(None, (fewer_vgprs, fewer_sgprs, both)):
        answer = occupancy(target, fewer, result.launch)
        if answer.waves > best.waves:
            best = answer
    if best is result:
        return
    kinds = _kinds(kernel.touched, result, best.demand)
    allocated, touched, numbers = (" and ".join(words) for words in zip(*kinds, strict=True))
    yield remark(
        rule,
        "KI209",
        allocated=allocated,
        touched=touched,
        numbers=numbers,
        more=waves_per_simd(best.waves_per_simd),
        waves=f"{result.waves_per_simd:.4g}",
        limits=" and ".join(RESOURCES[limiter] for limiter in best.limiters),
    )


def _kinds(
    touched: TouchedRegisters, result: Occupancy, fewer: Demand
) -> Iterator[tuple[str, str, str]]:
    """(allocated, touched, numbers for the descriptor) for VGPRs and AGPRs together, and for SGPRs,
    each only if fewer are needed."""
    if fewer.vgprs != result.demand.vgprs:
        arch, agprs = fewer.arch_vgprs, fewer.agprs
        yield (
            f"{result.allocated.vgprs} VGPRs",
            say("KI209-agprs", vgprs=arch, agprs=agprs) if agprs else str(arch),
            say("KI209-offset", vgprs=fewer.vgprs, offset=fewer.accum_offset)
            if fewer.accum_offset
            else say("KI209-vgprs", vgprs=fewer.vgprs),
        )
    if fewer.sgprs != result.demand.sgprs:
        sgprs = max(touched.sgprs, touched.entry_sgprs)
        yield f"{result.allocated.sgprs} SGPRs", str(sgprs), say("KI209-sgprs", sgprs=sgprs)


def _fewer_vgprs(kernel: Kernel, result: Occupancy) -> Demand | None:
    """The demand with only the VGPRs and AGPRs that the code touches; None if these are not fewer,
    or not known."""
    touched, target, numbers = kernel.touched, kernel.target, kernel.numbers
    if touched is None or target is None or not touched.entry_vgprs:
        return None
    if numbers.reserved_vgprs is None or numbers.dynamic_vgprs or result.demand.vgprs is None:
        return None
    arch = max(touched.vgprs, touched.entry_vgprs)
    fewer = result.demand.with_registers(target, arch, touched.agprs)
    return None if fewer.vgprs is None or fewer.vgprs >= result.demand.vgprs else fewer


def _fewer_sgprs(kernel: Kernel, result: Occupancy) -> Demand | None:
    """The demand with only the SGPRs that the code touches; None if these are not fewer, not known,
    or never limit."""
    touched, target = kernel.touched, kernel.target
    if touched is None or target is None or not touched.entry_sgprs:
        return None
    if not target.sgprs.per_simd or target.sgprs.fixed_allocation or result.demand.sgprs is None:
        return None
    sgprs = max(touched.sgprs, touched.entry_sgprs) + target.sgprs.with_flat_scratch
    needed = align(sgprs, target.sgprs.encoding_granule)
    return None if needed >= result.demand.sgprs else result.demand._replace(sgprs=needed)


def _is_compiled(kernel: Kernel) -> bool:
    """True if a compiler stamped the code, or left its counts in comments or symbols."""
    sources = {source for source, _ in kernel.traits.stated}
    return kernel.code_object.compiler is not None or bool(sources & {"kernel-info", "symbol"})


def _shares(
    kernel: Kernel, occupancy: Occupancy
) -> Iterator[tuple[str, str, int, int | None, int | None, str]]:
    """(noun, letter, registers touched, registers declared, registers allocated, callee that
    touches the highest register) of each class of registers; None for an amount that no descriptor
    states."""
    touched, target, numbers = kernel.touched, kernel.target, kernel.numbers
    if touched is None or target is None:
        return
    amounts, offset, callees = occupancy.allocated, numbers.accum_offset, touched.callees
    reserved = None if numbers.dynamic_vgprs else numbers.reserved_vgprs
    arch, agprs = reserved, reserved
    if target.agprs.file == "unified" and reserved is not None:
        arch = None if offset is None else min(reserved, offset)
        agprs = None if offset is None else max(reserved - offset, 0)
    yield "VGPRs", "v", touched.vgprs, arch, amounts.arch_vgprs, callees[0]
    yield "AGPRs", "a", touched.agprs, agprs, amounts.agprs, callees[1]
    sgprs = numbers.reserved_sgprs if target.sgprs.per_simd else None
    yield "SGPRs", "s", touched.sgprs, sgprs, amounts.sgprs, callees[2]
