"""Roles of live vector registers: what their values are for, by the code that writes and reads
them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from heapq import heappop, heappush
from typing import Literal

from kernelinfo.pressure import rules
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import InstructionEffect, operation
from kernelinfo.pressure.instructions import effect as effect_of
from kernelinfo.pressure.listing import Instruction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.registers import AGPRS, VGPRS, each, named, union, whole

_BLOCK_STEPS = 4


class ValueTrace:
    """A trace through the blocks in which the sought registers are live, nearest first."""

    def __init__(self, function: LiveFunction, loop: Loop | None, steps: int) -> None:
        """`loop` is the innermost loop around the start of the trace."""
        self._function = function
        self._heads = {around.header for around in function.loops_around(loop)}
        self.left = steps
        """Steps that may still be taken: one for an instruction, `_BLOCK_STEPS` for a block. 0 if
        the trace was cut short."""

    def follow(
        self,
        sought: int,
        block: int,
        indices: range,
        look: Callable[[range, int, int, bool], tuple[int, int]],
        direction: Literal[1, -1],
    ) -> None:
        """Visit `indices` of a block, then other blocks.

        `look(indices, distance, sought, is_later)` records accesses; `is_later` is True in a later
        iteration of a loop around the start. `look` returns the registers that are still sought,
        and the distance after the last index.
        """
        function = self._function
        starts, ways = function.flow.after if direction == 1 else function.flow.before
        is_later, (sought, distance) = False, look(indices, 0, sought, False)
        seen: dict[int, int] = {}
        pending: list[tuple[int, bool, int]] = []
        coming: dict[tuple[int, bool, int], int] = {}
        """Distance, `is_later` and block that are pending → registers sought there."""
        while self.left:
            if direction == -1:
                sought = self._live(sought, block)
            for way in ways[starts[block] : starts[block + 1]] if sought else ():
                before = seen.get(way, 0)
                new = sought & ~before
                if new and direction == 1:
                    new = self._live(new, way)
                if new and function.flow.is_reached(way):
                    seen[way] = before | new
                    visit = distance, is_later or way in self._heads, way
                    if visit not in coming:
                        heappush(pending, visit)
                    coming[visit] = coming.get(visit, 0) | new
            if not pending:
                return
            visit = distance, is_later, block = heappop(pending)
            sought = coming.pop(visit)
            indices = function.flow.instructions(block)
            self.left = max(self.left - _BLOCK_STEPS, 0)
            reads, writes = function.touched_in((block,))
            if sought & (reads | writes):
                self.left = max(self.left - len(indices), 0)
                sought, distance = look(indices[::direction], distance, sought, is_later)
            else:
                distance += len(indices)

    def _live(self, sought: int, block: int) -> int:
        """The sought registers that are live at the beginning of a block; usually all of them."""
        live = self._function.live_in(block)
        return sought & whole(live) if sought & ~live else sought


MOST_STEPS = 100_000
"""Most steps for the uses of one instruction's values, and for the sums of a loop."""
_LOADS = ("load", "scratch")
_LOADING = re.compile(r"ds_(?:read|load)|\w+_atomic_")
"""Other instructions whose result comes from memory, if they have one."""
_TO_C = ("v_fma_", "v_fmamk", "v_mad_", "v_madmk", "v_pk_fma_", "v_dot2_", "v_dot4_", "v_dot8_")
_TO_ANY = ("v_add_", "v_sub_", "v_subrev_", "v_pk_add_")
"""Floating-point instructions that add to operand C, or to any operand; the sum may be in another
register."""
_FLOATING = re.compile(r"v_(?:dot\w|\w+?_(?:bf16|f16|f32|f64)(?:_|\Z))")

_Sum = tuple[int, int, int]
"""An instruction, registers that it writes, and those whose values it copies or adds to."""
Use = Literal["sum", "fragment", "address", "lane", "other"]
"""What an instruction reads a register as: operand C of a matrix instruction, another of its
operands, an address, lanes that hold SGPRs, or anything else."""


def note_uses(
    instruction: Instruction, sought: int, uses: dict[Use, int], copies: dict[int, int]
) -> None:
    """Record how an instruction uses the sought registers. `uses` gets the registers by use,
    `copies` maps a register to those into which it is copied.

    Changing a register in place does not count as a use.
    """
    effect = instruction.effect
    touched = whole(effect.reads & sought) & ~changed(instruction)
    if not touched:
        return
    if effect.instruction_class == "copy":
        for register in each(touched):
            copies[register] |= whole(effect.writes)
    elif effect.instruction_class == "matrix":
        sums = touched & _special(instruction.text, True)
        uses["sum"] |= sums
        uses["fragment"] |= touched & ~sums
    elif effect.mnemonic == "v_readlane_b32":
        uses["lane"] |= touched
    else:
        addresses = touched & _special(instruction.text, False)
        uses["address"] |= addresses
        uses["other"] |= touched & ~addresses


