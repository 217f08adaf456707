"""A trend for programs: JSON, of which trend-schema.json describes every key, and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kernelinfo import __version__
from kernelinfo.fleet.history import BuildTotals, Trend
from kernelinfo.kernel.columns import KernelSums
from kernelinfo.kernel.record import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.data import compilers, side, summary_document
from kernelinfo.render.json import as_json
from kernelinfo.render.json_text import encoded
from kernelinfo.render.tables import WRITERS, Row, Table
from kernelinfo.render.trend.rows import TrendRow, rows

SCHEMA = "kernelinfo/trend/1"


def render_json(trend: Trend, view: View) -> Iterator[str]:
    moved = rows(trend)
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "dataset": trend.dataset,
        "builds": list(map(build_document, trend.builds)),
        "steps": [
            {
                "old": old.name,
                "new": new.name,
                "counts": diff.counts(diff.rows(step.comparison), step.within_steps),
                "compilers": compilers(step.comparison),
                "libraries": step.libraries,
                "recompiled": as_json(step.recompiled),
            }
            for (old, new), step in zip(pairwise(trend.builds), trend.steps, strict=True)
        ],
        "unfinished": trend.unfinished,
        "by": trend.by,
        "groups": [
            group._asdict() | {"old": _sums(group.old), "new": _sums(group.new)}
            for group in trend.groups
        ],
        "kernels": map(_kernel, moved),
    }
    yield from encoded(document)


def build_document(build: BuildTotals) -> dict[str, Any]:
    """A build and its sums, as `trend-schema.json` describes them."""
    name, sums, *about = build
    return {"name": name, **_sums(sums), **dict(zip(build._fields[2:], about, strict=True))}


def _sums(sums: KernelSums) -> dict[str, Any]:
    """The sums by their names; those of waves lost belong to both builds of a group together."""
    return dict(zip(_SUMS, sums, strict=False))


def _kernel(row: TrendRow) -> dict[str, Any]:
    return {
        "status": row.change.status,
        "library": row.history.library,
        "match": row.change.match,
        "why": row.why,
        "moved_in": row.moved_in,
        "commits": row.commits,
        "history": [summary_document(kernel) for kernel in row.history.kernels],
        "steps": [
            {"build": build, "why": pair.why, "moves": [move._asdict() for move in pair.moves]}
            for build, pair in row.history.steps
        ],
    }


_HEADING = (
    *("Kernel", "Status", "Match", "Moved_In", "Commits", "Why", "Library", "Build"),
    *("Kernel_Name", "Symbol", "Target", "Code_Object", *(number.name for number in NUMBERS)),
)
_SUMS = {
    "kernels": "Kernels",
    "waves_per_simd": "Waves_Per_SIMD",
    "spilling": "Spilling",
    "worst_spills": "Worst_Spills",
    "scratch_bytes_per_lane": "Scratch_Size",
    "vgprs": "VGPR_Used",
    "code_bytes": "Code_Size",
}
"""Sum of a build -> its column."""


def render_csv(trend: Trend, view: View) -> Iterator[str]:
    """The CSV text, line by line. Column `Kernel` numbers the kernels: rows of one kernel share it,
    also across renames."""
    if trend.by:
        table = Table((trend.by, "Waves_Lost", "Build", *_SUMS.values()), _groups(trend))
    else:
        table = Table(_HEADING, _kernels(trend, view))
    return WRITERS["csv"](table, view)


def _kernels(trend: Trend, view: View) -> Iterator[Row]:
    for number, row in enumerate(rows(trend), 1):
        commits = tuple(commits or "-" for commits in row.commits)
        about = (number, row.change.status, row.change.match, row.moved_in, commits, row.why)
        for build, kernel in zip(trend.builds, row.history.kernels, strict=True):
            yield *about, row.history.library, build.name, *side(kernel, view)


def _groups(trend: Trend) -> Iterator[Row]:
    """One row per group in the first build and one in the last."""
    for group in trend.groups:
        for build, sums in ((trend.builds[0], group.old), (trend.builds[-1], group.new)):
            yield group.key, group.waves_lost, build.name, *_sums(sums).values()
