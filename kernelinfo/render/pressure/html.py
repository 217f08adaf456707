"""Register pressure as one HTML page: the curve of each kernel, its source lines and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.pressure.nouns import CodeLocation, InstructionMix, LoopPressure
from kernelinfo.pressure.story import PressurePoint
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import SourceLine
from kernelinfo.render import View
from kernelinfo.render.html import page
from kernelinfo.render.html.dataset import Titles, problem_rows
from kernelinfo.render.names import printable
from kernelinfo.render.pressure.words import NO_LINE, in_short, in_text, located

SCRIPTS = ("words.js", "dom.js", "chart.js", "problems.js", "pressure.js", "pressure-page.js")


def render(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """The page, highest peak first."""
    found = list(items)
    measured = [item for item in found if isinstance(item, Measured)]
    measured.sort(key=lambda one: -one.story.peak.pressure.vector)
    titles = Titles((one.result.kernel for one in measured), view.names)
    data = {
        "kernels": [_kernel(one, titles, view) for one in measured],
        "problems": problem_rows(item for item in found if isinstance(item, Problem)),
        "repeats": [],
    }
    yield from page(data, SCRIPTS, len(measured))


def _kernel(one: Measured, titles: Titles, view: View) -> dict[str, Any]:
    kernel, story = one.result.kernel, one.story
    lines = [(_line_name(x.source), *_counts(x.code)) for x in story.lines]
    return {
        "title": titles.of(kernel),
        "about": [kernel.code_object.target, printable(kernel.code_object.path)],
        "pressure": dataset(one),
        "lines": lines[: view.top or None],
        "loops": [
            (printable(loop.label or in_text(loop.at)), loop.depth, *_counts(loop.code))
            for loop in story.loops
        ],
    }


def _line_name(source: SourceLine | None) -> str:
    return printable(f"{source.file}:{source.line}") if source else NO_LINE


def _counts(code: InstructionMix) -> tuple[int | None, ...]:
    """Peak, spill stores, reloads, and counts by class."""
    return (code.peak.vector, code.spill_stores, code.spill_reloads, *code.counts)


def dataset(one: Measured) -> dict[str, Any]:
    """JSON values that `pressure.js` draws, of a kernel measured with its curve."""
    story, curve = one.story, one.curve
    assert curve is not None
    sources = list(dict.fromkeys(_source(point.at) for point in curve.points))
    share = -(-story.instructions // len(curve.points))
    return {
        "shared": story.files == "unified",
        "sources": sources,
        "points": [_point(point, sources) for point in curve.points],
        "spans": [(span.first, span.last, " ".join(span.registers)) for span in curve.spans],
        "loops": [_loop(loop, share) for loop in story.loops],
        "steps": [(step.at_most, step.waves_per_simd) for step in story.steps],
        "peak": story.peak.at.number // share,
        "instructions": story.instructions,
        "sentences": [
            text if label == "pressure" else f"{label} {text}" for label, text in in_short(story)
        ],
    }


def _source(at: CodeLocation) -> str:
    return located(at) if at.source else ""


def _point(point: PressurePoint, sources: list[str]) -> tuple[Any, ...]:
    """Number of the instruction, line or address, source line, live registers, text and spills."""
    where = located(point.at._replace(source=None))
    source = sources.index(_source(point.at))
    text = printable(point.instruction)
    return (point.at.number, where, source, *point.counts, text, point.spills)


def _loop(loop: LoopPressure, share: int) -> tuple[Any, ...]:
    """Label, depth, first and last point."""
    label = printable(loop.label or "")
    return label, loop.depth, loop.at.number // share, loop.last // share
