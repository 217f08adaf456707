"""Live registers along the text of a function, in at most some thousand points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from kernelinfo.pressure.classes import InstructionClass
from kernelinfo.pressure.counting import class_of
from kernelinfo.pressure.function import CodeLocation, LiveFunction
from kernelinfo.pressure.registers import Counts, each, ranges, union, whole

_MOST_POINTS = 2000
"""Points of a curve. A screen has fewer columns."""


class PressurePoint(NamedTuple):
    """A point of the curve.

    If several instructions share it, the one with most vector registers.
    """

    at: CodeLocation
    counts: Counts
    instruction: str
    instruction_class: InstructionClass
    spills: int  # spill stores and reloads that share the point


class LiveSpan(NamedTuple):
    """Registers that are live from one point to another, and at neither point around that."""

    first: int
    last: int
    registers: tuple[str, ...]


class Curve(NamedTuple):
    """Points in the order of the text, and the spans along them."""

    points: tuple[PressurePoint, ...]
    spans: tuple[LiveSpan, ...]  # by index of point


def curve(function: LiveFunction, most: int = _MOST_POINTS) -> Curve:
    """The curve of a function, of at most so many points."""
    code, counts = function.code, function.counts
    size = -(-len(code) // most) or 1
    shares = [code[i : i + size] for i in range(0, len(code), size)]
    highest = [max(share, key=lambda index: sum(counts[index][:2])) for share in shares]
    points = tuple(_point(function, *both) for both in zip(shares, highest, strict=True))
    return Curve(points, _spans(function, highest))


def _point(function: LiveFunction, share: Sequence[int], index: int) -> PressurePoint:
    spills = sum(function.instructions[other].spill is not None for other in share)
    one = function.instructions[index]
    return PressurePoint(
        function.location(index), function.counts[index], one.text, class_of(one), spills
    )


def _spans(function: LiveFunction, indices: Sequence[int]) -> tuple[LiveSpan, ...]:
    """Spans of registers along these instructions. An instruction's position is its point."""
    found: dict[tuple[int, int], int] = defaultdict(int)
    ended: dict[int, int] = {}
    """Register → last point of its span."""
    live, point = 0, len(indices)
    for now in _live_backwards(function, indices):
        for register in each(live & ~now):
            found[point, ended.pop(register)] |= register
        point -= 1
        ended.update(dict.fromkeys(each(now & ~live), point))
        live = now
    for register in each(live):
        found[point, ended.pop(register)] |= register
    return tuple(LiveSpan(*ends, ranges(registers)) for ends, registers in sorted(found.items()))


def _live_backwards(function: LiveFunction, indices: Sequence[int]) -> Iterator[int]:
    """Registers live around each of some instructions, last one first; none if unreachable."""
    for block, group in groupby(reversed(indices), function.block_of):
        wanted = set(group)
        if function.graph.is_reached(block):
            for index, *live in function.live(block):
                if index in wanted:
                    yield whole(union(live))
        else:
            yield from (0 for _ in wanted)
