"""Register pressure as HTML: the curve of each kernel, its source lines and loops; source and
instructions side by side, also on the page of a report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, get_args

from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.names import KernelName
from kernelinfo.pressure.curve import Curve, LiveSpan, PressurePoint
from kernelinfo.pressure.debug_information import SourceText
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.measure import Look, Measured, MeasureItem, measure_again
from kernelinfo.pressure.nouns import InstructionMix, LiveValues, Story
from kernelinfo.pressure.rules import InstructionClass
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View, html
from kernelinfo.render import pressure as words
from kernelinfo.render.names import member_path, printable
from kernelinfo.render.pressure.tables import wait_comments

_PANES = ("lines.js", "panes-model.js", "panes-rows.js", "panes.js")
"""Scripts of the panes, loaded after `pressure.js`."""
_CLASSES: tuple[InstructionClass, ...] = get_args(InstructionClass)


def _source_pieces(text: SourceText) -> Iterator[str]:
    """Pieces of the texts that no piece holds yet, in the order of their numbers: kernels share
    them."""
    for path, lines in text.fresh():
        yield html.piece(printable(path), "source")
        yield html.piece([printable(line.expandtabs(4)) for line in lines], "text")


def _pane_file(file: str, folder: str, text: SourceText) -> tuple[str, int | None, str]:
    """(path of a source file, number of its text or None, reason why it has no text).

    A relative path is also searched in `folder`.
    """
    number = text.number(file, "" if os.path.isabs(file) else folder)
    if isinstance(number, str):
        return printable(file), None, printable(number)
    return printable(file), number, ""


def panes(measured: Measured, text: SourceText) -> dict[str, Any]:
    """JSON values for `panes.js`, of a kernel that was measured with its code and blocks."""
    story, code = measured.story, measured.code
    assert code is not None
    folder = os.path.dirname(measured.result.kernel.code_object.path)
    by_file = Counter(point.at.source.file for point in code.points if point.at.source)
    files = {file: number for number, (file, _) in enumerate(by_file.most_common())}
    step = story.advice[0] if story.advice else None
    comments = wait_comments(story)
    return {
        "shared": story.files == "unified",
        "classes": _CLASSES,
        "files": [_pane_file(file, folder, text) for file in files],
        "rows": [
            _pane_row(point, files, comments.get(point.at.number, "")) for point in code.points
        ],
        "labels": [
            (block.at.number, printable(label)) for block in story.blocks for label in block.labels
        ],
        **_registers(code),
        "loops": [
            (
                printable(loop.label or ""),
                loop.depth,
                loop.at.number,
                [(measured.first.number, measured.last.number) for measured in loop.ranges],
            )
            for loop in story.loops
        ],
        "step": step and (step.at_most, step.waves_per_simd),
        "peak": story.peak.at.number,
    }


def _registers(curve: Curve) -> dict[str, Any]:
    """For each group of registers, the first and last point (as indices) at which they are live
    (`spans`), and at which they hold a source variable (`variables`)."""
    return {
        "spans": [_span(span) for span in curve.spans],
        "variables": [(printable(name), *_span(span)) for name, span in curve.variables],
    }


def _span(span: LiveSpan) -> tuple[int, int, str]:
    return span.first, span.last, " ".join(span.registers)


def _pane_row(point: PressurePoint, files: dict[str, int], comment: str) -> tuple[Any, ...]:
    """Line or address, file or -1, source line, live registers, class, 1 for a spill, and text with
    a comment."""
    location = point.at
    source = (files[location.source.file], location.source.line) if location.source else (-1, 0)
    kind = _CLASSES.index(point.instruction_class)
    where = words.located(location._replace(source=None)).removeprefix("line ")
    return (
        where,
        *source,
        *point.counts,
        kind,
        point.spills,
        printable(point.instruction + comment),
    )


SCRIPTS = (*html.TABLE_SCRIPTS, "problems.js", "pressure.js", *_PANES, "pressure-page.js")


def render(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """The page, written while the kernels are measured. Its table starts with the highest peak."""
    yield from html.page(_pieces(items, view), SCRIPTS)


def _pieces(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    problems: list[Problem] = []
    titles, places = html.Shared[KernelName](), html.Shared[tuple[str, ...]]()
    for item in items:
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Measured):
            row = _row(item, titles, places)
            yield html.piece(
                {
                    "kernels": [row],
                    "titles": html.fresh_titles(titles, view.names),
                    "places": places.fresh(),
                }
            )
            yield html.piece(_details(item, view), "details")
            yield from _source_pieces(view.source) if view.source else ()
    rows = {
        "problems": html.problem_rows(problems),
        "repeats": [],
        "briefs": html.brief_titles(titles, view.names),
    }
    yield html.piece({"kernels": [], "titles": [], "places": [], **rows})


def _row(
    measured: Measured, titles: html.Shared[KernelName], places: html.Shared[tuple[str, ...]]
) -> list[Any]:
    """Title, place, peaks of vector registers and SGPRs, True if they are exact, instructions,
    spilled registers or None, and waves/SIMD with True if they are exact."""
    code_object, story = measured.result.kernel.code_object, measured.story
    target = code_object.target_id or ""
    location = member_path(code_object.path, code_object.member)
    peak, occupancy = story.peak.pressure, measured.result.occupancy
    numbers = measured.result.kernel.numbers
    states_spills = (numbers.vgpr_spills, numbers.sgpr_spills) != (None, None)
    return [
        titles(html.title(measured.result.kernel)),
        places((printable(target), *html.place(code_object.path, code_object.member), location)),
        *(peak.vector, peak.sgprs, story.exact, story.instructions),
        measured.result.kernel.spilled_registers if states_spills else None,
        None if occupancy is None else (occupancy.waves_per_simd, occupancy.exact),
    ]


def _details(measured: Measured, view: View) -> dict[str, Any]:
    """JSON values of a kernel's section; the page reads them when the section is opened."""
    shown = measured.story.lines[: view.top or None]
    names = (f"{x.source.file}:{x.source.line}" if x.source else words.NO_LINE for x in shown)
    return {
        "pressure": dataset(measured),
        "panes": panes(measured, view.source) if view.source else None,
        "lines": [(printable(n), *_counts(x.code)) for n, x in zip(names, shown, strict=True)],
        "loops": [
            (printable(loop.label or words.in_text(loop.at)), loop.depth, *_counts(loop.code))
            for loop in measured.story.loops
        ],
    }


