"""Counts of instructions by class as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence

from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.render.paint import percent

HEADINGS = InstructionCounts._make(
    (
        *("instr", "vector", "matrix", "scalar", "LDS", "load", "store", "atomic", "s_load"),
        *("scratch", "branch", "wait", "barrier", "copy", "other", "load B", "store B"),
    )
)
"""Heading of each count."""


def columns(counts: Sequence[InstructionCounts]) -> list[tuple[str, ...]]:
    """Columns, each a heading and a cell for each of `counts`.

    A class without an instruction in any row has no column. ? is an unknown number of bytes. The
    matrix share is matrix / (vector + matrix).
    """
    found = [
        (str(heading), *("?" if value is None else str(value) for value in values))
        for heading, *values in zip(HEADINGS, *counts, strict=True)
        if any(value != 0 for value in values)
    ]
    if any(one.matrix for one in counts):
        found.append(("matrix share", *(percent(100 * one.matrix_share) for one in counts)))
    return found
