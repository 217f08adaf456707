"""Register pressure as one HTML page: the curve of each kernel, its source lines and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo.pressure.curve import PressurePoint
from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.pressure.nouns import CodeLocation, InstructionMix
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.html import TABLE_SCRIPTS, page
from kernelinfo.render.html.dataset import Titles, place, problem_rows
from kernelinfo.render.html.pieces import PagePiece, Shared, piece
from kernelinfo.render.names import member_path, printable
from kernelinfo.render.pressure.panes import SCRIPTS as PANES
from kernelinfo.render.pressure.panes import PageTexts, panes
from kernelinfo.render.pressure.words import NO_LINE, in_short, in_text, located

SCRIPTS = (*TABLE_SCRIPTS, "problems.js", "pressure.js", *PANES, "pressure-page.js")


def render(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """The page, written while the kernels are measured. Its table starts with the highest peak."""
    yield from page(_pieces(items, view), SCRIPTS)


def _pieces(items: Iterable[MeasureItem], view: View) -> Iterator[PagePiece]:
    problems: list[Problem] = []
    titles, places = Titles(view.names), Shared()
    texts = PageTexts(view.source) if view.source else None
    for item in items:
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Measured):
            row = _row(item, titles, places)
            yield piece({"kernels": [row], "titles": titles.fresh(), "places": places.fresh()})
            yield piece(_details(item, view, texts), "details")
            yield from texts.fresh() if texts else ()
    rows = {"problems": problem_rows(problems), "repeats": [], "briefs": titles.briefs()}
    yield piece({"kernels": [], "titles": [], "places": [], **rows})


def _row(one: Measured, titles: Titles, places: Shared) -> list[Any]:
    """Title, place, peaks of vector registers and SGPRs, True if they are exact, instructions,
    spilled registers or None, and waves/SIMD with True if they are exact."""
    code_object, story = one.result.kernel.code_object, one.story
    target = code_object.target_id or ""
    location = member_path(code_object.path, code_object.member)
    peak, occupancy = story.peak.pressure, one.result.occupancy
    spills = one.result.kernel.spills
    return [
        titles(one.result.kernel),
        places((printable(target), *place(code_object.path, code_object.member), location)),
        *(peak.vector, peak.sgprs, story.exact, story.instructions),
        None if spills == (None, None) else spills.registers,
        None if occupancy is None else (occupancy.waves_per_simd, occupancy.exact),
    ]


def _details(one: Measured, view: View, texts: PageTexts | None) -> dict[str, Any]:
    """JSON values of a kernel's section, which are read when it is opened."""
    shown = one.story.lines[: view.top or None]
    names = (f"{x.source.file}:{x.source.line}" if x.source else NO_LINE for x in shown)
    return {
        "pressure": dataset(one),
        "panes": panes(one, texts) if texts else None,
        "lines": [(printable(n), *_counts(x.code)) for n, x in zip(names, shown, strict=True)],
        "loops": [
            (printable(loop.label or in_text(loop.at)), loop.depth, *_counts(loop.code))
            for loop in one.story.loops
        ],
    }


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
        "loops": [
            (
                printable(loop.label or ""),
                loop.depth,
                [(one.first.number // share, one.last.number // share) for one in loop.ranges],
            )
            for loop in story.loops
        ],
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
