"""A comparison as one HTML page: a slope chart, the totals in a line, a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.diff.rows import headline, retargeted, roll_up, rows, toolchain, unread
from kernelinfo.render.html import TABLE_SCRIPTS, page
from kernelinfo.render.html.dataset import Titles, problem_rows
from kernelinfo.render.names import printable

SCRIPTS = (*TABLE_SCRIPTS, "problems.js", "slopes.js", "diff.js")
_MEASURES = (*(number.field for number in NUMBERS), "exact")
"""Fields of `KernelSummary` in the page's data."""


def render(comparison: Comparison, view: View) -> Iterator[str]:
    found = rows(comparison)
    old = Titles((row.old for row in found if row.old), view.names)
    new = Titles((row.new for row in found if row.new), view.names)
    remarks = (of(comparison) for of in (retargeted, toolchain, unread))
    data = {
        "headline": headline(found),
        "about": [*filter(None, (roll_up(comparison, found), *remarks))],
        "measures": _MEASURES,
        "rows": [
            [row.status, printable(row.why), _side(row.old, old), _side(row.new, new)]
            for row in found
        ],
        "problems": problem_rows(comparison.problems),
        "repeats": [],
    }
    yield from page(data, SCRIPTS, len(found))


def _side(kernel: KernelSummary | None, titles: Titles) -> list[Any] | None:
    if kernel is None:
        return None
    measures = [getattr(kernel, name) for name in _MEASURES]
    return [titles.of(kernel), printable(kernel.target), printable(kernel.code_object), measures]
