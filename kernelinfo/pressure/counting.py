"""Instructions -> their number by class."""

from __future__ import annotations

from collections import defaultdict
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
    classes: dict[InstructionClass, int] = dict.fromkeys(_CLASSES, 0)
    loads, stores = defaultdict[str, int](int), defaultdict[str, int](int)
    """Mnemonic → number."""
    for one in instructions:
        if not one.is_code:
            continue
        found = class_of(one)
        classes[found] += 1
        if found == "load":
            loads[one.effect.mnemonic] += 1
        elif found == "store":
            stores[one.effect.mnemonic] += 1
    numbers = classes.values()
    return InstructionCounts._make((sum(numbers), *numbers, _bytes(loads), _bytes(stores)))


def _bytes(moved: Mapping[str, int]) -> int | None:
    """Bytes that one lane moves; None if a mnemonic does not say."""
    total = 0
    for mnemonic, number in moved.items():
        size = bytes_of(mnemonic)
        if size is None:
            return None
        total += size * number
    return total
