"""A sweep as text: for each kernel a table, the trade-off in a line and the source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import Span, cells, fitted, left, painted, table_lines, wrap
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


def _table(found: tuple[SweepRow, ...], view: View) -> Iterator[list[Span]]:
    """A line per row, on a narrow terminal without columns that are 0 in all; below them the errors
    of variants that failed."""
    compiled = [row for row in found if row.cells]
    labels = ["asked for", *(row.label for row in compiled)]
    columns = {name: [row.cells[at] for row in compiled] for at, name in enumerate(HEADING)}
    taken = max(map(cells, labels))
    for name in _OFTEN_ZERO if view.fold else ():
        is_wide = taken + 2 + cells(lines_of(columns)[0]) > view.width
        if is_wide and all(cell == "0" for cell in columns[name]):
            del columns[name]
    if view.fold and cells(lines_of(columns)[0]) + 3 > view.width:
        del columns["occ"]  # the waves say the same
        columns = {name.removesuffix("/SIMD"): column for name, column in columns.items()}
    rows = zip(labels, *([name, *column] for name, column in columns.items()), strict=True)
    lines = [(*row[:-1], f" {row[-1]}") for row in rows]
    styles = {at: "bold" for at, row in enumerate(compiled, 1) if row.is_compiled} | {0: "bold"}
    yield from table_lines(lines, f"k{'n' * (len(columns) - 1)}t", view, styles, " ")
    for row in found:
        if not row.cells:
            yield from fitted([(f" {left(row.label, taken)}  {row.error}", "red")], view, 4)
