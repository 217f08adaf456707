"""One function: its flow, loops, locations and live registers.

A register is live if it may have been written and may still be read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from kernelinfo.pressure.flow import components, postorder, predecessors, read_flow
from kernelinfo.pressure.high_vgprs import with_high_vgprs
from kernelinfo.pressure.listing import IMPLICIT_DEF, UNKNOWN, Instruction, Listing
from kernelinfo.pressure.loops import Loop, Loops
from kernelinfo.pressure.nouns import CodeLocation, Region
from kernelinfo.pressure.registers import NO_REGISTERS, Counts, count, union

TANGLED = "tangled loops"
"""Reason for inexact results: values were followed for `MOST_VISITS` and not to their end."""
_MOST_NAMED = 5  # unknown instructions
MOST_VISITS = 16  # of each block, on average; compiled code needs 2


def _in_short(reasons: Iterable[str]) -> tuple[str, ...]:
    """Each reason once. Unknown instructions after the first `_MOST_NAMED` are counted."""
    every = dict.fromkeys(reasons)
    others = [reason for reason in every if reason.startswith(UNKNOWN)][_MOST_NAMED:]
    for reason in others:
        del every[reason]
    return (*every, f"{len(others)} other unknown instructions") if others else tuple(every)


class Live(NamedTuple):
    """Registers live around one instruction, as register sets."""

    before: int
    after: int  # read later, or written by the instruction


class LiveFunction:
    """A listing with its flow, loops and liveness."""

    def __init__(self, listing: Listing, entry: int) -> None:
        """`entry` is the set of registers that hold something at function entry."""
        listing = with_high_vgprs(listing)
        self.listing = listing
        self.instructions = listing.instructions
        self.blocks, reasons = read_flow(listing)
        self.code = array("I", (i for i, one in enumerate(self.instructions) if one.is_code))
        """Indices of instructions with code."""
        self.number = array("I", accumulate((s.is_code for s in self.instructions), initial=0))
        """Number of instructions with code before each index; at the end, of all."""
        self.successors = [block.successors for block in self.blocks]
        self.before = predecessors(self.successors)
        """Predecessors of each block."""
        self.order = postorder(self.successors)
        """Reachable blocks in postorder."""
        groups = list(components(self.order, self.before))
        effects = [self._effects(block) for block in range(len(self.blocks))]
        self._written = self._may_be_written(groups, [one[2] for one in effects], entry)
        """Registers that may have been written before each block."""
        self.needed = [0] * len(self.blocks)
        """Registers that each block or a later one may read before writing them."""
        tangled = () if self._settle_needed(groups, effects) else (TANGLED,)
        self.reasons = _in_short((*listing.reasons, *reasons, *tangled))
        """Reasons why the live registers are a lower bound; empty if they are exact."""

    def _effects(self, block: int) -> tuple[int, int, int]:
        """Registers that a block reads first, writes, and writes with a defined value."""
        reads = ends = begins = 0
        for one in reversed(self.instructions_of(block)):
            effect = one.effect
            if effect.writes:
                ends |= effect.writes
                begins |= _writes(one)
                reads &= ~effect.writes
            reads |= effect.reads
        return reads, ends, begins

    def _may_be_written(
        self, groups: Sequence[Sequence[int]], own: Sequence[int], entry: int
    ) -> list[int]:
        """Registers that may have been written before each block.

        Nothing undoes a write, so all blocks of a group have the same registers.
        """
        begin, end = [0] * len(self.blocks), [0] * len(self.blocks)
        for group in groups:
            earlier = 0 if group[0] else entry
            for block in group:
                for other in self.before[block]:
                    earlier |= end[other]
            if len(group) > 1 or group[0] in self.successors[group[0]]:
                for block in group:
                    earlier |= own[block]
            for block in group:
                begin[block], end[block] = earlier, earlier | own[block]
        return begin

    def _settle_needed(
        self, groups: Sequence[Sequence[int]], effects: Sequence[tuple[int, int, int]]
    ) -> bool:
        """Compute `needed`; False if it took too long and registers are missing."""
        rank, member = [-1] * len(self.blocks), [-1] * len(self.blocks)
        for position, block in enumerate(self.order):
            rank[block] = position
        left = MOST_VISITS * len(self.order) + 1000
        for number, group in enumerate(groups):
            for block in group:
                member[block] = number
        for number in reversed(range(len(groups))):
            sweep, later = sorted(rank[block] for block in groups[number]), list[int]()
            waiting = set(sweep)
            while (sweep or later) and left:
                if not sweep:
                    sweep, later = later, sweep
                    heapify(sweep)
                left -= 1
                position = heappop(sweep)
                waiting.remove(position)
                block = self.order[position]
                needed = 0
                for way in self.successors[block]:
                    needed |= self.needed[way]
                reads, ends, _ = effects[block]
                needed = reads | needed & ~ends
                if needed == self.needed[block]:
                    continue
                self.needed[block] = needed
                for other in self.before[block]:
                    at = rank[other]
                    if member[other] == number and at not in waiting:
                        waiting.add(at)
                        heappush(sweep if at > position else later, at)
        return left > 0

    @cached_property
    def reached(self) -> frozenset[int]:
        """The reachable blocks."""
        return frozenset(self.order)

    def live_in(self, block: int) -> int:
        """Registers live at the begin of a block; none if it is unreachable."""
        return self.needed[block] & self._written[block] if block in self.reached else 0

    def live(self, block: int) -> Iterator[tuple[int, Live]]:
        """Index and live registers of a reachable block's instructions, last one first."""
        first, instructions = self.blocks[block].first, self.instructions_of(block)
        written = self._written[block]
        grown: list[tuple[int, int]] = []  # (index, set before it) where the set grows
        for index, one in enumerate(instructions, first):
            if one.effect.writes and (more := _writes(one) & ~written):
                grown.append((index, written))
                written |= more
        needed = 0
        for way in self.successors[block]:
            needed |= self.needed[way]
        for index in reversed(range(first, first + len(instructions))):
            effect = instructions[index - first].effect
            after = needed & written | effect.writes
            if grown and grown[-1][0] == index:
                written = grown.pop()[1]
            needed = needed & ~effect.writes | effect.reads
            yield index, Live(needed & written, after)

    def live_at(self, indices: Collection[int]) -> list[Live]:
        """Registers live around each of some instructions."""
        found = dict.fromkeys(indices, Live(0, 0))
        for block in dict.fromkeys(map(self.block_of, indices)):
            if block in self.reached:
                found.update((index, live) for index, live in self.live(block) if index in found)
        return [found[index] for index in indices]

    @cached_property
    def counts(self) -> list[Counts]:
        """Number of live registers of each class at each instruction; zeros if unreachable.

        The larger number of before and after it. Register sets are dropped block by block.
        """
        last = NO_REGISTERS
        found = [last] * len(self.instructions)
        known = {last: last}
        lasting = 0  # the set whose counts are `last`: branches and waits leave it unchanged
        for block in self.order:
            for index, live in self.live(block):
                if live.before != live.after:
                    counts = Counts(*map(max, count(live.after), count(live.before)))
                    found[index] = known.setdefault(counts, counts)
                    continue
                if live.after != lasting:
                    lasting, last = live.after, count(live.after)
                    last = known.setdefault(last, last)
                found[index] = last
        return found

    def instructions_of(self, block: int) -> tuple[Instruction, ...]:
        """The instructions of a block."""
        return self.instructions[self.blocks[block].first : self.blocks[block].end]

    def code_of(self, block: int) -> Sequence[int]:
        """Indices of the instructions of a block."""
        first, end = self.blocks[block].first, self.blocks[block].end
        return self.code[self.number[first] : self.number[end]]

    def block_of(self, index: int) -> int:
        """The block of an instruction."""
        return bisect_right(self._firsts, index) - 1

    @cached_property
    def _firsts(self) -> list[int]:
        return [block.first for block in self.blocks]

    @cached_property
    def loops(self) -> Loops:
        """Loops of the wave as a whole. Paths of inactive lanes make no loops."""
        ways = [block.branches for block in self.blocks]
        if ways == self.successors:
            return Loops(ways, self.before, self.order)
        return Loops(ways, predecessors(ways), postorder(ways))

    def loop_around(self, index: int) -> Loop | None:
        """The innermost loop around an instruction; None outside loops."""
        return self.loops.around(self.block_of(index))

    def touched_in(self, blocks: Iterable[int]) -> tuple[int, int]:
        """Registers that some blocks read, and registers that they write."""
        effects = [one.effect for block in blocks for one in self.instructions_of(block)]
        return union(effect.reads for effect in effects), union(e.writes for e in effects)

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """Labels of each block."""
        labels: dict[int, list[str]] = defaultdict(list)
        for label, index in self.listing.labels.items():
            labels[index].append(label)
        return [tuple(labels[block.first]) for block in self.blocks]

    def location(self, index: int, loop: Loop | None = None) -> CodeLocation:
        """Location relative to a loop. A comment has that of the next instruction."""
        number = self.number[index]
        if number < len(self.code):
            index = self.code[number]
        found = self.instructions[index]
        return CodeLocation(
            number, found.line, found.address, found.source, self._region(index, loop)
        )

    def _region(self, index: int, loop: Loop | None) -> Region:
        if loop is None:
            return "elsewhere"
        if self.loops.holds(loop, self.block_of(index)):
            return "in the loop"
        first = self.blocks[loop.begin].first
        return "before the loop" if index < first else "after the loop"

    def at_line(self, line: int) -> int | None:
        """Index of the first instruction on a line of the assembly; None if it has none."""
        return next((index for index in self.code if self.instructions[index].line == line), None)

    def line_near(self, line: int) -> int | None:
        """The line of the assembly with an instruction that is nearest; None without lines."""
        lines = (self.instructions[index].line for index in self.code)
        known = [one for one in lines if one is not None]
        return min(known, key=lambda one: (abs(one - line), one), default=None)

    def at_source(self, file: str, line: int) -> int | None:
        """Index of the source line's instruction with most live vector registers, or None.

        `file` may lack leading folders.
        """
        found = [
            (sum(self.counts[index][:2]), -index)
            for index in self.code
            if (source := self.instructions[index].source) and source.line == line
            if f"/{source.file}".endswith(f"/{file}") and self.block_of(index) in self.reached
        ]
        return -max(found)[1] if found else None


def _writes(one: Instruction) -> int:
    return 0 if one.effect.mnemonic == IMPLICIT_DEF else one.effect.writes
