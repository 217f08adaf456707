"""Which registers are live where: a register is, while it may have been written and may be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.flow import Block, postorder, predecessors
from kernelinfo.pressure.listing import IMPLICIT_DEF, Step
from kernelinfo.pressure.registers import Counts, count


class Live(NamedTuple):
    """The registers that are live around one step; each a register set."""

    before: int
    after: int
    """What is needed behind it, and what it writes."""

    @property
    def counts(self) -> Counts:
        """The larger number of each class."""
        before, after = count(self.before), count(self.after)
        return Counts(
            max(before.vgprs, after.vgprs),
            max(before.agprs, after.agprs),
            max(before.sgprs, after.sgprs),
        )


class Liveness:
    """The registers that are live at each block of a function, and at each of its steps."""

    def __init__(self, steps: Sequence[Step], blocks: Sequence[Block], entry: int) -> None:
        """`entry` are the registers that hold something where the function begins."""
        self._steps = steps
        self._blocks = blocks
        ways = [block.successors for block in blocks]
        self.order = tuple(postorder(ways))
        """The blocks that are reached, each behind those that follow it."""
        before = predecessors(ways)
        self._written = self._may_be_written(before, entry)
        """Registers that may have been written, at the begin of each block."""
        self.needed = self._needed()
        """Registers that may be read before they are written, at the begin of each block."""
        self.live_in = {block: self.needed[block] & self._written[block] for block in self.order}

    def _may_be_written(self, before: Sequence[Sequence[int]], entry: int) -> dict[int, int]:
        own = {}
        for number in self.order:
            block = self._blocks[number]
            own[number] = 0
            for step in self._steps[block.first : block.end]:
                own[number] |= _writes(step)
        found = dict.fromkeys(self.order, 0)
        changed = True
        while changed:
            changed = False
            for number in reversed(self.order):
                known = entry if number == 0 else 0
                for other in before[number]:
                    if other in found:
                        known |= found[other] | own[other]
                changed |= known != found[number]
                found[number] = known
        return found

    def _needed(self) -> dict[int, int]:
        effects = {number: self._effect(self._blocks[number]) for number in self.order}
        found = dict.fromkeys(self.order, 0)
        changed = True
        while changed:
            changed = False
            for number in self.order:
                reads, writes = effects[number]
                needed = reads | self._needed_behind(number, found) & ~writes
                changed |= needed != found[number]
                found[number] = needed
        return found

    def _effect(self, block: Block) -> tuple[int, int]:
        """What a block reads before it writes it, and what it writes."""
        reads = writes = 0
        for step in reversed(self._steps[block.first : block.end]):
            writes |= step.effect.writes
            reads = reads & ~step.effect.writes | step.effect.reads
        return reads, writes

    def _needed_behind(self, number: int, needed: dict[int, int]) -> int:
        found = 0
        for way in self._blocks[number].successors:
            found |= needed[way]
        return found

    def of_block(self, number: int) -> Iterator[tuple[int, Live]]:
        """Each step of a block with what is live around it, the last step first."""
        block = self._blocks[number]
        written = [self._written[number]]
        for step in self._steps[block.first : block.end]:
            written.append(written[-1] | _writes(step))
        needed = self._needed_behind(number, self.needed)
        for index in reversed(range(block.first, block.end)):
            effect = self._steps[index].effect
            after = needed & written[index + 1 - block.first] | effect.writes
            needed = needed & ~effect.writes | effect.reads
            yield index, Live(needed & written[index - block.first], after)


def _writes(step: Step) -> int:
    return 0 if step.effect.mnemonic == IMPLICIT_DEF else step.effect.writes
