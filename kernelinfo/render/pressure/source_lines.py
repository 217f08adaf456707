"""Source lines with live registers and instructions in the margin."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from kernelinfo.pressure.debug_information import SourceText
from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.nouns import LinePressure
from kernelinfo.render import View
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, painted, right
from kernelinfo.render.pressure.in_flight import waited_for
from kernelinfo.render.pressure.words import HEADINGS

_SHOWN = (
    *("instructions", "matrix", "lds", "loads", "stores", "atomics", "scratch"),
    *("waits", "barriers", "copies"),
)
"""Counts in the margin; those that are 0 in all lines have no column."""


def render_source(measured: Measured, text: SourceText, view: View) -> Iterator[str]:
    """The lines around the peak, or around the line that the user chose, `view.top` on each side;
    with 0 all lines with instructions.

    Files of inlined functions follow. One line says why if a text is not found.
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
            yield from painted([[(f" no source text: {printable(lines)}", "")]], view)
            continue
        yield from painted([[(f" {printable(posixpath.basename(file))}", "bold")]], view)
        near = peak.line if peak and peak.file == file else None
        waits = {line.line: text for line, text in waited.items() if line.file == file}
        yield from painted(_annotated(lines, by_file[file], waits, near, view.top), view)


def _annotated(
    text: list[str],
    lines: Mapping[int, LinePressure],
    waits: Mapping[int, str],
    peak: int | None,
    around: int,
) -> Iterator[list[Span]]:
    """The lines of one file. Gaps are left out; the line of the peak is marked. `waits` say for
    which loads the waits of a line wait.

    Each line is made when it is asked for: a hostile file has millions of them."""
    chosen = _numbers(lines, peak, around, len(text))
    with_code = [number for number in chosen if number in lines]
    counts = [lines[number].code.counts for number in with_code]
    fields = [name for name in _SHOWN if any(getattr(each, name) for each in counts)]
    is_waiting = any(number in waits for number in with_code)
    headings = (
        *("live", *(str(getattr(HEADINGS, name)) for name in fields)),
        *(["waits for"] if is_waiting else []),
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
        before = number
        mark, style = (" ►", "bold") if number == peak else ("  ", "")
        row, code = _in_columns(margin(number), widths), text[number - 1].expandtabs(4)
        yield [(f"{mark} {row} | {printable(code)}", style)]


def _in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The cells of a row, aligned to the right."""
    return "  ".join(map(right, cells, widths))


def _numbers(
    lines: Mapping[int, LinePressure], peak: int | None, around: int, last_line: int
) -> Sequence[int]:
    """Numbers of the lines to show of a text of `most` lines, ascending: all between the first and
    the last one with instructions, those around the peak, or in a file without the peak those with
    most live registers."""
    if around and peak is None:
        highest = sorted(lines, key=lambda number: -lines[number].code.peak.vector)
        return sorted(number for number in highest[:around] if 1 <= number <= last_line)
    if peak is not None and around:
        first, last = peak - around, peak + around
    else:
        first, last = min(lines), max(lines)
    return range(max(first, 1), min(last, last_line) + 1)


def _margin(
    line: LinePressure | None, fields: list[str], waited: list[str], number: int
) -> tuple[str, ...]:
    if line is None:
        return ("", *("" for _ in fields), *waited, str(number))
    counts = (str(getattr(line.code.counts, name) or "") for name in fields)
    return (str(line.code.peak.vector), *counts, *waited, str(number))
