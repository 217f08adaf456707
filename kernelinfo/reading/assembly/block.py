"""Statements that stand together in assembly text, once for all the places where they stand."""

from __future__ import annotations

from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.assembly.expressions import number

UINT32 = 0xFFFFFFFF
"""The largest number that a kernel can state."""


class Statement(NamedTuple):
    """One field that a block states, its value as written."""

    field: str
    value: str
    line: int
    """From the one on which its block begins."""


class Block:
    """The same object where the same is stated again."""

    __slots__ = ("is_plain", "statements")

    def __init__(self, statements: list[Statement]) -> None:
        self.statements = statements
        numbers = [number(statement.value) for statement in statements]
        self.is_plain = len({statement.field for statement in statements}) == len(
            statements
        ) and all(value is not None and value <= UINT32 for value in numbers)
        """Each field stands once, and no value needs a symbol: it means the same everywhere."""


class Stated(NamedTuple):
    """A block at one place."""

    block: Block
    line: int
    """1-based, on which it begins: symbols in its values are worth what they are worth there."""
