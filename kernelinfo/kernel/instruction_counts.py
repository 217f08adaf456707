"""Instructions of a kernel, a loop or a source line, counted by class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class InstructionCounts(NamedTuple):
    """Number of instructions of each class. The 14 classes add up to `instructions`.

    `kernelinfo explain instructions` names the mnemonics of each class.
    """

    instructions: int  # number of all; the 14 classes add up to it
    vector: int
    matrix: int
    scalar: int
    lds: int
    loads: int
    stores: int
    atomics: int
    scalar_loads: int
    scratch: int
    branches: int
    waits: int
    barriers: int
    copies: int
    other: int
    load_bytes: int | None
    """Bytes that one lane loads if every load runs once; None if a load does not say its width."""
    store_bytes: int | None
    """Bytes that one lane stores if every store runs once; None if a store does not say its
    width."""

    @property
    def matrix_share(self) -> float:
        """Matrix instructions / (vector + matrix); 0 without either."""
        return self.matrix / (self.vector + self.matrix or 1)


NONE = InstructionCounts._make([0] * len(InstructionCounts._fields))
"""Counts of no instructions."""


def total(parts: Iterable[InstructionCounts]) -> InstructionCounts:
    """The sum of the parts. Bytes are None if one part does not know them."""
    columns = zip(NONE, *parts, strict=True)
    return InstructionCounts._make([None if None in column else sum(column) for column in columns])
