"""Markdown for a pull request: the headline, the affected kernels, the library in a line."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff.rows import (
    AFFECTED,
    Row,
    arrow,
    headline,
    retargeted,
    roll_up,
    rows,
    toolchain,
    unread,
)
from kernelinfo.render.markdown import code, folded, plain, table
from kernelinfo.render.names import name_of
from kernelinfo.render.words import plural

_SHOWN = 20
"""Rows before the rest is folded."""
HEADING = ("", "kernel", "target", "why")


def render(comparison: Comparison, view: View) -> Iterator[str]:
    found = rows(comparison)
    named = f" {' → '.join(map(code, comparison.names))}" if comparison.names else ""
    yield f"**kernelinfo diff{named} · {plain(headline(found))}**\n"
    affected = [row for row in found if row.status in AFFECTED]
    rest = [row for row in found if row.status in ("gone", "new")]
    cells = [cells_of(row, view) for row in affected]
    yield from table(HEADING, cells[:_SHOWN])
    yield from folded(plural(len(cells) - _SHOWN, "more kernel"), HEADING, cells[_SHOWN:])
    yield from folded("gone and new", HEADING, [cells_of(row, view) for row in rest])
    yield f"\n{plain(roll_up(comparison, found))}\n"
    remarks = (of(comparison) for of in (retargeted, toolchain, unread))
    yield from (f"\n{plain(remark)}\n" for remark in remarks if remark)


def cells_of(row: Row, view: View) -> tuple[str, ...]:
    names = (code(name_of(one, view.names)) for one in row.sides)
    targets = (code(one.target) for one in row.sides)
    return row.status, arrow(*names), arrow(*targets), plain(row.why)
