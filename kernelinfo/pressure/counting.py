"""Instructions -> their number by class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.pressure.classes import InstructionClass, bytes_of
from kernelinfo.pressure.listing import Instruction

_CLASSES: tuple[InstructionClass, ...] = get_args(InstructionClass)


def class_of(one: Instruction) -> InstructionClass:
    """The class of an instruction. A buffer access that LLVM's comment calls a spill is scratch."""
    found = one.effect.instruction_class
    return "scratch" if one.spill and found in ("load", "store") else found


def counted(instructions: Iterable[Instruction]) -> InstructionCounts:
    """Counts of the instructions; comments are left out."""
    found: dict[tuple[InstructionClass, str], int] = {}
    """Class and mnemonic → number."""
    for one in instructions:
        if one.text:
            kind = class_of(one), one.effect.mnemonic
            found[kind] = found.get(kind, 0) + 1
    classes = dict.fromkeys(_CLASSES, 0)
    for (instruction_class, _), number in found.items():
        classes[instruction_class] += number
    numbers = classes.values()
    moved = _bytes(found, "load"), _bytes(found, "store")
    return InstructionCounts._make((sum(numbers), *numbers, *moved))


def _bytes(
    found: Mapping[tuple[InstructionClass, str], int], instruction_class: InstructionClass
) -> int | None:
    """Bytes that one lane moves; None if a mnemonic does not say."""
    total = 0
    for (other_class, mnemonic), number in found.items():
        if other_class == instruction_class:
            size = bytes_of(mnemonic)
            if size is None:
                return None
            total += size * number
    return total
