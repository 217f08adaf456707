"""Registers that a kernel reads before anything writes them, on every path that reads them."""

from __future__ import annotations

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import InstructionEffect, operation
from kernelinfo.pressure.listing import KILL, Instruction
from kernelinfo.pressure.liveness import BlockEffects, needed_from
from kernelinfo.pressure.registers import EVERY, named, union, whole
from kernelinfo.pressure.rules import access, is_merging


def unwritten(function: LiveFunction) -> int:
    """The set of registers whose first access on each path from the entry is a read, although the
    kernel's descriptor does not set them up.

    LLVM's `implicit-def` comments count as writes. An instruction that changes a part of a register
    is no reader of the rest. Empty if the code or the entry is not known for certain.
    """
    if function.reasons or function.entry == EVERY or not function.code:
        return 0
    suspects = whole(function.needed[0] & ~whole(function.entry))
    if not suspects:
        return 0
    reads_first, writes_first, touches = list[int](), list[int](), list[int]()
    for block in range(function.size):
        read = written = 0
        for index in function.flow.instructions(block):
            one = function.instructions[index]
            if (one.effect.reads | one.effect.writes) & suspects:
                read |= whole(_reads(one)) & suspects & ~(read | written)
                written |= whole(one.effect.writes) & suspects & ~(read | written)
        reads_first.append(read)
        writes_first.append(written)
        touches.append(read | written)
    graph = function.graph
    first_read, are_all = needed_from(graph, BlockEffects(reads_first, touches, []))
    first_written, are_all_too = needed_from(graph, BlockEffects(writes_first, touches, []))
    return first_read[0] & ~first_written[0] if are_all and are_all_too else 0


def _reads(one: Instruction) -> int:
    """Registers that an instruction reads as a whole."""
    effect: InstructionEffect = one.effect
    if effect.mnemonic == KILL:
        return 0
    if not effect.reads & effect.writes or not one.text:
        return effect.reads
    return union(map(_reads_of_half, one.text.split("::")))


def _reads_of_half(text: str) -> int:
    taken, encoding = operation(text)
    written, kept = access(taken, encoding)
    merged = kept if is_merging(taken) else ()
    return union(
        named(operand)
        for position, operand in enumerate(taken.operands)
        if not operand[:1].isdigit()
        and (position not in written or (position in kept and position not in merged))
    )
