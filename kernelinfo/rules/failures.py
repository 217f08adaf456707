"""KI0xx: launches that fail and inputs that contradict themselves."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from kernelinfo.hardware.targets import align
from kernelinfo.kernel import Kernel, Remark, waves_per_simd
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.model.limits import room, waves_by_resource
from kernelinfo.reading.facts import Fact
from kernelinfo.rules.messages import remark, say


def unlaunchable_workgroup(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """The waves of one workgroup do not fit on the hardware at once.

    What it finds: a workgroup that needs more registers, scratch or workitems than one CU (or WGP)
    has, or a size that the code is not compiled for, which the runtime refuses. It is a warning if
    only the declared maximum is known and a smaller workgroup can start, because the host may
    launch less; an error if the size is the only one: required, or no other can start.
    Why it matters: the launch fails at run time, or the runtime refuses it.
    What to do: launch smaller workgroups, bound the registers with `__launch_bounds__`, or compile
    for the launched size.
    """
    obstacles = [text for text in occupancy.obstacles if "LDS" not in text]
    if not obstacles:
        return
    launch = occupancy.launch
    if occupancy.refusal:
        yield remark("KI001-refused", size=launch.workgroup_size, refusal=occupancy.refusal)
        return
    remarked = remark("KI001", size=launch.workgroup_size, obstacle=obstacles[0])
    if launch.assumption not in ("declared-max", "hardware-max"):
        yield remarked
    elif occupancy.range is None and not traits.numbers.tg_split:
        yield remarked._replace(hint=say("KI001-none"))
    else:
        hint = say("KI001-smaller", most=_largest_that_can(occupancy))
        yield remarked._replace(hint=hint, severity="warning")


def _largest_that_can(occupancy: Occupancy) -> int:
    """The most workitems of one workgroup that fit in registers, slots and scratch."""
    placed = occupancy.placement
    waves = room(waves_by_resource(placed))
    return min(waves * placed.demand.wave_size, placed.target.waves.max_workgroup_size)


def lds_over_limit(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """A workgroup uses more LDS than one workgroup may have.

    What it finds: static and dynamic LDS together above the hardware's limit for a workgroup.
    Why it matters: the launch fails at run time; static LDS alone may still compile.
    What to do: use less, or run on a target with more (`kernelinfo arch` lists them).
    """
    for text in occupancy.obstacles:
        if "LDS" in text:
            yield remark("KI002", obstacle=text)


_WORDS = {
    "reserved": "allocated", "vgprs": "VGPRs", "agprs": "AGPRs", "sgprs": "SGPRs", "lds": "LDS",
}  # fmt: skip
"""Parts of fact names as messages write them."""


def sources_disagree(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
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
        yield remark("KI004-copies", contradiction=kernel.contradiction)
    yield from _required_above_maximum(kernel)
    for chosen, other in kernel.traits.disagreements:
        if _is_xnack_padding(chosen, other, kernel):
            yield from _assembled(other, kernel, occupancy)
        elif not _come_to_the_same(chosen, other, kernel):
            first, second = (_statement(fact, kernel) for fact in (chosen, other))
            yield remark("KI004", first=first, second=second)


def _required_above_maximum(kernel: Kernel) -> Iterator[Remark]:
    """A remark if the kernel requires larger workgroups than it declares at most."""
    numbers = kernel.traits.numbers
    declared, required = numbers.max_workgroup_size, prod(numbers.required_workgroup or (0,))
    if declared is None or required <= declared:
        return
    facts = [fact for fact in kernel.traits.facts if fact.name == "required_workgroup"]
    line = kernel.line_of(facts[0]) if facts else None
    yield remark("KI004-required", required=required, line=_in_line(line), most=declared)


def _is_xnack_padding(info: Fact, directive: Fact, kernel: Kernel) -> bool:
    """True if the difference is XNACK's SGPRs, which only the assembler of LLVM up to 16 adds."""
    if kernel.target is None or (info.source, directive.source) != ("kernel-info", "directive"):
        return False
    sgprs = kernel.target.sgprs
    padded = align(info.value + sgprs.with_xnack, max(sgprs.encoding_granule, 1))
    return info.name == "reserved_sgprs" and info.value < directive.value <= padded


def _assembled(directive: Fact, kernel: Kernel, compiled: Occupancy) -> Iterator[Remark]:
    """A note if the assembled object has another occupancy than the compiled one."""
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
