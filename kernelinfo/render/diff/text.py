"""A comparison for people: affected kernels first, the worst first, then the library in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.render import View
from kernelinfo.render.diff.rows import (
    Row,
    arrow,
    headline,
    retargeted,
    roll_up,
    rows,
    toolchain,
    unread,
)
from kernelinfo.render.names import folded, printable, styled
from kernelinfo.render.paint import Span, cells, left, paint, wrap
from kernelinfo.render.words import plural

STYLES = {"worse": "bold red", "mixed": "yellow", "better": "green", "gone": "red"}
_INDENT = 9
_ROOM = 40
"""Columns of names; what does not fit pushes the rest of its line."""


def render(comparison: Comparison, view: View) -> Iterator[str]:
    found = rows(comparison)
    for line in _lines(comparison, found, view):
        yield paint(line, view.color) + "\n"


def _lines(comparison: Comparison, found: list[Row], view: View) -> Iterator[list[Span]]:
    heading = (headline(found), retargeted(comparison), toolchain(comparison))
    if comparison.names:
        yield from _folded([(printable(" → ".join(comparison.names)), "")], 1, view)
    yield from _folded([(" · ".join(text for text in heading if text), "bold")], 1, view)
    yield []
    shown = found[: view.top] if view.top else found
    if shown:
        yield from _table(shown, view)
        if hidden := len(found) - len(shown):
            yield [(f" … {plural(hidden, 'more kernel')}; --top 0 shows all", "dim")]
        yield []
    if view.quiet:
        return
    yield from _folded([(f" {roll_up(comparison, found)}", "")], 1, view)
    if warning := unread(comparison):
        yield [(f" {warning}", "bold red")]


def _table(shown: Sequence[Row], view: View) -> Iterator[list[Span]]:
    several = len({_target(row) for row in shown}) > 1
    names = [name_of(row, view, several) for row in shown]
    width = max([0, *(cells(name) for name in names if cells(name) <= _ROOM)])
    for row, name in zip(shown, names, strict=True):
        status = (f" {row.status:<{_INDENT - 2}} ", STYLES.get(row.status, ""))
        line = f"{left(name, width)}  {row.why}"
        if view.fold and cells(line) + _INDENT > view.width:
            first, *others = folded(name, view.width - _INDENT, 2)
            yield [status, (first, "")]
            yield from ([(" " * _INDENT + other, "")] for other in others)
            status, line = (" " * _INDENT, ""), row.why
        yield from _folded([status, (line, "")], _INDENT, view)


def _folded(line: list[Span], indent: int, view: View) -> Iterator[list[Span]]:
    """The line, broken between words where a terminal is too narrow for it."""
    yield from wrap(line, view.width, indent) if view.fold else [line]


def name_of(row: Row, view: View, with_target: bool) -> str:
    """`old → new` where it has another name or target now."""
    old, new = row.old or row.kernel, row.new or row.kernel
    name = arrow(_styled(old, view), _styled(new, view))
    return f"{name} {_target(row)}" if with_target else name


def _target(row: Row) -> str:
    return printable(arrow((row.old or row.kernel).target, (row.new or row.kernel).target))


def _styled(kernel: KernelSummary, view: View) -> str:
    return styled(kernel.name, kernel.symbol, view.names)
