"""A comparison as text: affected kernels, worst first, then the totals in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.totals import totals
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, cells, entry_lines, fitted, hidden, left, painted

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
        (totals(comparison), ""),
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
