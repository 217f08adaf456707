"""One function: its flow, loops, locations and live registers.

A register is live if it may have been written and may still be read.
"""

from __future__ import annotations

import posixpath
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

from kernelinfo.pressure import rules
from kernelinfo.pressure.flow import may_be_written, needed_from, read_flow
from kernelinfo.pressure.instructions import effect, operation
from kernelinfo.pressure.listing import (
    ENDS,
    IMPLICIT_DEF,
    RUNS_ON,
    UNKNOWN,
    Instruction,
    Listing,
    number,
)
from kernelinfo.pressure.loops import Loop, Loops
from kernelinfo.pressure.registers import NO_REGISTERS, VGPRS, Counts, count, union
from kernelinfo.reading.data import integer
from kernelinfo.reading.facts import SourceLine

UNKNOWN_MODE = "unknown mode of s_set_vgpr_msb"
"""Reason for inexact results: paths with different modes meet."""

_UNKNOWN = -1
_SET = "s_set_vgpr_msb"
_SOURCES, _DESTINATION = (0, 1, 2), 3
"""Fields of the mode, two bits each."""
_COMMENT = re.compile(r"(?<!\s)\s*+/\*[^*]*\*/")
_VGPR = re.compile(r"(?<![\w.$@])v(?:(\d{1,4})(?![\w$@])|\[(\d{1,4})(?::(\d{1,4}))?\])")
_HWREG = re.compile(r"hwreg\((\w+)(?:,(\d{1,2}),(\d{1,2}))?\)")
_MODE_NAMES = ("HW_REG_WAVE_MODE", "HW_REG_MODE", "1")
_FIRST_BIT, _END_BIT = 12, 20
"""Bits of the MODE register that hold the mode, the destination's first."""
_WITHOUT_FIELDS = re.compile(r"v_wmma_ld_scale.*|s_.*|tensor_.*")
_RESULT_FIRST = re.compile(r"t?buffer_|\w*_load_async_to_lds")
"""Instructions whose first operand uses the destination's field, even where it is only read."""
_KNOWN = re.compile(r"(?:v|ds|flat|global|scratch|cluster|t?buffer)_.*")


def with_high_vgprs(listing: Listing) -> Listing:
    """The listing with the whole VGPR numbers that the modes of `s_set_vgpr_msb` select; unchanged
    without such an instruction.

    Has the reason `UNKNOWN_MODE` if it is not known which VGPRs an instruction means.
    """
    if not any(instruction.effect.mnemonic == _SET for instruction in listing.instructions):
        return listing
    code = list(listing.instructions)
    is_commented = any(
        "/*v" in instruction.text and instruction.address is None for instruction in code
    )
    for index, mode in _modes(listing).items():
        if mode != _UNKNOWN:
            code[index] = _selected(code[index], mode)
        elif not is_commented and (code[index].effect.reads | code[index].effect.writes) & VGPRS:
            unknown = code[index].effect._replace(inexact=UNKNOWN_MODE)
            code[index] = code[index]._replace(effect=unknown)
    inexact = (instruction.effect.inexact for instruction in code)
    reasons = dict.fromkeys((*listing.reasons, *filter(None, inexact)))
    return listing._replace(instructions=tuple(code), reasons=tuple(reasons))


def _modes(listing: Listing) -> dict[int, int]:
    """Index of each reachable instruction → the mode before it, or `_UNKNOWN`."""
    _, flow, _ = read_flow(listing)
    begins = {0: 0}
    pending = [0] if flow.block_of else []
    mode_before: dict[int, int] = {}
    while pending:
        number = pending.pop()
        mode = begins[number]
        for index in flow.instructions(number):
            mode_before[index] = mode
            mode = _after(listing.instructions[index], mode)
        for way in flow.after.of(number):
            joined = mode if begins.get(way, mode) == mode else _UNKNOWN
            if begins.get(way) != joined:
                begins[way] = joined
                pending.append(way)
    return mode_before


