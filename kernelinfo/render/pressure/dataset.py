"""The curve of one kernel's live registers as JSON values, for pages."""

from __future__ import annotations

from typing import Any

from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.nouns import Location, LoopPressure
from kernelinfo.pressure.story import Point
from kernelinfo.render.names import printable
from kernelinfo.render.pressure.words import in_short, located


def dataset(one: Measured) -> dict[str, Any]:
    """What `pressure.js` draws. The kernel must have been measured with its curve."""
    story, curve = one.story, one.curve
    assert curve is not None
    sources = list(dict.fromkeys(_source(point.at) for point in curve.points))
    numbers = [point.at.number for point in curve.points]
    share = -(-story.instructions // len(numbers)) if numbers else 1
    return {
        "shared": story.files == "unified",
        "sources": sources,
        "points": [_point(point, sources) for point in curve.points],
        "spans": [(span.first, span.last, " ".join(span.registers)) for span in curve.spans],
        "loops": [_loop(loop, share) for loop in story.loops],
        "steps": [(step.at_most, step.waves_per_simd) for step in story.steps],
        "peak": story.peak.at.number // share if story.peak else 0,
        "instructions": story.instructions,
        "sentences": [
            text if label == "pressure" else f"{label} {text}" for label, text in in_short(story)
        ],
    }


def _source(at: Location) -> str:
    return located(at) if at.source else ""


def _point(point: Point, sources: list[str]) -> tuple[Any, ...]:
    """Number of the instruction, its line or address, source line, counts, text and spills."""
    where = located(point.at._replace(source=None))
    source = sources.index(_source(point.at))
    text = printable(point.instruction)
    return (point.at.number, where, source, *point.counts, text, point.spills)


def _loop(loop: LoopPressure, share: int) -> tuple[Any, ...]:
    """Label, depth, first and last point."""
    label = printable(loop.label or "")
    return label, loop.depth, loop.at.number // share, loop.last // share
