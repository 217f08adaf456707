"""A comparison as one JSON document; diff-schema.json in this folder describes every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import COMPARED, KernelSummary
from kernelinfo.render import View
from kernelinfo.render.diff.rows import AFFECTED, ChangedKernel, counts, rows
from kernelinfo.render.diff.totals import moved_sums
from kernelinfo.render.json import as_json, picked
from kernelinfo.render.json_text import encoded
from kernelinfo.render.tables import json_lines

SCHEMA = "kernelinfo/diff/1"


def render(comparison: Comparison, view: View) -> Iterator[str]:
    yield from encoded(document(comparison))


def render_lines(comparison: Comparison, view: View) -> Iterator[str]:
    """One object per moved, gone or new kernel, each on its line."""
    return json_lines(map(row_document, rows(comparison)))


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON values, with an iterator of its kernels."""
    found = rows(comparison)
    counted = counts(found)
    old, new = as_json(comparison.totals)
    moved = [pair for pair in comparison.pairs if pair.moves]
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
            "totals": {
                "kernels": len(moved),
                **{name: as_json(one) for name, one in moved_sums(moved).items()},
            },
        },
        "kernels": (row_document(row) for row in found),
        "problems": as_json(comparison.problems),
    }


def compilers(comparison: Comparison) -> dict[str, Any]:
    """Compiler stamps of both builds."""
    return {"old": comparison.old_compilers, "new": comparison.new_compilers}


def row_document(row: ChangedKernel) -> dict[str, Any]:
    """JSON object of one moved, gone or new kernel."""
    sides = {"old": summary_document(row.old), "new": summary_document(row.new)}
    return picked(row, "status", "match", "why", "moves") | sides


def summary_document(kernel: KernelSummary | None) -> dict[str, Any] | None:
    """JSON object of one kernel of a build; None without a kernel."""
    return kernel and picked(kernel, *COMPARED, "source")