def _after(instruction: Instruction, mode: int) -> int:
    """The mode after an instruction."""
    mnemonic, operands = instruction.effect.mnemonic, instruction.effect.operands
    if mnemonic == _SET:
        value = number(operands[0])
        return _UNKNOWN if value is None else value & 0xFF
    if not mnemonic.startswith("s_setreg"):
        return mode
    register = _HWREG.fullmatch(operands[0])
    if register and register[1] not in _MODE_NAMES:
        return mode
    end = integer(register[2] or "0") + integer(register[3] or "32") if register else 32
    value = number(operands[-1]) if mnemonic.startswith("s_setreg_imm32") else None
    if value is None:
        return mode if end <= _FIRST_BIT else _UNKNOWN
    bits = value >> _FIRST_BIT & 0xFF
    stated = bits >> 2 | (bits & 3) << 6
    if stated == mode or (register and not integer(register[2] or "0") and end >= _END_BIT):
        return stated
    # Some chips take these bits even if the instruction is for fewer (LLVM, handleSetregMode).
    return _UNKNOWN


def _selected(instruction: Instruction, mode: int) -> Instruction:
    """The instruction with the effect that it has in a mode."""
    if "v" not in instruction.text:
        return instruction
    halves = [
        _with_upper_bits(half, mode) for half in _COMMENT.sub("", instruction.text).split("::")
    ]
    if None in halves:
        return instruction._replace(effect=instruction.effect._replace(inexact=UNKNOWN_MODE))
    return instruction._replace(effect=effect(" :: ".join(filter(None, halves))))


def _with_upper_bits(text: str, mode: int) -> str | None:
    """The text with complete register numbers; None if the operands' fields are unknown."""
    taken, encoding = operation(text)
    written = rules.access(taken, encoding).written
    if _WITHOUT_FIELDS.fullmatch(taken.mnemonic):
        return text
    if not _KNOWN.fullmatch(taken.mnemonic):
        return None if _VGPR.search(text) and mode else text
    operands = [
        operand if field is None else _raised(operand, mode >> 2 * field & 3)
        for operand, field in zip(taken.operands, _fields(taken, written), strict=True)
    ]
    mnemonic = text.split(None, 1)[0]
    return " ".join((mnemonic, ", ".join(operands), *taken.modifiers))


def _fields(taken: rules.Operation, written: tuple[int, ...]) -> list[int | None]:
    """The field of each operand: first the destination's, then the sources' in order; None for an
    operand without a field."""
    if "_store_addtid" in taken.mnemonic:  # has no address, the usual first source
        return [1, *[None] * (len(taken.operands) - 1)]
    first = 0 in written or bool(_RESULT_FIRST.match(taken.mnemonic))
    carry = 1 in written and not _VGPR.match(taken.operands[1])
    sources = iter(_SOURCES)
    return [
        _DESTINATION
        if position == 0 and first
        else None
        if position == 1 and carry
        else next(sources, None)
        for position in range(len(taken.operands))
    ]


def _raised(operand: str, upper: int) -> str:
    """The operand with upper bits added to its VGPR numbers."""

    def whole(match: re.Match[str]) -> str:
        first = integer(match[1] or match[2])
        start = (first & 0xFF) + 256 * upper
        last = start + (integer(match[3]) - first if match[3] else 0)
        return f"v{start}" if match[1] else f"v[{start}:{last}]"

    return _VGPR.sub(whole, operand)


Region = Literal["entry", "before the loop", "in the loop", "after the loop", "elsewhere"]

_TANGLED = "tangled branches"
"""Reason for inexact results: values were followed for `MOST_VISITS` and not to their end."""
_OFF_ITS_END = "its code runs off its end"
_MOST_NAMED = 5  # unknown instructions
_MOST_KNOWN = 1 << 12  # pairs of register sets, 600 bytes each; a loop repeats few


class CodeLocation(NamedTuple):
    """Position of an instruction in its function, its file and its source."""

    number: int  # instructions of the function before it
    line: int | None  # 1-based line of the assembly text; None in a code object
    address: int | None  # bytes, as symbols of the code object count; None in assembly
    source: SourceLine | None  # line of the source; None without debug information
    region: Region  # relative to the loop of interest, mostly the peak's; `elsewhere` without one


def _in_short(reasons: Iterable[str]) -> tuple[str, ...]:
    """Each reason once. Unknown instructions after the first `_MOST_NAMED` are only counted."""
    every = dict.fromkeys(reasons)
    further = [reason for reason in every if reason.startswith(UNKNOWN)][_MOST_NAMED:]
    for reason in further:
        del every[reason]
    return (*every, f"{len(further)} other unknown instructions") if further else tuple(every)


