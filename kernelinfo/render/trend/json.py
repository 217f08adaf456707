"""A trend as one JSON document; trend-schema.json in this folder describes every key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kernelinfo import __version__
from kernelinfo.fleet.history import Trend
from kernelinfo.render import View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.json import compilers, summary_document
from kernelinfo.render.json import as_json
from kernelinfo.render.json_text import encoded
from kernelinfo.render.trend.rows import TrendRow, rows

SCHEMA = "kernelinfo/trend/1"


def render(trend: Trend, view: View) -> Iterator[str]:
    found = rows(trend)
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "dataset": trend.dataset,
        "builds": [build._asdict() for build in trend.builds],
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
        "groups": as_json(trend.groups),
        "kernels": (_kernel(one) for one in found),
    }
    yield from encoded(document)


def _kernel(one: TrendRow) -> dict[str, Any]:
    return {
        "status": one.row.status,
        "library": one.history.library,
        "match": one.row.match,
        "why": one.why,
        "moved_in": one.moved_in,
        "history": [summary_document(kernel) for kernel in one.history.kernels],
        "steps": [
            {"build": build, "why": pair.why, "moves": [move._asdict() for move in pair.moves]}
            for build, pair in one.history.steps
        ],
    }
