"""Tables of one kernel: loads in flight, and source lines with live registers beside them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kernelinfo.kernel import Result, counted
from kernelinfo.pressure.debug_information import SourceText
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.in_flight import soonest_outside, tightest
from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.nouns import InFlight, LinePressure, Story
from kernelinfo.reading.facts import SourceLine
from kernelinfo.render import View, paint
from kernelinfo.render.pressure import HEADINGS, begin, located


def in_flight_table(story: Story, result: Result, view: View) -> Iterator[str]:
    """The loads in flight in each loop that loads, in the order of the text, and outside all loops;
    in the whole function if no loop loads. If they are unknown, a line says why."""
    if story.waits_unknown:
        text = f" in flight: cannot tell: {paint.printable(story.waits_unknown)}"
        yield from paint.painted([[], *paint.wrap([(text, "")], view.width, 2)], view)
        return
    loops = [loop for loop in story.loops if loop.in_flight][: view.top or None]
    rows = [
        row
        for loop in loops
        for row in _rows(
            f"{loop.label or ''} {begin(loop, story)}", loop.in_flight, result, loop.at
        )
    ]
    if rows:
        rows += _rows("outside loops", story.in_flight_outside, result)
    else:
        rows = _rows("all", story.in_flight, result)
    if rows:
        occupancy = result.occupancy
        per = f"in {occupancy.waves} waves/{occupancy.per}" if occupancy else "per CU"
        heading = ("in flight", "from", "loads", "B/lane", per, "waits", "shortest wait")
        yield "\n"
        yield from paint.painted(
            paint.table_lines([heading, *rows], "ttnnnnd", view, {0: "bold"}), view
        )


def _rows(
    name: str, of_loop: Sequence[InFlight], result: Result, near: CodeLocation | None = None
) -> list[tuple[str, ...]]:
    """One row per memory. Bytes of scalar loads are not per lane."""
    return [
        (
            paint.printable(name.strip()) if position == 0 else "",
            row.memory,
            str(row.loads),
            "" if row.memory == "scalar" else str(row.bytes),
            paint.size(number) if (number := _bytes_of_all(row, result)) else "",
            str(row.waits),
            _shortest(row, near),
        )
        for position, row in enumerate(of_loop)
    ]


def _bytes_of_all(row: InFlight, result: Result) -> int | None:
    """Bytes in flight in all waves of a CU or WGP; None if the number of waves is unknown."""
    occupancy, lanes = result.occupancy, result.kernel.wave_size
    if occupancy is None or lanes is None:
        return None
    return row.bytes * occupancy.waves * (1 if row.memory == "scalar" else lanes)


def _shortest(row: InFlight, near: CodeLocation | None = None) -> str:
    """The wait with the fewest instructions between it and its load: `17 instructions (:30 for
    :29)`, or `(:30)` if both are on one line."""
    if row.wait is None or row.load is None or row.distance is None:
        return "none for a load in it"
    places = located(row.wait, near)
    if row.load.source is None or row.load.source != row.wait.source:
        places += f" for {located(row.load, row.wait)}"
    return f"{counted(row.distance, 'instruction')} ({places})"


_MOST_NAMED = 3  # places of loads that one line or wait names


def waited_for(story: Story) -> dict[SourceLine, str]:
    """Source line → what its waits wait for: `:75 (15)`, the place of the loads and the fewest
    instructions in between, nearest first."""
    completed: dict[SourceLine, list[tuple[CodeLocation, int]]] = {}
    for wait in story.waits:
        if wait.at.source and wait.completes:
            completed.setdefault(wait.at.source, []).extend(wait.completes)
    return {
        line: _nearest(loads, CodeLocation(0, None, None, line, "elsewhere"))
        for line, loads in completed.items()
    }


def _nearest(loads: Iterable[tuple[CodeLocation, int]], near: CodeLocation, unit: str = "") -> str:
    places: dict[str, int] = {}
    for load, distance in sorted(loads, key=lambda pair: pair[1]):
        places.setdefault(located(load, near), distance)
    parts = [f"{place} ({distance}{unit})" for place, distance in places.items()]
    return ", ".join(parts[:_MOST_NAMED]) + (" …" if len(parts) > _MOST_NAMED else "")


def wait_comments(story: Story) -> dict[int, str]:
    """Number of each wait's instruction → a comment that says what the wait waits for."""
    return {
        wait.at.number: f"  ; for {_nearest(wait.completes, wait.at, ' instr before')}"
        for wait in story.waits
        if wait.completes
    }


def in_flight_line(story: Story, result: Result) -> str:
    """In a sentence, the loop with the shortest wait for a load from far memory. Code outside loops
    is added if its shortest wait is even shorter. Empty if there is no such wait, or if waits are
    unknown."""
    chosen = tightest(story)
    if chosen is None:
        return ""
    loop, row = chosen
    text = f"{row.loads} {row.memory} in flight"
    text += f" in {paint.printable(loop.label or located(loop.at))}" if loop else ""
    number = _bytes_of_all(row, result)
    if number and (occupancy := result.occupancy):
        text += f", {paint.size(number)} per {occupancy.per}"
    text += f"; shortest wait {_shortest(row, loop and loop.at)}"
    outside = soonest_outside(story) if loop else None
    if outside and (outside.distance or 0) < (row.distance or 0):
        text += f", outside loops {_shortest(outside, loop and loop.at)}"
        text += f" from {outside.memory}" if outside.memory != row.memory else ""
    return text


