"""A sweep as text: a table a kernel, the trade-off in a line, and what to write."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import Span, aligned, painted, wrap
from kernelinfo.render.sweep.rows import HEADING, LEGEND, Row, rows
from kernelinfo.render.sweep.words import about, how_to_write, trade
from kernelinfo.variants.nouns import Sweep, SweptKernel


def render(sweep: Sweep, view: View) -> Iterator[str]:
    """The header, then each kernel."""
    yield from (f"{line}\n" for line in about(sweep))
    for kernel in sweep.kernels:
        yield from painted(_kernel(sweep, kernel, view), view)
    yield f"\n {LEGEND}\n occupancy is a ceiling, not a speed\n"


def _kernel(sweep: Sweep, kernel: SweptKernel, view: View) -> Iterator[list[Span]]:
    yield from ([], [(name_of(kernel, view.names), "bold")])
    yield from _table(rows(kernel))
    for line in (*(f"note: {printable(note)}" for note in kernel.notes), trade(kernel)):
        yield from wrap([(f" {line}", "")], view.width, 3)
    for language, text in how_to_write(sweep, kernel):
        yield [(f" {language:<15} {text}", "")]


def _table(found: tuple[Row, ...]) -> Iterator[list[Span]]:
    """A line a row; of variants that failed the error."""
    labels = aligned([("asked for",), *((row.label,) for row in found)])
    shown = [HEADING, *(row.cells for row in found if row.cells)]
    kinds = "n" * (len(HEADING) - 1) + "t"
    heading, *lines = aligned([(*row[:-1], f" {row[-1]}") for row in shown], kinds, " ")
    yield [(f" {labels[0]} {heading}", "bold")]
    for label, row in zip(labels[1:], found, strict=True):
        style = "bold" if row.is_compiled else "" if row.cells else "red"
        yield [(f" {label} {lines.pop(0) if row.cells else f' {row.error}'}", style)]
