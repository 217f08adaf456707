"""Markdown of a comparison: headline, affected kernels, totals in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.totals import totals
from kernelinfo.render.names import name_of
from kernelinfo.render.tables import code, folded, kernel_table, plain

HEADING = ("", "kernel", "target", "why")


def render(comparison: Comparison, view: View) -> Iterator[str]:
    found = diff.rows(comparison)
    named = f" {' → '.join(map(code, comparison.names))}" if comparison.names else ""
    yield f"**kernelinfo diff{named} · {plain(diff.headline(found))}**\n"
    affected = cells(found, diff.AFFECTED, view)
    apart = cells(found, ("gone", "new"), view)
    yield from kernel_table(HEADING, affected)
    yield from folded("gone and new", HEADING, apart)
    yield f"\n{plain(diff.roll_up(comparison, found))}\n"
    about = (diff.retargeted, diff.toolchain, diff.loosely_paired, diff.unread, totals)
    remarks = (of(comparison) for of in about)
    yield from (f"\n{plain(remark)}\n" for remark in remarks if remark)


def cells(
    found: Sequence[diff.ChangedKernel], statuses: Sequence[diff.Status], view: View
) -> list[tuple[str, ...]]:
    """The cells of the rows with one of the statuses. Equal rows of several libraries are one."""
    wanted = [row for row in found if row.status in statuses]
    lines = []
    for row, _, apart, _ in diff.folded_rows(wanted, view.names, has_target_column=True):
        status, name, *others = cells_of(row, view)
        lines.append((status, name + plain(apart), *others))
    return lines


def cells_of(row: diff.ChangedKernel, view: View) -> tuple[str, ...]:
    names = (code(name_of(one, view.names)) for one in row.sides)
    targets = (code(one.target) for one in row.sides)
    return row.status, diff.arrow(*names), diff.arrow(*targets), plain(row.why)