# Source lines with live registers and instructions in the margin.

_SHOWN = (
    *("instructions", "matrix", "lds", "loads", "stores", "atomics", "scratch"),
    *("waits", "barriers", "copies"),
)
"""Counts in the margin; those that are 0 in all lines have no column."""


def render_source(measured: Measured, text: SourceText, view: View) -> Iterator[str]:
    """The lines around the peak, or around the line that the user chose, `view.top` on each side;
    with 0, all lines with instructions.

    Files of inlined functions follow. If a text is not found, a line says why.
    """
    story, peak = measured.story, measured.story.at.source
    folder = os.path.dirname(measured.result.kernel.code_object.path)
    by_file: dict[str, dict[int, LinePressure]] = {}
    waited = waited_for(story)
    for line in story.lines:
        if line.source:
            by_file.setdefault(line.source.file, {})[line.source.line] = line
    files = sorted(by_file, key=lambda file: (peak is None or file != peak.file, file))
    for file in files:
        yield "\n"
        lines = text.lines(file, folder)
        if isinstance(lines, str):
            yield from paint.painted([[(f" no source text: {paint.printable(lines)}", "")]], view)
            continue
        yield from paint.painted(
            [[(f" {paint.printable(posixpath.basename(file))}", "bold")]], view
        )
        near = peak.line if peak and peak.file == file else None
        waits = {line.line: text for line, text in waited.items() if line.file == file}
        yield from paint.painted(_annotated(lines, by_file[file], waits, near, view.top), view)


def _annotated(
    text: list[str],
    lines: Mapping[int, LinePressure],
    waits: Mapping[int, str],
    peak: int | None,
    around: int,
) -> Iterator[list[paint.Span]]:
    """The lines of one file.

    Gaps are left out; the line of the peak is marked. `waits` holds, for a source line, the loads
    that its waits wait for. Lines are made lazily, since a hostile file may have millions of them.
    """
    chosen = _numbers(lines, peak, around, len(text))
    is_range = isinstance(chosen, range)
    with_code = [number for number in chosen if number in lines]
    counts = [lines[number].code.counts for number in with_code]
    fields = [name for name in _SHOWN if any(getattr(each, name) for each in counts)]
    is_waiting = any(number in waits for number in with_code)
    headings = (
        *("live", *(str(getattr(HEADINGS, name)) for name in fields)),
        *(["waits for (instr before)"] if is_waiting else []),
        "line",
    )

    def margin(number: int) -> tuple[str, ...]:
        waited = [waits.get(number, "")] if is_waiting else []
        return _margin(lines.get(number), fields, waited, number)

    margins = [headings, *map(margin, with_code), *map(margin, chosen[-1:])]
    widths = [max(map(len, column)) for column in zip(*margins, strict=True)]
    yield [(f"   {_in_columns(headings, widths)}", "bold")]
    before = None
    for number in chosen:
        if before not in (None, number - 1):
            yield [(" …", "dim")]
        elif before is None and is_range:
            yield from _left_out(number - min(lines), "above")
        before = number
        mark, style = (" ►", "bold") if number == peak else ("  ", "")
        row, code = _in_columns(margin(number), widths), text[number - 1].expandtabs(4)
        yield [(f"{mark} {row} | {paint.printable(code)}", style)]
    if is_range and before is not None:
        yield from _left_out(min(max(lines), len(text)) - before, "below")
    elif hidden := sum(number <= len(text) for number in lines) - len(chosen):
        yield [(f" {counted(hidden, 'more line')} with code; --top 0 shows all", "")]


def _left_out(lines: int, where: str) -> Iterator[list[paint.Span]]:
    if lines > 0:
        yield [(f" … {counted(lines, 'line')} {where}; --top 0 shows all", "dim")]


def _in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The cells of a row, aligned to the right."""
    return "  ".join(map(paint.right, cells, widths))


def _numbers(
    lines: Mapping[int, LinePressure], peak: int | None, around: int, last_line: int
) -> Sequence[int]:
    """The numbers of the lines to show, ascending, of a text with `last_line` lines.

    They lie between the first and the last line with instructions: the lines `around` the peak, or,
    in a file without the peak, the `around` lines with the most live registers. All of them if
    `around` is 0.
    """
    if around and peak is None:
        highest = sorted(lines, key=lambda number: -lines[number].code.peak.vector)
        return sorted(number for number in highest[:around] if 1 <= number <= last_line)
    first, last = min(lines), max(lines)
    if peak is not None and around:
        first, last = max(first, peak - around), min(last, peak + around)
    return range(max(first, 1), min(last, last_line) + 1)


def _margin(
    line: LinePressure | None, fields: list[str], waited: list[str], number: int
) -> tuple[str, ...]:
    if line is None:
        return ("", *("" for _ in fields), *waited, str(number))
    counts = (str(getattr(line.code.counts, name) or "") for name in fields)
    return (str(line.code.peak.vector), *counts, *waited, str(number))