def changed(instruction: Instruction) -> int:
    """The registers that a non-matrix instruction changes in place."""
    effect = instruction.effect
    is_matrix = effect.instruction_class == "matrix"
    return 0 if is_matrix else whole(effect.reads & effect.writes)


@lru_cache(maxsize=1 << 10)
def _special(text: str, is_sum: bool) -> int:
    """With `is_sum`, the registers of operand C of a matrix instruction or FMA; otherwise those of
    the memory address."""
    taken, encoding = operation(text)
    position = rules.sum_operand(taken) if is_sum else rules.address(taken, encoding)
    if position is None:
        return 0
    return whole(named("".join(taken.operands[position : position + 1])))


def closure(registers: int, copies: Mapping[int, int]) -> int:
    """The registers, and all registers that their values are copied to."""
    before = 0
    while registers != before:
        before = registers
        registers |= union(copies[register] for register in each(registers) if register in copies)
    return registers


def is_load(instruction: Instruction) -> bool:
    """True if the result of an instruction comes from memory."""
    effect = instruction.effect
    return effect.instruction_class in _LOADS or bool(_LOADING.match(effect.mnemonic))


def sums_of(function: LiveFunction, loop: Loop, start: int) -> tuple[int, dict[int, int]]:
    """The sums of a loop, in the form of `LiveRegisters._sums`: values that each iteration hands to
    the next by additions and copies, possibly in other registers.

    The code of the loop is visited once, in flow order; a branch counts as taken both ways.
    """
    blocks = [n for n in reversed(function.flow.order) if function.loops.holds(loop, n)]
    changed = function.live_in(loop.header) & function.touched_in(blocks)[1]
    held, added, moved = changed & (VGPRS | AGPRS), 0, 0
    """Registers whose values come from registers at the loop header; those to whose value something
    was added; those that were overwritten by such a value since the header."""
    steps: list[_Sum] = []
    for block in blocks:
        for index in function.flow.instructions(block):
            instruction = function.instructions[index]
            if index == start:
                steps.append((index, 0, 0))
            if not instruction.effect.reads & held:
                held &= ~instruction.effect.writes
                continue
            for text, effect in _halves(instruction):
                carried, into = _carried(text, effect, held, moved), effect.writes
                if carried and len(steps) < MOST_STEPS:
                    steps.append((index, into, carried))
                    held |= into
                    moved |= into
                    is_sum = effect.instruction_class != "copy" or carried & added
                    added = added | into if is_sum else added & ~into
                else:
                    held &= ~into
    sums = changed & held & added
    at_head, at_start, written = _traced(steps, sums, start)
    if sums & ~at_head:
        _, at_start, written = _traced(steps, sums & at_head, start)
    return at_start, written


def _traced(steps: list[_Sum], sums: int, start: int) -> tuple[int, int, dict[int, int]]:
    """Trace the values of the sum registers `sums` backwards through one iteration.

    Returns masks of the registers that hold these values at the loop header and at `start`, and for
    each instruction that writes such values: its index -> mask of the registers that it writes.
    """
    at_start, written = 0, defaultdict[int, int](int)
    for index, into, carried in reversed(steps):
        if index == start:
            at_start |= sums
        if into & sums:
            written[index] |= into & sums
            sums = sums & ~into | carried
        if index == start:
            at_start |= sums
    return sums, at_start, written


def _halves(instruction: Instruction) -> Iterable[tuple[str, InstructionEffect]]:
    """The two halves of a dual instruction; any other instruction whole."""
    if "::" not in instruction.text:
        return ((instruction.text, instruction.effect),)
    return ((half, effect_of(half)) for half in instruction.text.split("::"))


def _carried(text: str, effect: InstructionEffect, held: int, moved: int) -> int:
    """The registers of `held` whose values an instruction copies or adds to. The result may be in
    another register. If an FMA overwrites a factor, for example to scale a sum, the factor counts
    unless it is in `moved`."""
    if effect.instruction_class == "copy":
        return effect.reads & held
    if effect.instruction_class == "matrix":
        return _special(text, True) & held
    mnemonic, read = effect.mnemonic, effect.reads & held
    if effect.instruction_class != "vector" or not _FLOATING.match(mnemonic):
        return 0
    changed = read & effect.writes
    if mnemonic.startswith(_TO_C):
        if "/*" in text:
            return _special(text, True) & held or changed & ~moved
        addend = "".join(text.split(",", 4)[3:4])  # takes a tenth of the time
        return named(addend) & held or changed & ~moved
    return changed or (read if mnemonic.startswith(_TO_ANY) else 0)
