"""A comparison as one JSON document; diff-schema.json in this folder describes every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.render import View
from kernelinfo.render.diff.rows import AFFECTED, Row, counts, rows
from kernelinfo.render.json import encoded, flat

SCHEMA = "kernelinfo-diff/1"


def render(comparison: Comparison, view: View) -> Iterator[str]:
    yield encoded(document(comparison))


def document(comparison: Comparison) -> dict[str, Any]:
    found = rows(comparison)
    counted = counts(found)
    old, new = (total._asdict() for total in comparison.totals)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "compilers": compilers(comparison),
        "summary": {
            "kernels": len(comparison.pairs),
            "affected": sum(counted.get(status, 0) for status in AFFECTED),
            "counts": counted,
            "retargeted": [
                {"old": old_target, "new": new_target, "kernels": count}
                for (old_target, new_target), count in sorted(comparison.retargeted.items())
            ],
            "old": old,
            "new": new,
        },
        "kernels": [row_document(row) for row in found],
        "problems": [flat(problem) for problem in comparison.problems],
    }


def compilers(comparison: Comparison) -> dict[str, Any]:
    """The stamps of both builds."""
    return {"old": comparison.old_compilers, "new": comparison.new_compilers}


def row_document(row: Row) -> dict[str, Any]:
    """One kernel that moved, is gone or new."""
    return {
        "status": row.status,
        "match": row.match,
        "why": row.why,
        "moves": [move._asdict() for move in row.moves],
        "old": summary(row.old),
        "new": summary(row.new),
    }


def summary(kernel: KernelSummary | None) -> dict[str, Any] | None:
    """A kernel in one build; None where that does not have it."""
    if kernel is None:
        return None
    return flat(kernel) | {"source": kernel.source and kernel.source._asdict()}
