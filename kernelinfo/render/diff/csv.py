"""CSV of a comparison: one row per moved, gone or new kernel, with old and new numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS, Column
from kernelinfo.render import View
from kernelinfo.render.csv import line
from kernelinfo.render.diff.rows import rows
from kernelinfo.render.names import name_of

_NAMES = ("Kernel_Name", "Symbol", "Target", "Code_Object")
_SIDES = ("Old", "New")


def render(comparison: Comparison, view: View) -> Iterator[str]:
    """The rows. A cell is empty if the build does not state it or lacks the kernel."""
    numbers = (*NUMBERS, *(INSTRUCTIONS if view.instructions else ()))
    of_sides = (*_NAMES, *(number.name for number in numbers))
    yield line(["Status", "Match", "Why", *(f"{s}_{name}" for name in of_sides for s in _SIDES)])
    for row in rows(comparison):
        pairs = zip(*(side(one, view, numbers) for one in (row.old, row.new)), strict=True)
        yield line([row.status, row.match, row.why, *chain.from_iterable(pairs)])


def side(
    kernel: KernelSummary | None, view: View, numbers: Sequence[Column] = NUMBERS
) -> list[object]:
    """Cells of one build: names, target, code object and numbers of the kernel."""
    if kernel is None:
        return [None] * (len(_NAMES) + len(numbers))
    return [
        name_of(kernel, view.names),
        name_of(kernel, "mangled"),
        kernel.target,
        kernel.code_object,
        *(getattr(kernel.numbers, number.field) for number in numbers),
    ]
