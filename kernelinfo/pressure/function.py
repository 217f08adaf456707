"""One function with its flow, its loops and what is live where."""

from __future__ import annotations

from functools import cached_property

from kernelinfo.pressure.flow import read_flow
from kernelinfo.pressure.listing import Listing
from kernelinfo.pressure.liveness import Live, Liveness
from kernelinfo.pressure.loops import Loop, find_loops


class Function:
    """A listing, and what follows from it; each worked out when it is first asked for."""

    def __init__(self, listing: Listing, entry: int) -> None:
        """`entry` are the registers that hold something where the function begins."""
        self.listing = listing
        self.steps = listing.steps
        self.flow = read_flow(listing)
        self.blocks = self.flow.blocks
        self.reasons = tuple(dict.fromkeys((*listing.reasons, *self.flow.reasons)))
        self.liveness = Liveness(self.steps, self.blocks, entry)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Every loop, in the order of the text."""
        return find_loops(self.blocks)

    @cached_property
    def live(self) -> tuple[Live | None, ...]:
        """What is live around each step; None where no path leads to it."""
        found: list[Live | None] = [None] * len(self.steps)
        for block in self.liveness.order:
            for index, live in self.liveness.of_block(block):
                found[index] = live
        return tuple(found)

    def at_line(self, line: int) -> int | None:
        """The first instruction on a line of the assembly text."""
        return next((i for i, s in enumerate(self.steps) if s.is_code and s.line == line), None)

    def at_source(self, file: str, line: int) -> int | None:
        """The instruction with most vector registers of a source line; `file` may lack folders."""
        found = [
            (sum(live.counts[:2]), -index)
            for index, (step, live) in enumerate(zip(self.steps, self.live, strict=True))
            if live and step.is_code and step.source and step.source.line == line
            if f"/{step.source.file}".endswith(f"/{file}")
        ]
        return -max(found)[1] if found else None

    @cached_property
    def labels(self) -> dict[int, str]:
        """The first label of each block that has one."""
        named: dict[int, str] = {}
        for label, step in self.listing.labels.items():
            named.setdefault(step, label)
        firsts = {block.first: number for number, block in enumerate(self.blocks)}
        return {firsts[step]: label for step, label in named.items() if step in firsts}
