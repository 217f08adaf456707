"""A comparison as one HTML page: a slope chart, the totals in a line, a table."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.record import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.diff.rows import (
    headline,
    retargeted,
    roll_up,
    rows,
    toolchain,
    totals,
    unread,
)
from kernelinfo.render.html import TABLE_SCRIPTS, page
from kernelinfo.render.html.dataset import Titles, place_of, problem_rows
from kernelinfo.render.html.pieces import PagePiece, Shared, batches, piece
from kernelinfo.render.names import printable

SCRIPTS = (*TABLE_SCRIPTS, "problems.js", "status.js", "slopes.js", "diff.js")
_MEASURES = (*(number.field for number in NUMBERS), "exact")
"""Fields of `KernelNumbers` in the page's data."""


def render(comparison: Comparison, view: View) -> Iterator[str]:
    yield from page(_pieces(comparison, view), SCRIPTS)


def _pieces(comparison: Comparison, view: View) -> Iterator[PagePiece]:
    found = rows(comparison)
    remarks = (of(comparison) for of in (retargeted, toolchain, unread))
    yield piece(
        {
            "headline": headline(found),
            "builds": [printable(name) for name in comparison.names or ()],
            "about": [
                *filter(None, (roll_up(comparison, found), totals(comparison), *remarks)),
            ],
            "measures": _MEASURES,
            "problems": problem_rows(comparison.problems),
            "repeats": [],
        }
    )
    old, new, places, measures = Titles(view.names), Titles(view.names), Shared(), Shared()

    def side(kernel: KernelSummary | None, titles: Titles) -> list[int] | None:
        if kernel is None:
            return None
        numbers = tuple(getattr(kernel.numbers, name) for name in _MEASURES)
        return [titles(kernel), places(place_of(kernel)), measures(numbers)]

    for batch in batches(found):
        changed = [
            [row.status, printable(row.why), row.options, side(row.old, old), side(row.new, new)]
            for row in batch
        ]
        titles = {"old_titles": old.fresh(), "new_titles": new.fresh()}
        yield piece(
            {"rows": changed, **titles, "places": places.fresh(), "numbers": measures.fresh()}
        )
    none = dict.fromkeys(("rows", "old_titles", "new_titles", "places", "numbers"), ())
    yield piece({**none, "old_briefs": old.briefs(), "new_briefs": new.briefs()})
