"""Instructions -> their number by class."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Literal, get_args

from kernelinfo.kernel.code_object import InstructionCounts
from kernelinfo.pressure.classes import InstructionClass, bytes_of
from kernelinfo.pressure.listing import Instruction

_CLASSES: tuple[InstructionClass, ...] = get_args(InstructionClass)
_MOVES = ("load", "store")
_SPILLS = ("Spill", "Reload")
_FIELD = 64  # bits of each number of a tally
_FIELDS = Struct(f"<{len(_CLASSES) + 2 * len(_MOVES) + len(_SPILLS)}Q")
"""Numbers of a tally: instructions of each class; bytes that loads and stores move; loads and
stores of unknown width; spill stores and reloads."""


def class_of(one: Instruction) -> InstructionClass:
    """The class of an instruction. A buffer access that LLVM's comment calls a spill is scratch."""
    found = one.effect.instruction_class
    return "scratch" if one.spill and found in _MOVES else found


def counted(instructions: Iterable[Instruction]) -> InstructionCounts:
    """Counts of the instructions; comments are left out."""
    return untallied(sum(tallies(instructions)))[0]


def tallies(instructions: Iterable[Instruction]) -> list[int]:
    """A tally of each instruction; 0 for a comment.

    A tally is many numbers in one integer, so those of many instructions are added at once.
    """
    found: list[int] = []
    known: dict[tuple[InstructionClass, str, str | None], int] = {}
    for one in instructions:
        kind = one.effect.instruction_class, one.effect.mnemonic, one.spill
        if kind not in known:
            known[kind] = _tally(class_of(one), one.effect.mnemonic, one.spill)
        found.append(known[kind] if one.text else 0)
    return found


def _tally(
    instruction_class: InstructionClass, mnemonic: str, spill: Literal["Spill", "Reload"] | None
) -> int:
    numbers = [0] * (_FIELDS.size * 8 // _FIELD)
    numbers[_CLASSES.index(instruction_class)] = 1
    if instruction_class in _MOVES:
        at, size = len(_CLASSES) + _MOVES.index(instruction_class), bytes_of(mnemonic)
        numbers[at if size is not None else at + len(_MOVES)] = 1 if size is None else size
    if spill:
        numbers[len(_CLASSES) + 2 * len(_MOVES) + _SPILLS.index(spill)] = 1
    return int.from_bytes(_FIELDS.pack(*numbers), "little")


def untallied(tally: int) -> tuple[InstructionCounts, int, int]:
    """The instruction counts of a sum of tallies, and its spill stores and reloads."""
    *classes, loaded, stored, loads, stores, spills, reloads = _FIELDS.unpack(
        tally.to_bytes(_FIELDS.size, "little")
    )
    moved = (None if loads else loaded, None if stores else stored)
    return InstructionCounts._make((sum(classes), *classes, *moved)), spills, reloads
