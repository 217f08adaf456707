"""KI004."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.placement import align
from kernelinfo.reading.facts import Fact
from kernelinfo.rules.remark import Remark


def sources_disagree(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Descriptor, metadata and Kernel info say different things of one kernel.

    What it finds: two sources that should agree and do not, beyond the compiler's known padding.
    Why it matters: the file was edited, assembled by hand, or damaged; tools that read another
    source report other numbers. The hardware obeys the descriptor, and so does this report.
    What to do: rebuild the file, or correct the metadata of hand-written assembly.
    """
    for chosen, other in kernel.disagreements:
        if not _come_to_the_same(chosen, other, kernel):
            said = f"{_said(chosen, kernel)}, but {_said(other, kernel)}"
            yield Remark(f"{said}; the first counts")


def _come_to_the_same(one: Fact, other: Fact, kernel: Kernel) -> bool:
    """Register counts that the hardware rounds to one number."""
    if kernel.target is None or {one.name, other.name} != {"reserved_sgprs"}:
        return False
    granule = kernel.target.sgprs.granule
    return align(one.value, granule) == align(other.value, granule)


def _said(fact: Fact, kernel: Kernel) -> str:
    line = kernel.line_of(fact)
    place = "" if line is None else f" (line {line})"
    return f"{fact.source} says {fact.name} {fact.value}{place}"
