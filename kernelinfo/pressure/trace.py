"""Ways through a function from one instruction on, along which registers hold their values."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Literal

from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.loops import Loop
from kernelinfo.pressure.registers import whole

_BLOCK_STEPS = 4


class ValueTrace:
    """A trace through the blocks in which sought registers are live, nearest first."""

    def __init__(self, function: LiveFunction, loop: Loop | None, steps: int) -> None:
        """`loop` is the innermost loop around the start."""
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

        `look(indices, distance, sought, is_later)` notes accesses; `is_later` is True in a later
        iteration of a loop around the start. It returns the registers that are still sought and the
        distance at the end of the indices.
        """
        function = self._function
        starts, ways = function.graph.after if direction == 1 else function.graph.before
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
                if new and function.graph.is_reached(way):
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
        """The sought registers that are live at the begin of a block; usually all of them."""
        live = self._function.live_in(block)
        return sought & whole(live) if sought & ~live else sought
