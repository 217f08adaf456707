"""Along the flow from one instruction: where registers are next read, and where last written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.flow import predecessors
from kernelinfo.pressure.function import Function
from kernelinfo.pressure.registers import each, whole

_Arrival = tuple[int, int, int]
"""Instructions from the start, a block, and the registers that are sought there."""


class Touches(NamedTuple):
    """Of one register; distances in instructions, along the shortest way."""

    next_read: int | None
    """A step; None where no way leads to a read."""
    next_turn: bool
    """The way to it passes the start's block or loop from its head."""
    until_read: int | None
    since_touch: int | None
    """From the last read or write before; −1 where the start itself writes it."""
    written: int | None
    """A step; None where it holds something since the function began."""


class Search:
    """What happens to some registers before and behind one step of a function."""

    def __init__(self, function: Function, start: int, registers: int) -> None:
        self._function = function
        self._steps = function.steps
        self._start = start
        self._block = next(
            number
            for number in function.liveness.order
            if function.blocks[number].first <= start < function.blocks[number].end
        )
        self._touched = {
            number: _union(
                step.effect.reads | step.effect.writes
                for step in self._steps[function.blocks[number].first : function.blocks[number].end]
            )
            for number in function.liveness.order
        }
        self._reads: dict[int, tuple[int, int]] = {}
        self._touches: dict[int, int] = {}
        self._writes: dict[int, tuple[int, int]] = {}
        self._forward(registers)
        self._backward(registers)

    def of(self, register: int) -> Touches:
        """The history of one register."""
        until, read = self._reads.get(register, (None, None))
        since = self._touches.get(register)
        _, written = self._writes.get(register, (None, None))
        return Touches(read, read is not None and read < self._start, until, since, written)

    def _forward(self, registers: int) -> None:
        block = self._function.blocks[self._block]
        rest, distance = self._read_in(range(self._start, block.end), 0, registers)
        seen: dict[int, int] = {}
        pending: list[_Arrival] = []
        self._arrive(pending, seen, block.successors, distance, rest)
        while pending:
            distance, number, sought = heappop(pending)
            block = self._function.blocks[number]
            if sought & self._touched[number]:
                sought, distance = self._read_in(range(block.first, block.end), distance, sought)
            else:
                distance += block.end - block.first
            self._arrive(pending, seen, block.successors, distance, sought)

    def _arrive(
        self,
        pending: list[_Arrival],
        seen: dict[int, int],
        ways: Iterable[int],
        distance: int,
        sought: int,
    ) -> None:
        """Go on where the registers that are sought are live and have not been sought yet."""
        for way in ways:
            new = sought & whole(self._function.liveness.live_in[way]) & ~seen.get(way, 0)
            if new:
                seen[way] = seen.get(way, 0) | new
                heappush(pending, (distance, way, new))

    def _read_in(self, steps: range, distance: int, sought: int) -> tuple[int, int]:
        """Note the first reads; what is still sought behind the steps, and how far they are."""
        for index in steps:
            step = self._steps[index]
            if sought & step.effect.reads:
                found = whole(step.effect.reads) & sought
                for register in each(found):
                    known = self._reads.get(register)
                    if known is None or distance < known[0]:
                        self._reads[register] = distance, index
                sought &= ~found
            if index != self._start or distance:
                sought &= ~step.effect.writes
            distance += step.is_code
        return sought, distance

    def _backward(self, registers: int) -> None:
        before = predecessors([block.successors for block in self._function.blocks])
        block = self._function.blocks[self._block]
        own = whole(self._steps[self._start].effect.writes) & registers
        for register in each(own):
            self._touches[register], self._writes[register] = -1, (-1, self._start)
        steps = range(self._start - 1, block.first - 1, -1)
        rest, distance = self._written_in(steps, 0, registers & ~own)
        seen: dict[int, int] = {}
        pending: list[_Arrival] = []
        self._go_back(pending, seen, before, (distance, self._block, rest))
        while pending:
            distance, number, sought = heappop(pending)
            block = self._function.blocks[number]
            if sought & self._touched[number]:
                steps = range(block.end - 1, block.first - 1, -1)
                sought, distance = self._written_in(steps, distance, sought)
            else:
                distance += block.end - block.first
            self._go_back(pending, seen, before, (distance, number, sought))

    def _go_back(
        self,
        pending: list[_Arrival],
        seen: dict[int, int],
        before: Sequence[Sequence[int]],
        left: _Arrival,
    ) -> None:
        distance, number, sought = left
        sought &= whole(self._function.liveness.live_in[number])
        for way in before[number]:
            new = sought & ~seen.get(way, 0)
            if new and way in self._touched:
                seen[way] = seen.get(way, 0) | new
                heappush(pending, (distance, way, new))

    def _written_in(self, steps: range, distance: int, sought: int) -> tuple[int, int]:
        """Note the last touches and writes; what is still sought before the steps, and how far."""
        for index in steps:
            step = self._steps[index]
            if touched := sought & (step.effect.reads | step.effect.writes):
                for register in each(touched & sought):
                    known = self._touches.get(register, distance)
                    self._touches[register] = min(known, distance)
            if written := sought & step.effect.writes:
                for register in each(written):
                    if distance < self._writes.get(register, (distance + 1, 0))[0]:
                        self._writes[register] = distance, index
                sought &= ~whole(written)
            distance += step.is_code
        return sought, distance


def _union(sets: Iterable[int]) -> int:
    found = 0
    for registers in sets:
        found |= registers
    return found
