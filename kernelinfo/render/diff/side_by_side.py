"""Two builds on several targets: waves/SIMD with one column per target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair, bounded
from kernelinfo.errors import OptionError
from kernelinfo.kernel import counted
from kernelinfo.render import RECORD_FORMATS, View
from kernelinfo.render.diff.rows import arrow
from kernelinfo.render.names import name_of, printable, told_apart
from kernelinfo.render.paint import fitted, painted
from kernelinfo.render.records import render_document, render_table

SCHEMA = "kernelinfo/diff-targets/1"
Pairs = dict[str, dict[str, Pair]]  # distinct name → target → pair


def render_side_by_side(
    targets: Sequence[str], comparisons: Sequence[Comparison], format: str, view: View
) -> Iterator[str]:
    """The table. Text only counts kernels that keep their waves on all targets.

    Raises `OptionError` for a format without tables."""
    if format not in RECORD_FORMATS:
        raise OptionError(f"--as {','.join(targets)} has no {format}; give one target")
    known: dict[tuple[str, str, str], dict[str, Pair]] = {}
    for target, comparison in zip(targets, comparisons, strict=True):
        for pair in comparison.pairs:
            key = pair.new.symbol, pair.new.target, pair.new.code_object
            known.setdefault(key, {})[target] = pair
    kernels = [next(iter(of.values())).new for of in known.values()]
    names = told_apart([[one] for one in kernels], [name_of(one, view.names) for one in kernels])
    pairs: Pairs = dict(zip(names, known.values(), strict=True))
    if format == "text":
        return _text(targets, pairs, comparisons[0], view)
    records = [*_records(targets, pairs)]
    document = {"schema": SCHEMA, "targets": targets, "kernels": records}
    return render_document(document, records, format)


def _text(
    targets: Sequence[str], pairs: Pairs, comparison: Comparison, view: View
) -> Iterator[str]:
    moved = {
        name: of for name, of in pairs.items() if any(" → " in _moved(pair) for pair in of.values())
    }
    old, new = comparison.names or ("OLD", "NEW")
    title = [(f"{printable(old)} → {printable(new)}: waves/SIMD", "")]
    yield from painted(fitted(title, view, 1), view)
    yield "\n"
    shown = [*moved.items()][: view.top or None]
    rows = [(*(_moved(of.get(target)) for target in targets), name) for name, of in shown]
    if rows:
        yield from render_table((*targets, "kernel"), rows, view)
        yield "\n"
    hidden = f" ({len(moved) - len(shown)} not shown; --top 0)" if len(shown) < len(moved) else ""
    yield f" {len(moved)} of {counted(len(pairs), 'kernel')} moved{hidden}\n"


def _records(targets: Sequence[str], pairs: Pairs) -> Iterator[dict[str, Any]]:
    for name, of in pairs.items():
        record: dict[str, Any] = {"kernel": name}
        for target in targets:
            pair = of.get(target)
            record[f"{target}_old"] = pair and pair.old.waves_per_simd
            record[f"{target}_new"] = pair and pair.new.waves_per_simd
        yield record


def _moved(pair: Pair | None) -> str:
    """Old and new waves: `4 → 3`, or one number if they are equal."""
    if pair is None:
        return "–"
    return arrow(*(bounded(one.waves_per_simd, one) for one in (pair.old, pair.new)))
