"""Two builds on several targets: waves/SIMD with one column per target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair, bounded
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.errors import OptionError
from kernelinfo.kernel import counted, grouped
from kernelinfo.render import RECORD_FORMATS, View
from kernelinfo.render.diff.rows import among, arrow, place
from kernelinfo.render.names import name_of, printable, told_apart
from kernelinfo.render.paint import fitted, painted
from kernelinfo.render.records import render_document, render_table

SCHEMA = "kernelinfo/diff-targets/1"
Pairs = dict[str, Pair]  # of one kernel, by target


def render_side_by_side(
    targets: Sequence[str], comparisons: Sequence[Comparison], format: str, view: View
) -> Iterator[str]:
    """The table. Text only counts kernels that keep their waves on all targets.

    Raises `OptionError` for a format without tables."""
    if format not in RECORD_FORMATS:
        raise OptionError(f"--as {','.join(targets)} has no {format}; give one target")
    known: dict[tuple[str, str, str], Pairs] = {}
    for target, comparison in zip(targets, comparisons, strict=True):
        for pair in comparison.pairs:
            key = pair.new.symbol, pair.new.target, pair.new.code_object
            known.setdefault(key, {})[target] = pair
    every = [*known.values()]
    if format == "text":
        return _text(targets, every, comparisons[0], view)
    called = [name_of(_kernel(of), view.names) for of in every]
    names = told_apart([[_kernel(of)] for of in every], called)
    pairs = zip(names, every, strict=True)
    records = [*_records(targets, pairs)]
    document = {"schema": SCHEMA, "targets": targets, "kernels": records}
    return render_document(document, records, format)


def _kernel(of: Pairs) -> KernelSummary:
    """The kernel in the new build."""
    return next(iter(of.values())).new


def _text(
    targets: Sequence[str], every: Sequence[Pairs], comparison: Comparison, view: View
) -> Iterator[str]:
    old, new = comparison.names or ("OLD", "NEW")
    title = [(f"{printable(old)} → {printable(new)}: waves/SIMD", "")]
    yield from painted(fitted(title, view, 1), view)
    yield "\n"
    equal: dict[tuple[str, ...], list[KernelSummary]] = {}
    for of in every:
        moved = [_moved(of.get(target)) for target in targets]
        if any(" → " in cell for cell in moved):
            name = name_of(_kernel(of), view.names)
            equal.setdefault((name, *moved), []).append(_kernel(of))
    keys, groups = [*equal][: view.top or None], [*equal.values()][: view.top or None]
    called = [name for name, *_ in keys]
    if len({*map(place, chain(*groups))}) > 1:
        called = [f"{name}{among(map(place, of))}" for name, of in zip(called, groups, strict=True)]
    names = told_apart(groups, called)
    rows = [
        (*moved, f"{name} × {len(of)}" if of[1:] else name)
        for (_, *moved), of, name in zip(keys, groups, names, strict=True)
    ]
    if rows:
        yield from render_table((*targets, "kernel"), rows, view)
        yield "\n"
    count = sum(map(len, equal.values()))
    more = count - sum(map(len, groups))
    hidden = f" ({grouped(more)} not shown; --top 0)" if more else ""
    yield f" {grouped(count)} of {counted(len(every), 'kernel')} moved{hidden}\n"


def _records(
    targets: Sequence[str], pairs: Iterable[tuple[str, Pairs]]
) -> Iterator[dict[str, Any]]:
    for name, of in pairs:
        record: dict[str, Any] = {"kernel": name}
        for target in targets:
            pair = of.get(target)
            record[f"{target}_old"] = pair and pair.old.numbers.waves_per_simd
            record[f"{target}_new"] = pair and pair.new.numbers.waves_per_simd
        yield record


def _moved(pair: Pair | None) -> str:
    """Old and new waves: `4 → 3`, or one number if they are equal."""
    if pair is None:
        return "–"
    sides = pair.old.numbers, pair.new.numbers
    return arrow(*(bounded(one.waves_per_simd, one) for one in sides))
