"""A sweep in Markdown: for each kernel a table, the trade-off and the source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.render import View
from kernelinfo.render.names import name_of
from kernelinfo.render.sweep.rows import HEADING, LEGEND, rows
from kernelinfo.render.sweep.words import about, trade
from kernelinfo.render.tables import code, markdown_table, plain
from kernelinfo.variants.nouns import Sweep


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """Each input with its kernels."""
    for sweep in sweeps:
        yield "**kernelinfo sweep**\n\n"
        yield from _input(sweep, view)
    yield f"\n{plain(LEGEND)}\n"


def _input(sweep: Sweep, view: View) -> Iterator[str]:
    yield from (f"* {plain(' '.join(line.split()))}\n" for line in about(sweep))
    for kernel in sweep.kernels:
        yield f"\n### {code(name_of(kernel, view.names))}\n"
        empty = ("",) * (len(HEADING) - 1)
        yield from markdown_table(
            ("asked for", *HEADING),
            [(plain(r.label), *(r.cells or (plain(r.error), *empty))) for r in rows(kernel)],
        )
        yield "\n"
        yield from (f"* {plain(note)}\n" for note in kernel.notes)
        yield f"* {plain(trade(kernel))}\n"
        yield from (f"* {line.language}: {code(line.written)}\n" for line in kernel.lines)
    yield "\n"
