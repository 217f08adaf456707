"""A trend as one HTML page: builds, and moved kernels with their curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo.fleet.history import History, Trend
from kernelinfo.render import View
from kernelinfo.render.html import TABLE_SCRIPTS, page
from kernelinfo.render.html.dataset import Titles
from kernelinfo.render.names import printable
from kernelinfo.render.trend.rows import (
    GROUPS,
    PLACES,
    TrendRow,
    groups,
    headline,
    places,
    recompiled,
    rows,
    step_in_words,
)

SCRIPTS = (*TABLE_SCRIPTS, "trend.js")
_MEASURES = (
    *("waves_per_simd", "vgprs", "sgprs", "vgpr_spills", "scratch_bytes_per_lane"),
    "code_bytes",
)
"""Fields of `KernelSummary` that the page draws."""


def render(trend: Trend, view: View) -> Iterator[str]:
    found = rows(trend)
    titles = Titles([one.history.latest for one in found], view.names)
    data = {
        "headline": headline(trend, found),
        "builds": [build._asdict() for build in trend.builds],
        "steps": ["", *map(step_in_words, trend.steps)],
        "recompiled": recompiled(trend),
        "places": [PLACES, *places(found)],
        "groups": [(trend.by, *GROUPS), *groups(trend)] if trend.by else [],
        "measures": _MEASURES,
        "rows": [
            [
                one.row.status,
                printable(one.why),
                printable(", ".join(one.moved_in)),
                titles.of(one.history.latest),
                printable(one.history.library),
                printable(one.history.latest.target),
                _also(one),
                _curves(one.history),
            ]
            for one in found
        ],
    }
    yield from page(data, SCRIPTS, len(found))


def _also(one: TrendRow) -> str:
    """The text under a kernel's name: its old name, otherwise its code object."""
    old, latest = one.row.old, one.history.latest
    renamed = old is not None and old.name != latest.name
    return printable(f"was {old.name}" if old and renamed else latest.code_object)


def _curves(history: History) -> list[list[Any]]:
    """One list per measure with a value per build; None if a build lacks the kernel or the
    number."""
    return [
        [kernel and getattr(kernel, measure) for kernel in history.kernels] for measure in _MEASURES
    ]
