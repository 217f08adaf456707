"""Numbers along the code of a function: instructions by class, and live registers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import groupby, islice, pairwise
from struct import Struct
from typing import Literal, NamedTuple, get_args

from kernelinfo.kernel.code_object import InstructionCounts, LoopCounts
from kernelinfo.pressure.function import CodeLocation, LiveFunction
from kernelinfo.pressure.in_flight import far
from kernelinfo.pressure.listing import Instruction
from kernelinfo.pressure.nouns import InFlight
from kernelinfo.pressure.registers import Counts, each, ranges, union, whole
from kernelinfo.pressure.rules import InstructionClass, bytes_of

_CLASSES: tuple[InstructionClass, ...] = get_args(InstructionClass)
_MOVES = ("load", "store")
_AGPR_COPIES = ("v_accvgpr_read", "v_accvgpr_write")
"""Begins of the mnemonics of copies between VGPRs and AGPRs."""
_SPILLS = ("Spill", "Reload")
_FIELD = 64  # bits of each number of a tally
_FIELDS = Struct(f"<{len(_CLASSES) + 2 * len(_MOVES) + len(_SPILLS) + 2}Q")
"""Numbers of a tally: instructions of each class; bytes that loads and stores move; loads and
stores of unknown width; spill stores and reloads; copies between VGPRs and AGPRs; bytes of code."""
_LONG = ("matrix", "lds", "load", "store", "atomic", "scratch")
"""Classes whose instructions take 8 bytes or more (ISA documents, VOP3P, DS, FLAT, MUBUF, MTBUF,
MIMG). Instructions of other classes may take 4, as may LDSDIR."""
_LDS_DIRECT = "lds_"
_SIZE = (_FIELDS.size - 8) * 8
"""Bits before the bytes of code in a tally."""
MOST_LOOPS = 64
"""Loops of a kernel that are counted."""


def class_of(instruction: Instruction) -> InstructionClass:
    """The class of an instruction. A buffer access that LLVM's comment calls a spill is scratch."""
    instruction_class = instruction.effect.instruction_class
    return "scratch" if instruction.spill and instruction_class in _MOVES else instruction_class


def loop_counts(
    function: LiveFunction, tallies: Sequence[int], in_flight: Mapping[int, tuple[InFlight, ...]]
) -> tuple[LoopCounts, ...]:
    """Counts of the loops of a function, each before those inside it. Of more than `MOST_LOOPS`,
    loops with matrix instructions are kept first, then the largest. `tallies` holds the tally of
    each instruction; `in_flight` is what `WaitFlow.report` returns."""
    loops, firsts = function.loops, function.flow.firsts
    if not len(loops):
        return ()
    in_block = [sum(tallies[begin:end]) for begin, end in pairwise(firsts)]

    def tally(blocks: Sequence[int]) -> int:
        return sum(map(in_block.__getitem__, blocks))

    of_loops = loops.gathered(range(len(loops))[::-1], tally, lambda parts: sum(parts))
    mixes = ((position, untallied(total)) for position, total in of_loops)
    largest = nlargest(
        MOST_LOOPS, mixes, key=lambda loop: (loop[1][0].matrix > 0, loop[1][0].instructions)
    )
    made = []
    for position, (counts, _, _, agpr_copies, size) in sorted(largest):
        header, depth, *_ = loops[position]
        header_code = [function.instructions[index] for index in function.code_of(header)]
        source = next((each.source for each in header_code if each.source), None)
        address = header_code[0].address if header_code else None
        label = function.label(header)
        flight = far(in_flight.get(position, ()))
        made.append(LoopCounts(label, source, address, depth, counts, agpr_copies, size, *flight))
    return tuple(made)


def code_sizes(instructions: Sequence[Instruction]) -> list[int]:
    """The bytes of each instruction; a lower bound for assembly, which does not state them.

    0 for comments, and for the last instruction of a code object.
    """
    begins = [instruction.address for instruction in instructions]
    if begins and begins[0] is not None:
        ends = [*begins[1:], begins[-1]]
        return [(end or 0) - (begin or 0) for begin, end in zip(begins, ends, strict=True)]
    return [_least_size(instruction) for instruction in instructions]


