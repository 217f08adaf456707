"""CSV of a comparison: one row per moved, gone or new kernel, with old and new numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS, Column
from kernelinfo.render import View
from kernelinfo.render.diff.rows import rows
from kernelinfo.render.names import name_of
from kernelinfo.render.tables import WRITERS, Table

_NAMES = ("Kernel_Name", "Symbol", "Target", "Code_Object")


def render(comparison: Comparison, view: View) -> Iterator[str]:
    """The rows. What a build does not state, or has no kernel for, is an empty cell."""
    numbers = (*NUMBERS, *(INSTRUCTIONS if view.instructions else ()))
    of_sides = (*_NAMES, *(number.name for number in numbers))
    both = (f"{side}_{name}" for name in of_sides for side in ("Old", "New"))
    pairs = (
        (row, zip(*(side(one, view, numbers) for one in (row.old, row.new)), strict=True))
        for row in rows(comparison)
    )
    values = ((row.status, row.match, row.why, *chain(*pair)) for row, pair in pairs)
    return WRITERS["csv"](Table(("Status", "Match", "Why", *both), values), view)


def side(
    kernel: KernelSummary | None, view: View, numbers: Sequence[Column] = NUMBERS
) -> list[object]:
    """Values of one build: names, target, code object and numbers; None without a kernel."""
    if kernel is None:
        return [None] * (len(_NAMES) + len(numbers))
    return [
        name_of(kernel, view.names),
        name_of(kernel, "mangled"),
        kernel.target,
        kernel.code_object,
        *(getattr(kernel.numbers, number.field) for number in numbers),
    ]
