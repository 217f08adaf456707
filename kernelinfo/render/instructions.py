"""Counts of instructions by class as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence

from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.render.paint import aligned, cells, percent

HEADINGS = InstructionCounts._make(
    (
        *("instr", "vector", "matrix", "scalar", "LDS", "load", "store", "atomic", "s_load"),
        *("scratch", "branch", "wait", "barrier", "copy", "other", "load B", "store B"),
    )
)
"""Heading of each count."""
_SHARE = "matrix share"
"""Heading of matrix / (vector + matrix)."""


def columns(counts: Sequence[InstructionCounts]) -> list[tuple[str, ...]]:
    """Columns, each a heading and a cell for each of `counts`.

    A class without an instruction in any row has no column. ? is an unknown number of bytes.
    """
    found = [
        (str(heading), *("?" if value is None else str(value) for value in values))
        for heading, *values in zip(HEADINGS, *counts, strict=True)
        if any(value != 0 for value in values)
    ]
    if any(one.matrix for one in counts):
        found.append((_SHARE, *(percent(100 * one.matrix_share) for one in counts)))
    return found


def within(
    width: int, labels: Sequence[Sequence[str]], numbers: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Tables as lines, each at most `width` columns wide if possible.

    `labels` and `numbers` are columns. The labels stand in front of each table.
    """
    tables: list[list[str]] = []
    shown: list[Sequence[str]] = []
    for column in (*numbers, None):
        lines = _table(labels, [*shown, column] if column else shown)
        if shown and (column is None or cells(lines[0]) > width):
            tables.append(_table(labels, shown))
            shown = []
        if column:
            shown.append(column)
    return tables


def _table(labels: Sequence[Sequence[str]], numbers: Sequence[Sequence[str]]) -> list[str]:
    rows = list(zip(*labels, *numbers, strict=True))
    return [f" {line}" for line in aligned(rows, "t" * len(labels) + "n" * len(numbers))]
