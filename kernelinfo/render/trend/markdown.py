"""Markdown of a trend: headline, compilers, libraries and targets, affected kernels."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.fleet.history import Trend
from kernelinfo.render import View
from kernelinfo.render.counts import HEADINGS
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.markdown import HEADING, cells_of
from kernelinfo.render.names import BETWEEN
from kernelinfo.render.tables import code, folded, kernel_table, markdown_table, plain
from kernelinfo.render.trend.rows import (
    PLACES,
    TrendRow,
    groups,
    headline,
    places,
    recompiled,
    rows,
    told_builds,
)

_BUILDS = ("build", "kernels", "waves/SIMD summed", "spilling", "scratch", "code", "moved")
_MOST_PLACES = 20
_HEADING = (HEADING[0], "in", "library", *HEADING[1:])
_FOLDED = {
    "gone and new": ("gone", "new"),
    "moved within their steps or only renamed": ("moved", "renamed"),
    "as before again": ("same",),
}
"""Title of a folded table -> status of its kernels."""


def render(trend: Trend, view: View) -> Iterator[str]:
    found = rows(trend)
    yield f"**kernelinfo trend · {plain(headline(trend, found))}**\n"
    for build, words in recompiled(trend):
        yield f"\nCompiler of {code(build)}: {plain(words)}\n"
    if trend.by:
        yield from markdown_table(
            (trend.by, *HEADINGS), [tuple(map(plain, row)) for row in groups(trend)]
        )
    else:
        yield from _moved(found, view)
    builds = [
        (code(trend.builds[index].name), *numbers, code_bytes, plain(step))
        for index, (*numbers, _, code_bytes, step) in told_builds(trend)
    ]
    yield from folded("builds", _BUILDS, builds)


def _moved(found: list[TrendRow], view: View) -> Iterator[str]:
    among = [tuple(map(plain, row)) for row in places(found)]
    yield from markdown_table(PLACES, among[:_MOST_PLACES])
    yield from folded(f"{len(among) - _MOST_PLACES} more", PLACES, among[_MOST_PLACES:])
    affected = [_cells(one, view) for one in found if one.row.status in diff.AFFECTED]
    yield from kernel_table(_HEADING, affected)
    for title, statuses in _FOLDED.items():
        others = [_cells(one, view) for one in found if one.row.status in statuses]
        yield from folded(title, _HEADING, others)


def _cells(of: TrendRow, view: View) -> tuple[str, ...]:
    status, name, target, _ = cells_of(of.row, view)
    name += plain(BETWEEN + of.row.options) if of.row.options else ""
    return status, plain(of.moved_in_words), code(of.library), name, target, plain(of.why)
