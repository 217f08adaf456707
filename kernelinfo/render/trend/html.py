"""A trend as one HTML page: builds, and moved kernels with their curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo.fleet.acceptance import without_versions
from kernelinfo.fleet.history import Trend
from kernelinfo.render import View
from kernelinfo.render.html import TABLE_SCRIPTS, page
from kernelinfo.render.html.dataset import PagePiece, Shared, Titles, batches, piece, place_of
from kernelinfo.render.names import member_path, printable
from kernelinfo.render.rows import HEADINGS
from kernelinfo.render.trend.data import build_document
from kernelinfo.render.trend.rows import (
    PLACES,
    TrendRow,
    groups,
    headline,
    places,
    recompiled,
    rows,
    step_in_words,
)

SCRIPTS = (*TABLE_SCRIPTS, "status.js", "trend.js")
_MEASURES = (
    *("waves_per_simd", "exact", "vgprs", "vgpr_spills", "scratch_bytes_per_lane"),
    "code_bytes",
)
"""Fields of `KernelNumbers` that the page draws."""


def render(trend: Trend, view: View) -> Iterator[str]:
    yield from page(_pieces(trend, view), SCRIPTS)


def _pieces(trend: Trend, view: View) -> Iterator[PagePiece]:
    moved = rows(trend)
    yield piece(
        {
            "headline": headline(trend, moved),
            "builds": list(map(build_document, trend.builds)),
            "steps": ["", *map(step_in_words, trend.steps)],
            "recompiled": recompiled(trend),
            "moved_in": [PLACES, *places(moved)],
            "groups": [(trend.by, *HEADINGS), *groups(trend)] if trend.by else [],
            "measures": _MEASURES,
        }
    )
    titles, origins = Titles(view.names), Shared()

    def cells(row: TrendRow) -> list[Any]:
        texts = row.change.status, printable(row.why), row.moved_in_words, _also(row)
        curves = [
            [kernel and getattr(kernel.numbers, measure) for kernel in row.history.kernels]
            for measure in _MEASURES
        ]
        return [*texts, titles(row.history.latest), origins(_origin(row)), curves]

    for batch in batches(moved):
        changed = [cells(row) for row in batch]
        yield piece({"rows": changed, "titles": titles.fresh(), "origins": origins.fresh()})
    yield piece({"rows": [], "titles": [], "origins": [], "briefs": titles.briefs()})


def _origin(row: TrendRow) -> tuple[str, str, str]:
    """(target, library and member file without versions, its short name) of the latest build."""
    target, location, name = place_of(row.history.latest)
    file = without_versions(location.partition(" › ")[2])
    return target, member_path(row.history.library, file), name


def _also(row: TrendRow) -> str:
    """Triton's constants, and the old name of a renamed kernel."""
    old = row.change.old
    renamed = old and old.name != row.history.latest.name
    was = printable(f"was {old.name}") if old and renamed else ""
    return " · ".join(filter(None, (row.change.options, was)))