class LiveFunction:
    """A listing with its flow, loops and liveness."""

    def __init__(self, listing: Listing, entry: int, doubts: Sequence[str] = ()) -> None:
        """`entry` is the set of registers that hold a value at function entry; `doubts` are further
        reasons why results may be inexact."""
        listing = with_high_vgprs(listing)
        self.entry = entry
        self.listing = listing
        self.instructions = listing.instructions
        self.flow, self.wave_flow, self.flow_reasons = read_flow(listing)
        self.code = array(
            "I", (i for i, instruction in enumerate(self.instructions) if instruction.is_code)
        )
        """Indices of instructions with code."""
        self.number = array("I", accumulate((s.is_code for s in self.instructions), initial=0))
        """Number of instructions with code before each index; at the end, of all."""
        self._reads, self._writes, self._defines = self._block_effects()
        self._written = may_be_written(self.flow, self._defines, entry)
        """Registers that may have been written before each block."""
        self.needed, is_settled = needed_from(self.flow, self._reads, self._writes)
        """Registers that each block or a later one may read before writing them."""
        tangled = () if is_settled else (_TANGLED,)
        is_told = any(reason.startswith(RUNS_ON) for reason in listing.reasons)
        beyond = (_OFF_ITS_END,) if self._runs_off_its_end() and not is_told else ()
        every = (*listing.reasons, *doubts, *self.flow_reasons, *beyond, *tangled)
        self.reasons = _in_short(every)
        """Reasons why the live registers are a lower bound; empty if they are exact."""

    def _runs_off_its_end(self) -> bool:
        """True if control may run past the last instruction."""
        if not self.code:
            return False
        last = self.code[-1]
        ends = self.instructions[last].effect.mnemonic.startswith(ENDS)
        return not ends and self.flow.is_reached(self.block_of(last))

    def _block_effects(self) -> tuple[list[int], list[int], list[int]]:
        """Registers that each block reads first, writes, and writes with a defined value."""
        reads_of, writes_of, defines_of = list[int](), list[int](), list[int]()
        for block in range(self.size):
            reads = writes = defines = 0
            for index in reversed(self.flow.instructions(block)):
                effect = self.instructions[index].effect
                if effect.writes:
                    writes = writes | effect.writes if writes else effect.writes
                    if effect.mnemonic != IMPLICIT_DEF:
                        defines = defines | effect.writes if defines else effect.writes
                    reads &= ~effect.writes
                reads = reads | effect.reads if reads else effect.reads
            reads_of.append(reads)
            writes_of.append(writes)
            defines_of.append(defines)
        return reads_of, writes_of, defines_of

    @property
    def size(self) -> int:
        """Number of blocks."""
        return len(self.flow.firsts) - 1

    def live_in(self, block: int) -> int:
        """Registers live at the begin of a block; none if it is unreachable."""
        return self.needed[block] & self._written[block] if self.flow.is_reached(block) else 0

    def live(self, block: int) -> Iterator[tuple[int, int, int]]:
        """For each instruction of a reachable block, last one first: its index, and the registers
        live before and after it."""
        instructions, indices = self.instructions, self.flow.instructions(block)
        written = self._written[block]
        grown: list[tuple[int, int]] = []  # (index, set before it) where the set grows
        if self._defines[block] & ~written:
            for index in indices:
                effect = instructions[index].effect
                if effect.writes & ~written and effect.mnemonic != IMPLICIT_DEF:
                    grown.append((index, written))
                    written |= effect.writes
        needed = 0
        for way in self.flow.after.of(block):
            needed = needed | self.needed[way] if needed else self.needed[way]
        for index in reversed(indices):
            effect = instructions[index].effect
            after = needed & written | effect.writes
            if grown and grown[-1][0] == index:
                written = grown.pop()[1]
            needed = needed & ~effect.writes | effect.reads
            yield index, needed & written, after

    def live_at(self, index: int) -> tuple[int, int]:
        """Registers live before and after an instruction; none if it is unreachable."""
        block = self.block_of(index)
        live = self.live(block) if self.flow.is_reached(block) else ()
        return next(
            ((before, after) for position, before, after in live if position == index), (0, 0)
        )

    @cached_property
    def counts(self) -> list[Counts]:
        """The number of live registers of each class at each instruction, before or after it,
        whichever is larger; zeros if it is unreachable. Register sets are dropped block by
        block."""
        counted = [NO_REGISTERS] * len(self.instructions)
        by_sets: dict[tuple[int, int], Counts] = {(0, 0): NO_REGISTERS}
        shared = {NO_REGISTERS: NO_REGISTERS}
        last, of_last = 0, NO_REGISTERS  # set before the instruction counted last
        for block in filter(self.flow.is_reached, range(self.size)):
            for index, before, after in self.live(block):
                counts = by_sets.get((before, after))
                if counts is None:
                    counts = of_last if after == last else count(after)
                    last, of_last = before, counts if before == after else count(before)
                    if before != after:
                        counts = Counts(*map(max, counts, of_last))
                    counts = shared.setdefault(counts, counts)
                    if len(by_sets) == _MOST_KNOWN:
                        by_sets.clear()
                    by_sets[before, after] = counts
                counted[index] = counts
        return counted

    def code_of(self, block: int) -> Sequence[int]:
        """Indices of the instructions of a block that have code."""
        indices = self.flow.instructions(block)
        return self.code[self.number[indices.start] : self.number[indices.stop]]

    def block_of(self, index: int) -> int:
        """The block of an instruction."""
        return self.flow.block_of[index]

    @cached_property
    def loops(self) -> Loops:
        """Loops of the wave as a whole. Paths of inactive lanes make no loops."""
        return Loops(self.wave_flow)

    def loop_around(self, index: int) -> Loop | None:
        """The innermost loop around an instruction; None outside loops."""
        return self.loops.around(self.block_of(index))

    def loops_around(self, loop: Loop | None) -> Iterator[Loop]:
        """A loop and those around it, innermost first."""
        while loop:
            yield loop
            loop = None if loop.parent is None else self.loops[loop.parent]

    def touched_in(self, blocks: Sequence[int]) -> tuple[int, int]:
        """The registers that any of these blocks reads before it writes them itself, and the
        registers that any of them writes."""
        if len(blocks) == 1:
            return self._reads[blocks[0]], self._writes[blocks[0]]
        reads, writes = map(self._reads.__getitem__, blocks), map(self._writes.__getitem__, blocks)
        return union(reads), union(writes)

    def label(self, block: int) -> str | None:
        """The first label of a block; None without labels."""
        return next(iter(self.labels[block]), None)

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """Labels of each block."""
        labels_at: dict[int, list[str]] = defaultdict(list)
        for label, index in self.listing.labels.items():
            labels_at[index].append(label)
        return [tuple(labels_at.get(first, ())) for first in self.flow.firsts[:-1]]

    def location(self, index: int, loop: Loop | None = None) -> CodeLocation:
        """The location relative to a loop. A comment gets the location of the next instruction."""
        number = self.number[index]
        if number < len(self.code):
            index = self.code[number]
        instruction = self.instructions[index]
        return CodeLocation(
            number,
            instruction.line,
            instruction.address,
            instruction.source,
            self._region(index, loop),
        )

    def _region(self, index: int, loop: Loop | None) -> Region:
        if loop is None:
            return "elsewhere"
        block, order = self.block_of(index), self._order
        if self.loops.holds(loop, block):
            return "in the loop"
        return "before the loop" if order[block] > order[loop.header] else "after the loop"

    @cached_property
    def _order(self) -> array[int]:
        """Position of each block in postorder. A block that runs before a loop has a higher
        position than the loop's header, wherever it is in the text."""
        order = array("i", [-1]) * self.size
        for position, block in enumerate(self.flow.order):
            order[block] = position
        return order

    def at_line(self, line: int) -> int | None:
        """Index of the first instruction on a line of the assembly; None if it has none."""
        return next((index for index in self.code if self.instructions[index].line == line), None)

    def line_near(self, line: int) -> int | None:
        """The nearest assembly line that has an instruction; None without lines."""
        lines = (self.instructions[index].line for index in self.code)
        numbers = [number for number in lines if number is not None]
        return min(numbers, key=lambda number: (abs(number - line), number), default=None)

    def files_with_line(self, line: int) -> list[str]:
        """Source files, without folders, that have an instruction on the line."""
        sources = (self.instructions[index].source for index in self.code)
        files = (source.file for source in sources if source and source.line == line)
        return sorted({posixpath.basename(file) for file in files})

    def at_source(self, file: str, line: int) -> int | None:
        """Index of the reachable instruction with the most live vector registers on a source line;
        None if the line has no reachable instruction. `file` may lack leading folders."""
        candidates = [
            (sum(self.counts[index][:2]), -index)
            for index in self.code
            if (source := self.instructions[index].source) and source.line == line
            if f"/{source.file}".endswith(f"/{file}") and self.flow.is_reached(self.block_of(index))
        ]
        return -max(candidates)[1] if candidates else None
