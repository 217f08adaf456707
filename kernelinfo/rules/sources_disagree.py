"""KI004."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.placement import align
from kernelinfo.reading.facts import Fact
from kernelinfo.rules.remark import Remark, waves_per_simd

_WORDS = {
    "reserved": "allocated", "vgprs": "VGPRs", "agprs": "AGPRs", "sgprs": "SGPRs", "lds": "LDS",
}  # fmt: skip
"""Parts of the names of facts, as messages write them."""


def sources_disagree(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Descriptor, metadata and Kernel info say different things of one kernel.

    What it finds: two sources that should agree and do not, beyond the compiler's known padding; or
    an assembly and a code object of one compilation, as hipcc's --save-temps leaves them.
    LLVM up to 16 leaves XNACK's SGPRs out of code that it compiles, and its assembler reserves
    them: a note, where that changes the occupancy.
    Why it matters: the file was edited, assembled by hand, or damaged; tools that read another
    source report other numbers. The hardware obeys the descriptor, and so does this report.
    What to do: rebuild the file, or correct the metadata of hand-written assembly.
    """
    if kernel.contradiction:
        yield Remark(kernel.contradiction, "one of the files is stale or damaged: build both again")
    for chosen, other in kernel.traits.disagreements:
        if _is_xnack_padding(chosen, other, kernel):
            yield from _assembled(other, kernel, occupancy)
        elif not _come_to_the_same(chosen, other, kernel):
            statements = f"{_statement(chosen, kernel)}, but {_statement(other, kernel)}"
            yield Remark(f"{statements}; the first counts", "build the file again")


def _is_xnack_padding(info: Fact, directive: Fact, kernel: Kernel) -> bool:
    """Whether the assembler adds the SGPRs of XNACK, which LLVM up to 16 leaves out itself."""
    if kernel.target is None or (info.source, directive.source) != ("kernel-info", "directive"):
        return False
    sgprs = kernel.target.sgprs
    most = align(info.value + sgprs.with_xnack, max(sgprs.encoding_granule, 1))
    return info.name == "reserved_sgprs" and info.value < directive.value <= most


def _assembled(directive: Fact, kernel: Kernel, compiled: Occupancy) -> Iterator[Remark]:
    """A note where code that LLVM assembles has another occupancy than code that it compiles."""
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
        yield Remark(
            f"objects assembled from this file run {waves_per_simd(assembled.waves_per_simd)}, "
            f"compiled directly {compiled.waves_per_simd:.4g}: "
            "only the assembler reserves XNACK's SGPRs",
            severity="note",
        )


def _come_to_the_same(one: Fact, other: Fact, kernel: Kernel) -> bool:
    """Register counts that the hardware rounds to one number."""
    if kernel.target is None or {one.name, other.name} != {"reserved_sgprs"}:
        return False
    granule = kernel.target.sgprs.granule
    return align(one.value, granule) == align(other.value, granule)


def _statement(fact: Fact, kernel: Kernel) -> str:
    line = kernel.line_of(fact)
    place = "" if line is None else f" (line {line})"
    noun = " ".join(_WORDS.get(word, word) for word in fact.name.split("_"))
    return f"{fact.source} says {noun} {fact.value}{place}"
