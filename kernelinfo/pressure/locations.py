"""Where the steps of a function stand: their instruction, line, source line and loop."""

from __future__ import annotations

from functools import cached_property

from kernelinfo.pressure.function import Function
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.nouns import Location, Region


class Locations:
    """The instructions of a function, counted without the comments between them."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.code = [i for i, step in enumerate(function.steps) if step.is_code]
        """The steps that are instructions."""
        self.number = {step: number for number, step in enumerate(self.code)}
        """The number of the instruction that a step is."""

    def of(self, step: int, loop: Loop | None = None) -> Location:
        """Where a step is, relative to a loop; a comment stands for the instruction behind it."""
        while step not in self.number and step + 1 < len(self._function.steps):
            step += 1
        found = self._function.steps[step]
        region = self._region(step, loop)
        number = self.number.get(step, len(self.code))
        return Location(number, found.line, found.address, found.source, region)

    def _region(self, step: int, loop: Loop | None) -> Region:
        if loop is None:
            return "elsewhere"
        blocks = [self._function.blocks[number] for number in loop.blocks]
        if any(block.first <= step < block.end for block in blocks):
            return "in the loop"
        first = min(block.first for block in blocks)
        return "before the loop" if step < first else "after the loop"

    def loop_around(self, step: int) -> Loop | None:
        """The innermost loop around a step."""
        around = (loop for loop in self._function.loops if self._block_of[step] in loop.blocks)
        return max(around, key=lambda loop: loop.depth, default=None)

    @cached_property
    def _block_of(self) -> dict[int, int]:
        blocks = enumerate(self._function.blocks)
        return {step: number for number, block in blocks for step in range(block.first, block.end)}

    def touched_in(self, loop: Loop) -> tuple[int, int]:
        """The registers that a loop reads, and those that it writes."""
        reads = writes = 0
        for number in loop.blocks:
            block = self._function.blocks[number]
            for step in self._function.steps[block.first : block.end]:
                reads |= step.effect.reads
                writes |= step.effect.writes
        return reads, writes
