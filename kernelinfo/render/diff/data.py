"""A comparison for programs: JSON, whose keys diff-schema.json describes, and CSV."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Any

from kernelinfo import __version__
from kernelinfo.compare import Comparison
from kernelinfo.compare.summary import COMPARED, KernelSummary
from kernelinfo.kernel.names import KernelName
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS, Column
from kernelinfo.render import View, diff, html, tables
from kernelinfo.render.json import as_json, encoded, picked
from kernelinfo.render.names import name_of, printable

SCHEMA = "kernelinfo/diff/1"


def render_json(comparison: Comparison, view: View) -> Iterator[str]:
    yield from encoded(document(comparison))


def render_jsonl(comparison: Comparison, view: View) -> Iterator[str]:
    """One object per moved, gone or new kernel, each on its line."""
    return tables.json_lines(map(row_document, diff.rows(comparison)))


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON values, with an iterator of its kernels."""
    kernels = diff.rows(comparison)
    counted = diff.counts(kernels)
    old, new = as_json(comparison.totals)
    moved = [pair for pair in comparison.pairs if pair.moves]
    return {
        "schema": SCHEMA,
        "version": __version__,
        "compilers": compilers(comparison),
        "summary": {
            "kernels": len(comparison.pairs),
            "affected": sum(counted.get(status, 0) for status in diff.AFFECTED),
            "counts": counted,
            "retargeted": [
                {"old": old_target, "new": new_target, "kernels": count}
                for (old_target, new_target), count in sorted(comparison.retargeted.items())
            ],
            "whole": [
                dict(zip(("kind", "name", "status", "kernels"), move, strict=True))
                for move in diff.whole_moves(comparison)
            ],
            "old": old,
            "new": new,
            "totals": {
                "kernels": len(moved),
                **{name: as_json(total) for name, total in diff.moved_sums(moved).items()},
            },
        },
        "kernels": (row_document(row) for row in kernels),
        "problems": as_json(comparison.problems),
    }


def compilers(comparison: Comparison) -> dict[str, Any]:
    """Compiler stamps of both builds."""
    return {"old": comparison.old_compilers, "new": comparison.new_compilers}


def row_document(row: diff.ChangedKernel) -> dict[str, Any]:
    """JSON object of one moved, gone or new kernel."""
    sides = {"old": summary_document(row.old), "new": summary_document(row.new)}
    return picked(row, "status", "match", "why", "moves", "loops") | sides


def summary_document(kernel: KernelSummary | None) -> dict[str, Any] | None:
    """JSON object of one kernel of a build; None without a kernel."""
    return kernel and picked(kernel, *COMPARED, "source")


_NAMES = ("Kernel_Name", "Symbol", "Target", "Code_Object")


def render_csv(comparison: Comparison, view: View) -> Iterator[str]:
    """The rows. A cell is empty if its build does not state the number, or lacks the kernel."""
    numbers = (*NUMBERS, *(INSTRUCTIONS if view.instructions else ()))
    of_sides = (*_NAMES, *(number.name for number in numbers))
    both = (f"{side}_{name}" for name in of_sides for side in ("Old", "New"))
    pairs = (
        (row, zip(*(side(kernel, view, numbers) for kernel in (row.old, row.new)), strict=True))
        for row in diff.rows(comparison)
    )
    values = ((row.status, row.match, row.why, *chain(*pair)) for row, pair in pairs)
    return tables.WRITERS["csv"](tables.Table(("Status", "Match", "Why", *both), values), view)


def side(
    kernel: KernelSummary | None, view: View, numbers: Sequence[Column] = NUMBERS
) -> list[object]:
    """Values of one build: names, target, code object and numbers; without a kernel each is
    None."""
    if kernel is None:
        return [None] * (len(_NAMES) + len(numbers))
    return [
        name_of(kernel, view.names),
        name_of(kernel, "mangled"),
        kernel.target,
        kernel.code_object,
        *(getattr(kernel.numbers, number.field) for number in numbers),
    ]


# A comparison as one HTML page: a slope chart, the totals in a line, a table.

SCRIPTS = (*html.TABLE_SCRIPTS, "problems.js", "status.js", "slopes.js", "diff.js")
_MEASURES = (*(number.field for number in NUMBERS), "exact")
"""Fields of `KernelNumbers` in the page's data."""


def render(comparison: Comparison, view: View) -> Iterator[str]:
    yield from html.page(_pieces(comparison, view), SCRIPTS)


def _pieces(comparison: Comparison, view: View) -> Iterator[str]:
    kernels = diff.rows(comparison)
    remarks = (
        describe(comparison)
        for describe in (diff.whole, diff.retargeted, diff.toolchain, diff.unread)
    )
    yield html.piece(
        {
            "headline": diff.headline(kernels),
            "builds": [printable(name) for name in comparison.names or ()],
            "about": [
                *filter(
                    None, (diff.roll_up(comparison, kernels), diff.totals(comparison), *remarks)
                ),
            ],
            "measures": _MEASURES,
            "problems": html.problem_rows(comparison.problems),
            "repeats": [],
        }
    )
    old, new = html.Shared[KernelName](), html.Shared[KernelName]()
    places, measures = html.Shared[Hashable](), html.Shared[Hashable]()

    def side(kernel: KernelSummary | None, titles: html.Shared[KernelName]) -> list[int] | None:
        if kernel is None:
            return None
        numbers = tuple(getattr(kernel.numbers, name) for name in _MEASURES)
        return [titles(html.title(kernel)), places(html.place_of(kernel)), measures(numbers)]

    for batch in html.batches(kernels):
        changed = [
            [row.status, printable(row.why), row.options, side(row.old, old), side(row.new, new)]
            for row in batch
        ]
        yield html.piece(
            {
                "rows": changed,
                "old_titles": html.fresh_titles(old, view.names),
                "new_titles": html.fresh_titles(new, view.names),
                "places": places.fresh(),
                "numbers": measures.fresh(),
            }
        )
    none = dict.fromkeys(("rows", "old_titles", "new_titles", "places", "numbers"), ())
    briefs = {
        "old_briefs": html.brief_titles(old, view.names),
        "new_briefs": html.brief_titles(new, view.names),
    }
    yield html.piece(none | briefs)
