"""The live registers along the code of one function, for a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.function import Function
from kernelinfo.pressure.locations import Locations
from kernelinfo.pressure.nouns import Location
from kernelinfo.pressure.registers import Counts
from kernelinfo.pressure.spans import Span, spans

MOST_POINTS = 2000
"""More than a screen has columns."""


class Point(NamedTuple):
    """One instruction; of several that share a point the one with most vector registers."""

    at: Location
    counts: Counts
    instruction: str
    spills: int
    """Spill stores and reloads that share the point."""


class Curve(NamedTuple):
    """Points in the order of the text."""

    points: tuple[Point, ...]
    spans: tuple[Span, ...]
    """Along the points."""


def curve(function: Function) -> Curve:
    """At most `MOST_POINTS` points, each with the highest instruction that it stands for."""
    locations = Locations(function)
    size = -(-len(locations.code) // MOST_POINTS) or 1
    shares = [locations.code[i : i + size] for i in range(0, len(locations.code), size)]
    highest = [max(share, key=lambda step: _height(function, step)) for share in shares]
    points = _points(function, locations, shares, highest)
    return Curve(tuple(points), spans(function, highest))


def _height(function: Function, step: int) -> int:
    live = function.live[step]
    return live.counts.vgprs + live.counts.agprs if live else 0


def _points(
    function: Function,
    locations: Locations,
    shares: Sequence[Sequence[int]],
    highest: Sequence[int],
) -> Iterator[Point]:
    for share, step in zip(shares, highest, strict=True):
        live = function.live[step]
        counts = live.counts if live else Counts(0, 0, 0)
        spills = sum(function.steps[other].spill is not None for other in share)
        yield Point(locations.of(step), counts, function.steps[step].text, spills)