def _least_size(instruction: Instruction) -> int:
    mnemonic, text = instruction.effect.mnemonic, instruction.text
    if not text or mnemonic.startswith(_LDS_DIRECT):
        return 4 if text else 0
    is_long = instruction.effect.instruction_class in _LONG or mnemonic.startswith(_AGPR_COPIES)
    return 8 if is_long or "_e64" in text else 4


def tally_instructions(instructions: Sequence[Instruction]) -> list[int]:
    """A tally of each instruction; 0 for a comment.

    A tally is many numbers in one integer, so those of many instructions are added at once.
    """
    each_tally: list[int] = []
    by_kind: dict[tuple[InstructionClass, str, str | None, int], int] = {}
    for instruction, size in zip(instructions, code_sizes(instructions), strict=True):
        mnemonic, spill = instruction.effect.mnemonic, instruction.spill
        kind = instruction.effect.instruction_class, mnemonic, spill, size
        if kind not in by_kind:
            by_kind[kind] = _tally(class_of(instruction), mnemonic, spill) + (size << _SIZE)
        each_tally.append(by_kind[kind] if instruction.text else 0)
    return each_tally


def _tally(
    instruction_class: InstructionClass, mnemonic: str, spill: Literal["Spill", "Reload"] | None
) -> int:
    numbers = [0] * (_FIELDS.size * 8 // _FIELD)
    numbers[_CLASSES.index(instruction_class)] = 1
    if instruction_class in _MOVES:
        position, size = len(_CLASSES) + _MOVES.index(instruction_class), bytes_of(mnemonic)
        numbers[position if size is not None else position + len(_MOVES)] = (
            1 if size is None else size
        )
    if spill:
        numbers[len(_CLASSES) + 2 * len(_MOVES) + _SPILLS.index(spill)] = 1
    if instruction_class == "copy" and mnemonic.startswith(_AGPR_COPIES):
        numbers[-2] = 1
    return int.from_bytes(_FIELDS.pack(*numbers), "little")


def untallied(tally: int) -> tuple[InstructionCounts, int, int, int, int]:
    """What a sum of tallies holds: instruction counts, spill stores and reloads, copies between
    VGPRs and AGPRs, and bytes of code."""
    *classes, loaded, stored, loads, stores, spills, reloads, copies, size = _FIELDS.unpack(
        tally.to_bytes(_FIELDS.size, "little")
    )
    moved = (None if loads else loaded, None if stores else stored)
    counts = InstructionCounts._make((sum(classes), *classes, *moved))
    return counts, spills, reloads, copies, size


_MOST_POINTS = 2000
"""Points of a curve. A screen has fewer columns."""


class PressurePoint(NamedTuple):
    """A point of the curve.

    If several instructions share a point, it has the numbers of the one with the most live vector
    registers.
    """

    at: CodeLocation
    counts: Counts
    instruction: str
    instruction_class: InstructionClass
    spills: int  # spill stores and reloads that share the point


class LiveSpan(NamedTuple):
    """Registers that are live from one point to another, but not at the points just before and
    after."""

    first: int
    last: int
    registers: tuple[str, ...]


class Curve(NamedTuple):
    """Points in the order of the text, and the spans along them."""

    points: tuple[PressurePoint, ...]
    spans: tuple[LiveSpan, ...]  # by index of point
    variables: tuple[tuple[str, LiveSpan], ...]
    """Source variables, each with registers that hold it, live or not; empty if no compiler comment
    names one."""


def curve(function: LiveFunction, limit: int = _MOST_POINTS) -> Curve:
    """The curve of a function, with at most `limit` points."""
    code, counts = function.code, function.counts
    size = -(-len(code) // limit) or 1
    shares = [code[i : i + size] for i in range(0, len(code), size)]
    highest = [max(share, key=lambda index: sum(counts[index][:2])) for share in shares]
    points = tuple(_point(function, *both) for both in zip(shares, highest, strict=True))
    return Curve(points, _spans(function, highest), _variables(function, highest))


def _point(function: LiveFunction, share: Sequence[int], index: int) -> PressurePoint:
    spills = sum(function.instructions[other].spill is not None for other in share)
    instruction = function.instructions[index]
    return PressurePoint(
        function.location(index),
        function.counts[index],
        instruction.text,
        class_of(instruction),
        spills,
    )


_MOST_NAMES = 1 << 17
"""Names of registers that a curve has. A kernel of 5,000 instructions has some 3,000."""


def _variables(function: LiveFunction, indices: Sequence[int]) -> tuple[tuple[str, LiveSpan], ...]:
    """The source variables along these instructions."""
    by_ends: dict[tuple[str, int, int], int] = defaultdict(int)
    ends: dict[tuple[int, str], tuple[int, int]] = {}
    """Register and variable → points of their last span."""
    for register, name, begin, end in islice(named_registers(function), _MOST_NAMES):
        first, last = bisect_left(indices, begin), bisect_right(indices, end) - 1
        if first > last:
            continue
        if (register, name) in ends and ends[register, name][1] + 1 >= first:  # in the next block
            by_ends[name, *ends[register, name]] &= ~register
            first = ends[register, name][0]
        by_ends[name, first, last] |= register
        ends[register, name] = first, last
    return tuple(
        (name, LiveSpan(first, last, ranges(registers)))
        for (name, first, last), registers in sorted(by_ends.items())
        if registers
    )


def named_registers(
    function: LiveFunction, block: int | None = None
) -> Iterator[tuple[int, str, int, int]]:
    """(register, variable, first, last) wherever a register holds a source variable by the
    compiler's comments, from the instruction at index `first` to that at `last`, both in one block.
    `register` is a set of one register. Only of one block if `block` is given.

    Copies of an inlined function share their names, so one name may hold several registers. A name
    lasts until its register is overwritten. The compiler repeats the names at the beginning of each
    block.
    """
    stated: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for index, name, registers in function.listing.variables:
        if index < len(function.instructions):
            stated[index].append((name, registers))
    blocks = {function.block_of(index) for index in stated}
    for number in sorted(blocks & {block} if block is not None else blocks):
        names: dict[int, tuple[str, int]] = {}
        for index in function.flow.instructions(number):
            for name, registers in stated.get(index, ()):
                for register in each(registers):
                    if register in names:
                        yield register, *names[register], index - 1
                    names[register] = name, index
            for register in each(function.instructions[index].effect.writes) if names else ():
                if register in names:
                    yield register, *names.pop(register), index
        last = function.flow.instructions(number)[-1]
        yield from ((register, *named, last) for register, named in names.items())


def _spans(function: LiveFunction, indices: Sequence[int]) -> tuple[LiveSpan, ...]:
    """Spans of live registers, by index of point. `indices` holds the index of the instruction of
    each point."""
    by_ends: dict[tuple[int, int], int] = defaultdict(int)
    ended: dict[int, int] = {}
    """Register → last point of its span."""
    live, point = 0, len(indices)
    for now in _live_backwards(function, indices):
        for register in each(live & ~now):
            by_ends[point, ended.pop(register)] |= register
        point -= 1
        ended.update(dict.fromkeys(each(now & ~live), point))
        live = now
    for register in each(live):
        by_ends[point, ended.pop(register)] |= register
    return tuple(LiveSpan(*ends, ranges(registers)) for ends, registers in sorted(by_ends.items()))


def _live_backwards(function: LiveFunction, indices: Sequence[int]) -> Iterator[int]:
    """The set of registers live before or after each of the given instructions, last one first;
    empty for an unreachable instruction."""
    for block, group in groupby(reversed(indices), function.block_of):
        chosen = set(group)
        if function.flow.is_reached(block):
            for index, *live in function.live(block):
                if index in chosen:
                    yield whole(union(live))
        else:
            yield from (0 for _ in chosen)
