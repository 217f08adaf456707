"""A sweep as text: for each kernel a table, the trade-off in a line and the source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import Span, aligned, cells, fitted, painted, wrap
from kernelinfo.render.sweep.rows import HEADING, LEGEND, SweepRow, rows
from kernelinfo.render.sweep.words import about, trade
from kernelinfo.render.table import lines_of
from kernelinfo.variants.nouns import Sweep, SweptKernel


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The header of each input, then its kernels."""
    for number, sweep in enumerate(sweeps):
        yield from (["\n"] if number else [])
        for line in about(sweep):
            yield from painted(fitted([(line, "")], view, 10), view)
        for kernel in sweep.kernels:
            yield from painted(_kernel(kernel, view), view)
    yield "\n"
    yield from painted(fitted([(f" {LEGEND}", "")], view, 1), view)
    yield " occupancy is a ceiling, not a speed\n"


def _kernel(kernel: SweptKernel, view: View) -> Iterator[list[Span]]:
    yield from ([], [(name_of(kernel, view.names), "bold")])
    yield from _table(rows(kernel), view)
    for line in (*(f"note: {printable(note)}" for note in kernel.notes), trade(kernel)):
        yield from wrap([(f" {line}", "")], view.width, 3)
    for one in kernel.lines:
        yield from fitted([(f" {one.language:<6} {printable(one.written)}", "")], view, 8)


_OFTEN_ZERO = ("AGPR", "spills", "scratch", "reloads", "LDS")
_LIMITS = HEADING[-1]


def _table(found: tuple[SweepRow, ...], view: View) -> Iterator[list[Span]]:
    """A line per row, on a narrow terminal without columns that are 0 in all, and two lines if that
    is still too wide. Variants that failed show the error."""
    labels = aligned([("asked for",), *((row.label,) for row in found)])
    compiled = [row.cells for row in found if row.cells]
    columns = {name: [row[at] for row in compiled] for at, name in enumerate(HEADING)}
    lines = lines_of(columns)
    for name in _OFTEN_ZERO:
        is_wide = view.fold and cells(f" {labels[0]} {lines[0]}") > view.width
        if is_wide and all(cell == "0" for cell in columns[name]):
            del columns[name]
            lines = lines_of(columns)
    is_apart = view.fold and cells(f" {labels[0]} {lines[0]}") > view.width
    if is_apart and cells(lines[0]) + 3 > view.width:
        del columns["occ"]  # the waves say the same
        columns = {name.removesuffix("/SIMD"): column for name, column in columns.items()}
        lines = lines_of(columns)
    heading, *lines = lines
    first = f"   {heading}" if is_apart else f" {labels[0]} {heading}"
    yield from fitted([(first, "bold")], view, 6)
    limits = cells(f"   {heading}") - max(map(cells, [_LIMITS, *columns[_LIMITS]]))
    start = limits if limits < view.width * 2 // 3 else 6
    for label, row in zip(labels[1:], found, strict=True):
        style = "bold" if row.is_compiled else "" if row.cells else "red"
        line = lines.pop(0) if row.cells else f" {row.error}"
        if is_apart:
            yield from fitted([(f" {label.rstrip()}", style)], view, 3)
            yield from fitted([(f"   {line}", style)], view, start if row.cells else 4)
        else:
            yield from fitted([(f" {label} {line}", style)], view, 4)
