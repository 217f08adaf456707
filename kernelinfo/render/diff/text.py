"""A comparison as text: affected kernels, worst first, then the totals in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.kernel import counted
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.totals import totals
from kernelinfo.render.names import folded, name_of, printable
from kernelinfo.render.paint import Span, cells, fitted, left, painted
from kernelinfo.render.table import hidden_kernels

STYLES = {"worse": "bold red", "mixed": "yellow", "better": "green", "gone": "red"}
_INDENT = 9
_ROOM = 40  # columns of names; a longer name shifts the rest of its line


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
    if shown := found[: view.top or None]:
        yield from _table(shown, view)
        yield from hidden_kernels(len(found) - len(shown))
        yield []
    if view.quiet:
        return
    yield from fitted([(f" {diff.roll_up(comparison, found)}", "")], view, 1)
    if offer := diff.loosely_paired(comparison):
        yield from fitted([(f" {offer}", "dim")], view, 1)
    if line := totals(comparison):
        yield from fitted([(f" {line}", "")], view, 1)
    if warning := diff.unread(comparison):
        yield [(f" {warning}", "bold red")]


def _table(shown: Sequence[diff.ChangedKernel], view: View) -> Iterator[list[Span]]:
    equal: dict[tuple[str, str, str], list[diff.ChangedKernel]] = {}
    for row in shown:
        equal.setdefault((row.status, row_name(row, view, False), row.why), []).append(row)
    rows = [of[0] for of in equal.values()]
    targets = len({_target(row) for row in shown}) > 1
    places = len({diff.place(row) for row in shown}) > 1
    names = [
        name + _among(of, _target, "target") * targets + _among(of, diff.place, "file") * places
        for (_, name, _), of in equal.items()
    ]
    names = [
        f"{name} × {len(of)}" if of[1:] else name
        for name, of in zip(names, equal.values(), strict=True)
    ]
    width = max([0, *(cells(name) for name in names if cells(name) <= _ROOM)])
    for row, name in zip(rows, names, strict=True):
        status = (f" {row.status:<{_INDENT - 2}} ", STYLES.get(row.status, ""))
        line = f"{left(name, width)}  {row.why}"
        if view.fold and cells(line) + _INDENT > view.width:
            first, *others = folded(name, view.width - _INDENT, 2)
            yield [status, (first, "")]
            yield from ([(" " * _INDENT + other, "")] for other in others)
            status, line = (" " * _INDENT, ""), row.why
        yield from fitted([status, (line, "")], view, _INDENT)


def _among(
    rows: Sequence[diff.ChangedKernel], of: Callable[[diff.ChangedKernel], str], noun: str
) -> str:
    """The targets or libraries of rows that are equal otherwise: the one, or their number."""
    found = [*dict.fromkeys(map(of, rows))]
    return f" · {found[0]}" if len(found) == 1 else f" · {counted(len(found), noun)}"


def row_name(row: diff.ChangedKernel, view: View, with_target: bool) -> str:
    """Name of a row; `old → new` if name or target changed."""
    name = diff.arrow(*(name_of(kernel, view.names) for kernel in row.sides))
    return f"{name} · {_target(row)}" if with_target else name


def _target(row: diff.ChangedKernel) -> str:
    return printable(diff.arrow(*(kernel.target for kernel in row.sides)))
