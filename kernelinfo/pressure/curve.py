"""The live registers along the code of one function, for a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.function import Function
from kernelinfo.pressure.nouns import Location
from kernelinfo.pressure.registers import Counts, each, ranges, whole

MOST_POINTS = 2000
"""More than a screen has columns."""


class Point(NamedTuple):
    """One instruction; of several that share a point the one with most vector registers."""

    at: Location
    counts: Counts
    instruction: str
    spills: int
    """Spill stores and reloads that share the point."""


class Span(NamedTuple):
    """Registers that are live at all of some points, and neither before nor behind them."""

    first: int
    last: int
    registers: tuple[str, ...]


class Curve(NamedTuple):
    """Points in the order of the text."""

    points: tuple[Point, ...]
    spans: tuple[Span, ...]
    """Along the points."""


def curve(function: Function) -> Curve:
    """At most `MOST_POINTS` points, each with the highest instruction that it stands for."""
    code = function.code
    size = -(-len(code) // MOST_POINTS) or 1
    shares = [code[i : i + size] for i in range(0, len(code), size)]
    highest = [max(share, key=lambda step: _height(function, step)) for share in shares]
    points = tuple(_point(function, *both) for both in zip(shares, highest, strict=True))
    return Curve(points, _spans(function, highest))


def _height(function: Function, step: int) -> int:
    live = function.live[step]
    return live.counts.vgprs + live.counts.agprs if live else 0


def _point(function: Function, share: Sequence[int], step: int) -> Point:
    live = function.live[step]
    counts = live.counts if live else Counts(0, 0, 0)
    spills = sum(function.steps[other].spill is not None for other in share)
    return Point(function.location(step), counts, function.steps[step].text, spills)


def _spans(function: Function, steps: Iterable[int]) -> tuple[Span, ...]:
    """The spans along these steps, which are numbered from 0, in the order of the text."""
    found: dict[tuple[int, int], int] = defaultdict(int)
    begun: dict[int, int] = {}
    live = point = 0
    for point, step in enumerate(steps):
        around = function.live[step]
        now = whole(around.before | around.after) if around else 0
        for register in each(live & ~now):
            found[begun.pop(register), point - 1] |= register
        begun.update(dict.fromkeys(each(now & ~live), point))
        live = now
    for register in each(live):
        found[begun.pop(register), point] |= register
    return tuple(Span(*ends, ranges(registers)) for ends, registers in sorted(found.items()))
