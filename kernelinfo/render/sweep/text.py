"""A sweep as text: for each kernel a table, the trade-off in a line and the source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import Span, aligned, painted, wrap
from kernelinfo.render.sweep.rows import HEADING, LEGEND, SweepRow, rows
from kernelinfo.render.sweep.words import about, trade
from kernelinfo.variants.nouns import Sweep, SweptKernel


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The header of each input, then its kernels."""
    for number, sweep in enumerate(sweeps):
        yield from (["\n"] if number else [])
        yield from (f"{line}\n" for line in about(sweep))
        for kernel in sweep.kernels:
            yield from painted(_kernel(kernel, view), view)
    yield f"\n {LEGEND}\n occupancy is a ceiling, not a speed\n"


def _kernel(kernel: SweptKernel, view: View) -> Iterator[list[Span]]:
    yield from ([], [(name_of(kernel, view.names), "bold")])
    yield from _table(rows(kernel))
    for line in (*(f"note: {printable(note)}" for note in kernel.notes), trade(kernel)):
        yield from wrap([(f" {line}", "")], view.width, 3)
    for one in kernel.lines:
        yield [(f" {one.language:<6} {printable(one.written)}", "")]


def _table(found: tuple[SweepRow, ...]) -> Iterator[list[Span]]:
    """A line per row. Variants that failed show the error."""
    labels = aligned([("asked for",), *((row.label,) for row in found)])
    shown = [HEADING, *(row.cells for row in found if row.cells)]
    kinds = "n" * (len(HEADING) - 1) + "t"
    heading, *lines = aligned([(*row[:-1], f" {row[-1]}") for row in shown], kinds, " ")
    yield [(f" {labels[0]} {heading}", "bold")]
    for label, row in zip(labels[1:], found, strict=True):
        style = "bold" if row.is_compiled else "" if row.cells else "red"
        yield [(f" {label} {lines.pop(0) if row.cells else f' {row.error}'}", style)]
