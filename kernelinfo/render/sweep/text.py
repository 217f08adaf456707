"""A sweep as text: a table a kernel, the trade-off in a line, and what to write."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.render import View
from kernelinfo.render.names import printable, styled
from kernelinfo.render.paint import cells, left, paint, right, wrap
from kernelinfo.render.sweep.rows import HEADING, LEGEND, Row, rows
from kernelinfo.render.sweep.words import about, how_to_write, trade
from kernelinfo.sweep.variants import AS_COMPILED, Sweep, SweptKernel


def render(sweep: Sweep, view: View) -> Iterator[str]:
    """The header, then each kernel."""
    for line in about(sweep):
        yield line + "\n"
    for kernel in sweep.kernels:
        yield from _kernel(sweep, kernel, view)
    yield f"\n {LEGEND}\n occupancy is a ceiling, not a speed\n"


def _kernel(sweep: Sweep, kernel: SweptKernel, view: View) -> Iterator[str]:
    yield (
        "\n" + paint([(styled(kernel.name, kernel.symbol, view.names), "bold")], view.color) + "\n"
    )
    yield from _table(rows(kernel), view)
    for note in kernel.notes:
        yield from _wrapped(f" note: {printable(note)}", view)
    yield from _wrapped(f" {trade(kernel)}", view)
    for language, text in how_to_write(sweep, kernel):
        yield f" {language:<15} {text}\n"


def _wrapped(line: str, view: View) -> Iterator[str]:
    for part in wrap([(line, "")], view.width, 3):
        yield paint(part, view.color) + "\n"


def _table(found: tuple[Row, ...], view: View) -> Iterator[str]:
    first = max(cells(text) for text in ("asked for", *(row.label for row in found)))
    shown = [row.cells for row in found if row.cells]
    widths = [max(cells(row[i]) for row in (HEADING, *shown)) for i in range(len(HEADING))]
    yield paint([(f" {left('asked for', first)} {_line(HEADING, widths)}", "bold")], view.color)
    yield "\n"
    for row in found:
        text = _line(row.cells, widths) if row.cells else f" {row.error}"
        style = "bold" if row.variants[0].asked == AS_COMPILED else "" if row.cells else "red"
        yield paint([(f" {left(row.label, first)} {text}", style)], view.color) + "\n"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = (right(text, width) for text, width in zip(row[:-1], widths, strict=False))
    return " ".join([*numbers, f" {row[-1]}"])