def _counts(code: InstructionMix) -> tuple[int | None, ...]:
    """Peak, spill stores, reloads, and counts by class."""
    return (code.peak.vector, code.spill_stores, code.spill_reloads, *code.counts)


def dataset(measured: Measured) -> dict[str, Any]:
    """JSON values for `pressure.js`, of a kernel that was measured with its curve."""
    story, curve = measured.story, measured.curve
    assert curve is not None
    sources = list(dict.fromkeys(_source(point.at) for point in curve.points))
    share = -(-story.instructions // len(curve.points))
    return {
        "shared": story.files == "unified",
        "sources": sources,
        "points": [_point(point, sources) for point in curve.points],
        "needs": _needs(story, share),
        **_registers(curve),
        "loops": [
            (
                printable(loop.label or ""),
                loop.depth,
                [
                    (measured.first.number // share, measured.last.number // share)
                    for measured in loop.ranges
                ],
            )
            for loop in story.loops
        ],
        "steps": [(step.vgprs, step.waves_per_simd) for step in story.steps],
        "peak": story.peak.at.number // share,
        "instructions": story.instructions,
        "bill": [
            (
                words.of_role(line.total, line.role),
                [_held(value, story.at) for value in line.values],
            )
            for line in story.bill
        ],
        "sentences": [
            text if label in ("pressure", "") else f"{label} {text}"
            for label, text in (
                *words.in_short(story),
                ("", words.needs(measured)),
                ("unset", words.unwritten(measured)),
            )
            if text
        ],
    }


def _needs(story: Story, share: int) -> list[int]:
    """For each point of the curve, which stands for `share` instructions, the most vector registers
    that one of them needs. Empty without spill slots."""
    if story.needs is None or not story.needs.shares:
        return []
    each = [values.vector(story.files) for values in story.needs_curve]
    return [max(each[first : first + share]) for first in range(0, len(each), share)]


def _held(value: LiveValues, near: CodeLocation) -> tuple[str | int, ...]:
    """Registers, their number, variable, last write, next read and instructions in between."""
    return (
        " ".join(value.registers),
        value.total,
        printable(value.variable or ""),
        words.written(value, near),
        words.next_read(value, near),
        words.untouched(value),
    )


def _source(location: CodeLocation) -> str:
    return words.located(location) if location.source else ""


def _point(point: PressurePoint, sources: list[str]) -> tuple[Any, ...]:
    """Number of the instruction, line or address, source line, live registers, text and spills."""
    where = words.located(point.at._replace(source=None))
    source = sources.index(_source(point.at))
    text = printable(point.instruction)
    return (point.at.number, where, source, *point.counts, text, point.spills)


_LOOK = Look(curve=True, code=True, blocks=True)


def with_curve(
    items: Iterable[Item], view: View, options: Options, tell: Callable[[Problem], object]
) -> Iterator[str]:
    """The page of a report; a single kernel has its curve of live registers."""
    items = [*items]
    results = [item for item in items if isinstance(item, Result)]
    alone = results if len(results) == 1 else ()
    measured = [*measure_again(alone, Look(curve=True), options, tell=tell)]
    curves = {index: dataset(kernel) for index, kernel in enumerate(measured) if kernel}
    return html.render(items, view, {"pressure": curves} if curves else None)


def with_source(
    view: View,
    root: str | None,
    paths: Sequence[str],
    options: Options,
    tell: Callable[[Problem], object],
) -> Callable[[Iterable[Item]], Iterator[str]]:
    """A renderer of a report's page that shows source and instructions of each kernel side by side.

    The renderer reopens files to read the code of their kernels, and passes problems of reading it
    to `tell`. `root` and `paths` are those of `SourceText`. Raises `OptionError` as `SourceText`
    does.
    """
    code = partial(_code, text=SourceText(root, paths), options=options, tell=tell)
    return partial(html.render, view=view, code=code, scripts=("pressure.js", *_PANES))


def _code(
    results: Sequence[Result],
    text: SourceText,
    options: Options,
    tell: Callable[[Problem], object],
) -> Iterator[str]:
    """A piece for each kernel (null without instructions), and the texts that no piece holds
    yet."""
    for measured in measure_again(results, _LOOK, options, tell=tell):
        drawn = (
            {"pressure": dataset(measured), "panes": panes(measured, text)} if measured else None
        )
        yield html.piece(drawn, "code")
        yield from _source_pieces(text)
