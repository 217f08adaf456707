"""A comparison for people: affected kernels, worst first, then the totals in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import Span, cells, entry_lines, fitted, hidden, left, painted
from kernelinfo.render.tables import code, folded, kernel_table, plain

STYLES = {"worse": "bold red", "mixed": "yellow", "better": "green", "gone": "red"}
_INDENT = 9


def render(comparison: Comparison, view: View) -> Iterator[str]:
    return painted(_lines(comparison, diff.rows(comparison), view), view)


def _lines(
    comparison: Comparison, found: list[diff.ChangedKernel], view: View
) -> Iterator[list[Span]]:
    heading = (diff.headline(found), diff.retargeted(comparison), diff.toolchain(comparison))
    if comparison.names:
        yield from fitted([(printable(" → ".join(comparison.names)), "")], view, 1)
    yield from fitted([(" · ".join(filter(None, heading)), "bold")], view, 1)
    yield []
    if found:
        yield from _table(found, view)
        yield []
    if view.quiet:
        return
    below = (
        (diff.roll_up(comparison, found), ""),
        (diff.loosely_paired(comparison), "dim"),
        (diff.totals(comparison), ""),
    )
    for text, style in below:
        yield from fitted([(f" {text}", style)], view, 1) if text else ()
    if warning := diff.unread(comparison):
        yield [(f" {warning}", "bold red")]


def _table(found: Sequence[diff.ChangedKernel], view: View) -> Iterator[list[Span]]:
    style = diff.fitting_names(found[: view.top or None], view)
    shown = diff.folded_rows(found, style, view.top or None, has_target_column=False)
    names = [one.name + one.apart for one in shown]
    width = max([0, *(cells(name) for name in names if cells(name) <= diff.ROOM)])
    for (row, *_), name in zip(shown, names, strict=True):
        status = (f" {row.status:<{_INDENT - 2}} ", STYLES.get(row.status, ""))
        yield from entry_lines([status], left(name, width), row.why, view, _INDENT)
    yield from hidden(len(found) - sum(one.rows for one in shown))


COLUMNS = ("", "kernel", "target", "why")


def render_markdown(comparison: Comparison, view: View) -> Iterator[str]:
    found = diff.rows(comparison)
    named = f" {' → '.join(map(code, comparison.names))}" if comparison.names else ""
    yield f"**kernelinfo diff{named} · {plain(diff.headline(found))}**\n"
    affected = rows_in_markdown(found, diff.AFFECTED, view)
    apart = rows_in_markdown(found, ("gone", "new"), view)
    yield from kernel_table(COLUMNS, affected)
    yield from folded("gone and new", COLUMNS, apart)
    yield f"\n{plain(diff.roll_up(comparison, found))}\n"
    about = (diff.retargeted, diff.toolchain, diff.loosely_paired, diff.unread, diff.totals)
    remarks = (of(comparison) for of in about)
    yield from (f"\n{plain(remark)}\n" for remark in remarks if remark)


def rows_in_markdown(
    found: Sequence[diff.ChangedKernel], statuses: Sequence[diff.Status], view: View
) -> list[tuple[str, ...]]:
    """The cells of the rows with one of the statuses. Equal rows of several libraries are one."""
    wanted = [row for row in found if row.status in statuses]
    lines = []
    for row, _, apart, _ in diff.folded_rows(wanted, view.names, has_target_column=True):
        status, name, *others = cells_in_markdown(row, view)
        lines.append((status, name + plain(apart), *others))
    return lines


def cells_in_markdown(row: diff.ChangedKernel, view: View) -> tuple[str, ...]:
    names = (code(name_of(one, view.names)) for one in row.sides)
    targets = (code(one.target) for one in row.sides)
    return row.status, diff.arrow(*names), diff.arrow(*targets), plain(row.why)
