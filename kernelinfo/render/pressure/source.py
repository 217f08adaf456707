"""Source lines with live registers and instructions in the margin, as `perf annotate` shows
them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping

from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.nouns import LinePressure
from kernelinfo.pressure.source_text import SourceText
from kernelinfo.render import View
from kernelinfo.render.instructions import HEADINGS
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, aligned, painted

_SHOWN = (
    *("instructions", "matrix", "lds", "loads", "stores", "atomics", "scratch"),
    *("waits", "barriers", "copies"),
)
"""Counts in the margin; those that are 0 in all lines have no column."""


def render_source(one: Measured, text: SourceText, view: View) -> Iterator[str]:
    """The lines around the peak, `view.top` on each side; with 0 all lines with instructions.

    Files of inlined functions follow. One line says why if a text is not found.
    """
    story, peak = one.story, one.story.peak.at.source
    folder = os.path.dirname(one.result.kernel.code_object.path)
    by_file: dict[str, dict[int, LinePressure]] = {}
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
        yield from painted(_annotated(lines, by_file[file], near, view.top), view)


def _annotated(
    text: list[str], lines: Mapping[int, LinePressure], peak: int | None, around: int
) -> Iterator[list[Span]]:
    """The lines of one file. Gaps are left out; the line of the peak is marked."""
    chosen = sorted(set(_numbers(lines, peak, around)) & set(range(1, len(text) + 1)))
    shown = [lines[number].code.counts for number in chosen if number in lines]
    fields = [name for name in _SHOWN if any(getattr(counts, name) for counts in shown)]
    headings = ("live", *(str(getattr(HEADINGS, name)) for name in fields), "line")
    margins = [headings, *(_margin(lines.get(number), fields, number) for number in chosen)]
    heading, *rows = aligned(margins, "n" * len(headings))
    yield [(f"   {heading}", "bold")]
    before = None
    for number, margin in zip(chosen, rows, strict=True):
        if before not in (None, number - 1):
            yield [(" …", "dim")]
        before = number
        mark, style = (" ►", "bold") if number == peak else ("  ", "")
        yield [(f"{mark} {margin} | {printable(text[number - 1].expandtabs(4))}", style)]


def _numbers(lines: Mapping[int, LinePressure], peak: int | None, around: int) -> Iterator[int]:
    """Numbers of the lines to show: all between the first and the last one with instructions, those
    around the peak, or in a file without the peak those with most live registers."""
    if not around:
        yield from range(min(lines), max(lines) + 1)
    elif peak is not None:
        yield from range(peak - around, peak + around + 1)
    else:
        highest = sorted(lines, key=lambda number: -lines[number].code.peak.vector)
        yield from highest[:around]


def _margin(line: LinePressure | None, fields: list[str], number: int) -> tuple[str, ...]:
    if line is None:
        return ("", *("" for _ in fields), str(number))
    counts = (getattr(line.code.counts, name) for name in fields)
    return (str(line.code.peak.vector), *(str(count or "") for count in counts), str(number))
