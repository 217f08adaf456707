"""Markdown of a comparison: headline, affected kernels, totals in a line."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.totals import totals
from kernelinfo.render.markdown import code, folded, kernel_table, plain
from kernelinfo.render.names import name_of

HEADING = ("", "kernel", "target", "why")


def render(comparison: Comparison, view: View) -> Iterator[str]:
    found = diff.rows(comparison)
    named = f" {' → '.join(map(code, comparison.names))}" if comparison.names else ""
    yield f"**kernelinfo diff{named} · {plain(diff.headline(found))}**\n"
    places = len({diff.place(row) for row in found}) > 1
    affected = [_cells(row, view, places) for row in found if row.status in diff.AFFECTED]
    apart = [_cells(row, view, places) for row in found if row.status in ("gone", "new")]
    yield from kernel_table(HEADING, affected)
    yield from folded("gone and new", HEADING, apart)
    yield f"\n{plain(diff.roll_up(comparison, found))}\n"
    about = (diff.retargeted, diff.toolchain, diff.loosely_paired, diff.unread, totals)
    remarks = (of(comparison) for of in about)
    yield from (f"\n{plain(remark)}\n" for remark in remarks if remark)


def _cells(row: diff.ChangedKernel, view: View, with_place: bool) -> tuple[str, ...]:
    """The cells of a row, with the kernel's library or member if there are several."""
    status, name, *others = cells_of(row, view)
    place = plain(diff.place(row)) if with_place else ""
    return status, " · ".join(filter(None, (name, place))), *others


def cells_of(row: diff.ChangedKernel, view: View) -> tuple[str, ...]:
    names = (code(name_of(one, view.names)) for one in row.sides)
    targets = (code(one.target) for one in row.sides)
    return row.status, diff.arrow(*names), diff.arrow(*targets), plain(row.why)
