"""One row for each kernel that moved, is gone or new; each number as it was and as it is."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.csv import line
from kernelinfo.render.diff.rows import Row, rows
from kernelinfo.render.names import styled

_COLUMNS = tuple(number.column for number in NUMBERS)
_SIDES = ("Old", "New")


def render(comparison: Comparison, view: View) -> Iterator[str]:
    """Empty cells are what the build does not say, or does not have."""
    of_sides = ("Kernel_Name", "Symbol", "Target", "Code_Object", *_COLUMNS)
    yield line(["Status", "Match", "Why", *(f"{s}_{name}" for name in of_sides for s in _SIDES)])
    for row in rows(comparison):
        yield line(_cells(row, view))


def _cells(row: Row, view: View) -> list[object]:
    sides = [side(kernel, view) for kernel in (row.old, row.new)]
    pairs = zip(*sides, strict=True)
    return [row.status, row.match, row.why, *(value for pair in pairs for value in pair)]


def side(kernel: KernelSummary | None, view: View) -> list[object]:
    """Names, target, code object and numbers of a kernel in one build."""
    if kernel is None:
        return [None] * (4 + len(_COLUMNS))
    return [
        styled(kernel.name, kernel.symbol, view.names),
        styled(kernel.name, kernel.symbol, "mangled"),
        kernel.target,
        kernel.code_object,
        *(getattr(kernel, number.field) for number in NUMBERS),
    ]
