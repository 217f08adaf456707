"""One function: its flow, its loops, where its instructions are and what is live around them.

A register is live while it may have been written and may be read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from kernelinfo.pressure.flow import Loop, find_loops, postorder, predecessors, read_flow
from kernelinfo.pressure.high_vgprs import with_high_vgprs
from kernelinfo.pressure.listing import IMPLICIT_DEF, Listing, Step
from kernelinfo.pressure.nouns import Location, Region
from kernelinfo.pressure.registers import Counts, count, union


class Live(NamedTuple):
    """The registers that are live around one step; each a register set."""

    before: int
    after: int  # what is needed behind it, and what it writes


class Function:
    """A listing, and what follows from it."""

    def __init__(self, listing: Listing, entry: int) -> None:
        """`entry` are the registers that hold something where the function begins."""
        listing = with_high_vgprs(listing)
        self.listing = listing
        self.steps = listing.steps
        self.blocks, reasons = read_flow(listing)
        self.reasons = tuple(dict.fromkeys((*listing.reasons, *reasons)))
        self.code = [i for i, step in enumerate(self.steps) if step.is_code]
        """The steps that are instructions."""
        self.number = {step: number for number, step in enumerate(self.code)}
        """The number of the instruction that a step is, counted without comments."""
        self.successors = [block.successors for block in self.blocks]
        self.order = postorder(self.successors)
        """The blocks that are reached, each behind those that follow it."""
        self._written = self._may_be_written(entry)
        """Registers that may have been written, at the begin of each block."""
        self.needed = self._needed()
        """Registers that may be read before they are written, at the begin of each block."""
        self.live_in = {block: self.needed[block] & self._written[block] for block in self.order}

    def _may_be_written(self, entry: int) -> dict[int, int]:
        before = predecessors(self.successors)
        own = {block: union(map(_writes, self.steps_of(block))) for block in self.order}

        def written(block: int, found: dict[int, int]) -> int:
            earlier = union(found[other] | own[other] for other in before[block] if other in own)
            return earlier if block else earlier | entry

        return _settled(self.order[::-1], written)

    def _needed(self) -> dict[int, int]:
        reads, writes = dict.fromkeys(self.order, 0), dict.fromkeys(self.order, 0)
        for block in self.order:
            for step in reversed(self.steps_of(block)):
                writes[block] |= step.effect.writes
                reads[block] = reads[block] & ~step.effect.writes | step.effect.reads

        def needed(block: int, found: dict[int, int]) -> int:
            behind = union(found[way] for way in self.successors[block])
            return reads[block] | behind & ~writes[block]

        return _settled(self.order, needed)

    @cached_property
    def live(self) -> tuple[Live, ...]:
        """What is live around each step; nothing where no path leads to it."""
        found = [Live(0, 0)] * len(self.steps)
        for number in self.order:
            first, written = self.blocks[number].first, [self._written[number]]
            steps = self.steps_of(number)
            for step in steps:
                written.append(written[-1] | _writes(step))
            needed = union(self.needed[way] for way in self.successors[number])
            for index, step in reversed(list(enumerate(steps))):
                after = needed & written[index + 1] | step.effect.writes
                needed = needed & ~step.effect.writes | step.effect.reads
                found[first + index] = Live(needed & written[index], after)
        return tuple(found)

    @cached_property
    def counts(self) -> list[Counts]:
        """How many registers of each class are live before or behind each step, the larger."""
        return [Counts(*map(max, *map(count, live))) for live in self.live]

    def steps_of(self, block: int) -> tuple[Step, ...]:
        """The steps of a block."""
        return self.steps[self.blocks[block].first : self.blocks[block].end]

    def code_of(self, block: int) -> Iterator[int]:
        """The steps of a block that are instructions."""
        steps = range(self.blocks[block].first, self.blocks[block].end)
        return (step for step in steps if step in self.number)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Every loop, in the order of the text."""
        return find_loops(self.blocks)

    def loop_around(self, step: int) -> Loop | None:
        """The innermost loop around a step."""
        around = (loop for loop in self.loops if self._block_of[step] in loop.blocks)
        return max(around, key=lambda loop: loop.depth, default=None)

    @cached_property
    def _block_of(self) -> dict[int, int]:
        blocks = enumerate(self.blocks)
        return {step: number for number, block in blocks for step in range(block.first, block.end)}

    def touched_in(self, loop: Loop) -> tuple[int, int]:
        """The registers that a loop reads, and those that it writes."""
        effects = [step.effect for block in loop.blocks for step in self.steps_of(block)]
        return union(effect.reads for effect in effects), union(e.writes for e in effects)

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """Those of each block."""
        labels: dict[int, list[str]] = defaultdict(list)
        for label, step in self.listing.labels.items():
            labels[step].append(label)
        return [tuple(labels[block.first]) for block in self.blocks]

    def location(self, step: int, loop: Loop | None = None) -> Location:
        """Where a step is, relative to a loop; a comment stands for the instruction behind it."""
        while step not in self.number and step + 1 < len(self.steps):
            step += 1
        found = self.steps[step]
        number = self.number.get(step, len(self.code))
        region = self._region(step, loop)
        return Location(number, found.line, found.address, found.source, region)

    def _region(self, step: int, loop: Loop | None) -> Region:
        if loop is None:
            return "elsewhere"
        if self._block_of[step] in loop.blocks:
            return "in the loop"
        first = min(self.blocks[number].first for number in loop.blocks)
        return "before the loop" if step < first else "after the loop"

    def at_line(self, line: int) -> int | None:
        """The first instruction on a line of the assembly text."""
        return next((step for step in self.code if self.steps[step].line == line), None)

    def at_source(self, file: str, line: int) -> int | None:
        """The instruction with most vector registers of a source line; `file` may lack folders."""
        found = [
            (sum(self.counts[index][:2]), -index)
            for index in self.code
            if self._block_of[index] in self.live_in and (source := self.steps[index].source)
            if source.line == line and f"/{source.file}".endswith(f"/{file}")
        ]
        return -max(found)[1] if found else None


def _settled(blocks: Iterable[int], value: Callable[[int, dict[int, int]], int]) -> dict[int, int]:
    """The value of each block by those of the others, worked out until none changes."""
    found = dict.fromkeys(blocks, 0)
    changed = True
    while changed:
        changed = False
        for block, known in found.items():
            found[block] = value(block, found)
            changed |= found[block] != known
    return found


def _writes(step: Step) -> int:
    return 0 if step.effect.mnemonic == IMPLICIT_DEF else step.effect.writes
