"""A comparison for people: affected kernels, worst first, then the totals in a line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import bounded, effect
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.errors import OptionError
from kernelinfo.kernel import counted, grouped
from kernelinfo.kernel.code_object import library_of, member_file
from kernelinfo.kernel.columns import KernelSums
from kernelinfo.model.limits import RESOURCES
from kernelinfo.render import View, diff, paint, rows, tables
from kernelinfo.render.messages import say
from kernelinfo.render.names import name_of, printable, told_apart

# Two builds on several targets: waves/SIMD with one column per target, then spills and scratch.

TARGETS_SCHEMA = "kernelinfo/diff-targets/2"
OnTargets = dict[str, diff.ChangedKernel]  # one kernel, by target
_SPILLED = ("vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")
"""Numbers that are the same on all targets."""


def render_side_by_side(
    targets: Sequence[str], comparisons: Sequence[Comparison], format: str, view: View
) -> Iterator[str]:
    """The comparisons on several targets as one table, a row per kernel. In text, kernels that are
    affected on no target, keep their waves and are neither gone nor new are only counted.

    Raises `OptionError` for a format without tables.
    """
    if format not in tables.WRITERS:
        listed = ",".join(targets)
        raise OptionError(say("format-without-targets", targets=listed, format=format))
    by_kernel: dict[tuple[str, str, str, bool], OnTargets] = {}
    for target, comparison in zip(targets, comparisons, strict=True):
        for changed in diff.every_kernel(comparison):
            kernel = changed.kernel
            key = kernel.symbol, kernel.target, kernel.code_object, changed.new is None
            by_kernel.setdefault(key, {})[target] = changed
    every = [*by_kernel.values()]
    called = [name_of(_any(row).kernel, view.names) for row in every]
    names = told_apart([[_any(row).kernel] for row in every], called)
    records = [_record(targets, name, row) for name, row in zip(names, every, strict=True)]
    text = _text(targets, every, comparisons[0], view)
    table = tables.of_records(records, TARGETS_SCHEMA, "kernels", {"targets": targets}, text)
    return tables.WRITERS[format](table, view)


def _any(row: OnTargets) -> diff.ChangedKernel:
    return next(iter(row.values()))


def _status(row: OnTargets) -> diff.Status:
    """The effect of the moves on all targets; gone or new if the kernel is."""
    if (status := _any(row).status) in ("gone", "new"):
        return status
    return effect([move for changed in row.values() for move in changed.moves])


def _text(
    targets: Sequence[str], every: Sequence[OnTargets], comparison: Comparison, view: View
) -> Iterator[str]:
    old, new = comparison.names or ("OLD", "NEW")
    title = [(f"{printable(old)} → {printable(new)}: waves/SIMD", "")]
    yield from paint.painted(paint.fitted(title, view, 1), view)
    yield "\n"
    equal: dict[tuple[str, ...], list[KernelSummary]] = {}
    for row in every:
        waves = [_moved(row.get(target), _waves) for target in targets]
        status = _status(row)
        if status in (*diff.AFFECTED, "gone", "new") or any(" → " in cell for cell in waves):
            spilled = [_moved(_any(row), measure) for measure in (_spills, _scratch)]
            name = name_of(_any(row).kernel, view.names)
            equal.setdefault((name, status, *waves, *spilled), []).append(_any(row).kernel)
    keys, groups = [*equal][: view.top or None], [*equal.values()][: view.top or None]
    called = [name for name, *_ in keys]
    if len({*map(diff.place, chain(*groups))}) > 1:
        called = [
            f"{name}{diff.among(map(diff.place, group))}"
            for name, group in zip(called, groups, strict=True)
        ]
    names = told_apart(groups, called)
    rows = [
        (*cells, f"{name} × {len(group)}" if group[1:] else name)
        for (_, *cells), group, name in zip(keys, groups, names, strict=True)
    ]
    if rows:
        heading = ("", *targets, "spills", "scratch", "kernel")
        table = _without_equal(heading, rows)
        yield from paint.painted(
            paint.table_lines(table, "t" * (len(table[0]) - 1) + "k", view), view
        )
        yield "\n"
    pairs = [row for row in every if _status(row) not in ("gone", "new")]
    moved = sum(
        len(group) for (_, status, *_), group in equal.items() if status not in ("gone", "new")
    )
    apart = [len(kernels) for kernels in (comparison.gone, comparison.new)]
    not_shown = sum(map(len, equal.values())) - sum(map(len, groups))
    words = [f"{grouped(moved)} of {counted(len(pairs), 'kernel')} moved"]
    words += [f"{grouped(n)} {word}" for n, word in zip(apart, ("gone", "new"), strict=True) if n]
    hidden = f" ({grouped(not_shown)} not shown; --top 0)" if not_shown else ""
    yield f" {', '.join(words)}{hidden}\n"


def _without_equal(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The table, without a column of spills or scratch if it is the same in both builds for
    every kernel that both have."""
    kept = [
        index
        for index, name in enumerate(heading)
        if name not in ("spills", "scratch")
        or any(" → " in row[index] for row in rows if row[0] not in ("gone", "new"))
    ]
    return [[row[index] for index in kept] for row in (heading, *rows)]


def _record(targets: Sequence[str], name: str, row: OnTargets) -> dict[str, Any]:
    record: dict[str, Any] = {"kernel": name, "status": _status(row)}
    for target in targets:
        record |= _both(target, row.get(target), "waves_per_simd")
    for measure in _SPILLED:
        record |= _both(measure, _any(row), measure)
    return record


def _both(name: str, row: diff.ChangedKernel | None, measure: str) -> dict[str, Any]:
    """`name_old` and `name_new`: the number in each build; None if the build lacks the kernel."""
    sides = {f"{name}_old": row and row.old, f"{name}_new": row and row.new}
    return {key: kernel and getattr(kernel.numbers, measure) for key, kernel in sides.items()}


def _moved(row: diff.ChangedKernel | None, text: Callable[[KernelSummary], str]) -> str:
    """Old and new number: `4 → 3`, or the number if both are equal; `–` if a build lacks the
    kernel."""
    sides = (row.old, row.new) if row else (None, None)
    return diff.arrow(*("–" if kernel is None else text(kernel) for kernel in sides))


def _waves(kernel: KernelSummary) -> str:
    return bounded(kernel.numbers.waves_per_simd, kernel.numbers)


def _spills(kernel: KernelSummary) -> str:
    """Number of spilled registers."""
    spills = (kernel.numbers.vgpr_spills, kernel.numbers.sgpr_spills)
    stated = [count for count in spills if count is not None]
    return grouped(sum(stated)) if stated else "?"


def _scratch(kernel: KernelSummary) -> str:
    size = kernel.numbers.scratch_bytes_per_lane
    return "?" if size is None else f"{size} B"


STYLES = {"worse": "bold red", "mixed": "yellow", "better": "green", "gone": "red"}
_INDENT = 9


def render(comparison: Comparison, view: View) -> Iterator[str]:
    return paint.painted(_lines(comparison, diff.rows(comparison), view), view)


def _lines(
    comparison: Comparison, changed: list[diff.ChangedKernel], view: View
) -> Iterator[list[paint.Span]]:
    heading = (diff.headline(changed), diff.retargeted(comparison), diff.toolchain(comparison))
    if comparison.names:
        yield from paint.fitted([(printable(" → ".join(comparison.names)), "")], view, 1)
    yield from paint.fitted([(" · ".join(filter(None, heading)), "bold")], view, 1)
    if remark := diff.whole(comparison):
        yield from paint.fitted([(remark, "bold")], view, 1)
    yield []
    if changed:
        yield from _table(changed, view)
        yield []
    if view.quiet:
        return
    below = (
        (diff.roll_up(comparison, changed), ""),
        (diff.loosely_paired(comparison), "dim"),
        (diff.totals(comparison) if len(comparison.pairs) >= diff.MANY else "", ""),
    )
    for text, style in below:
        yield from paint.fitted([(f" {text}", style)], view, 1) if text else ()
    if warning := diff.unread(comparison):
        yield [(f" {warning}", "bold red")]


def _table(changed: Sequence[diff.ChangedKernel], view: View) -> Iterator[list[paint.Span]]:
    style = diff.fitting_names(changed[: view.top or None], view)
    shown = diff.folded_rows(changed, style, view.top or None, has_target_column=False)
    names = [name + apart for _, name, apart in shown]
    width = max([0, *(paint.cells(name) for name in names if paint.cells(name) <= diff.ROOM)])
    for ((row, *_), *_), name in zip(shown, names, strict=True):
        status = (f" {row.status:<{_INDENT - 2}} ", STYLES.get(row.status, ""))
        yield from paint.entry_lines([status], paint.left(name, width), row.why, view, _INDENT)
    yield from paint.hidden(len(changed) - sum(len(group) for group, *_ in shown))


COLUMNS = ("", "kernel", "target", "why")


def render_markdown(comparison: Comparison, view: View) -> Iterator[str]:
    changed = diff.rows(comparison)
    named = f" {' → '.join(map(tables.code, comparison.names))}" if comparison.names else ""
    yield f"**kernelinfo diff{named} · {tables.plain(diff.headline(changed))}**\n"
    affected = rows_in_markdown(changed, diff.AFFECTED, view)
    apart = rows_in_markdown(changed, ("gone", "new"), view)
    with_loops = rows_in_markdown([r for r in changed if r.has_matrix_loop], ("moved",), view)
    yield from tables.kernel_table(COLUMNS, [*affected, *with_loops])
    yield from tables.folded("gone and new", COLUMNS, apart)
    yield f"\n{tables.plain(diff.roll_up(comparison, changed))}\n"
    about = (
        diff.whole,
        diff.retargeted,
        diff.toolchain,
        diff.loosely_paired,
        diff.unread,
        diff.totals,
    )
    remarks = (describe(comparison) for describe in about)
    yield from (f"\n{tables.plain(remark)}\n" for remark in remarks if remark)


def rows_in_markdown(
    changed: Sequence[diff.ChangedKernel], statuses: Sequence[diff.Status], view: View
) -> list[tuple[str, ...]]:
    """The cells of the rows with one of these statuses. Equal rows of several libraries are
    merged."""
    chosen = [row for row in changed if row.status in statuses]
    lines = []
    for (row, *_), _, apart in diff.folded_rows(chosen, view.names, has_target_column=True):
        status, name, *rest = cells_in_markdown(row, view)
        lines.append((status, name + tables.plain(apart), *rest))
    return lines


def cells_in_markdown(row: diff.ChangedKernel, view: View) -> tuple[str, ...]:
    names = (tables.code(name_of(kernel, view.names)) for kernel in row.sides)
    targets = (tables.code(kernel.target) for kernel in row.sides)
    return row.status, diff.arrow(*names), diff.arrow(*targets), tables.plain(row.why)


# Counts of two builds by library, target and so on, instead of the kernels that moved.

COUNTS_SCHEMA = "kernelinfo/diff-counts/1"


def render_counts(
    comparison: Comparison, by: rows.CountedBy, format: str, view: View
) -> Iterator[str]:
    """The counts of both builds in a format, most changed first.

    Raises `OptionError` for a format without tables.
    """
    if format not in tables.WRITERS:
        raise OptionError(
            say("format-without-counts", by=by, format=format, names=", ".join(tables.WRITERS))
        )
    files = comparison.names or ("", "")
    old = _counts((*(pair.old for pair in comparison.pairs), *comparison.gone), by, files[0])
    new = _counts((*(pair.new for pair in comparison.pairs), *comparison.new), by, files[1])
    lines = [
        (name, old.get(name, KernelSums()), new.get(name, KernelSums())) for name in {**new, **old}
    ]
    lines.sort(key=lambda row: (row[1] == row[2], -abs(row[2].waves_lost - row[1].waves_lost)))
    table = tables.Table(
        (by, *(f"{side}_{field}" for side in ("old", "new") for field in rows.COUNTED)),
        [
            (name, *rows.counted_sums(before), *rows.counted_sums(after))
            for name, before, after in lines
        ],
        COUNTS_SCHEMA,
        "counts",
        headings=(by, *rows.HEADINGS),
        texts=_texts,
        kinds="tnnnnnn",
    )
    yield from tables.WRITERS[format](table, view)


def _texts(lines: Sequence[tables.Row]) -> list[tuple[str, ...]]:
    half = 1 + len(rows.COUNTED)
    return in_both([(row[0], row[1:half], row[half:]) for row in lines])


def in_both(lines: Sequence[tuple[str, tables.Row, tables.Row]]) -> list[tuple[str, ...]]:
    """For each (name, sums in the old build, sums in the new one): the name and a cell for each of
    the `counted_sums`, such as `26 → 27` if the builds differ."""
    sums = rows.sums_in_words(build for _, old, new in lines for build in (old, new))
    return [
        (printable(name), *map(diff.arrow, old, new))
        for (name, *_), old, new in zip(lines, sums[::2], sums[1::2], strict=True)
    ]


def _counts(
    kernels: Iterable[KernelSummary], by: rows.CountedBy, file: str
) -> dict[str, KernelSums]:
    """For each library, target or other key, the sums over its kernels. `file` is the file of a
    single-file build."""
    counts: dict[str, KernelSums] = {}
    for kernel in kernels:
        numbers = kernel.numbers
        spills = (numbers.vgpr_spills or 0) + (numbers.sgpr_spills or 0)
        sums = KernelSums(
            kernels=1,
            waves_per_simd=numbers.waves_per_simd or 0,
            spilling=int(spills > 0),
            worst_spills=spills,
            scratch_bytes_per_lane=numbers.scratch_bytes_per_lane or 0,
            vgprs=numbers.vgprs or 0,
            code_bytes=numbers.code_bytes or 0,
            waves_lost=rows.waves_lost(numbers.waves_per_simd, numbers.percent),
        )
        for name in _names(kernel, by, file):
            counts[name] = counts.get(name, KernelSums()).plus(sums)
    return counts


def _names(kernel: KernelSummary, by: rows.CountedBy, file: str) -> tuple[str, ...]:
    """The library, target or other key of a kernel. Grouped by limiters, a kernel may have several
    keys."""
    path, member = kernel.place
    path = path or os.path.basename(file)
    if by == "limiter":
        return tuple(RESOURCES[limiter] for limiter in kernel.numbers.limiters) or ("?",)
    if by == "waves":
        waves = kernel.numbers.waves_per_simd
        return ("?" if waves is None else paint.number(waves),)
    names = {
        "library": library_of(path) if path else "",
        "member": member_file(member),
        "target": kernel.target,
        "file": path,
    }
    return (names[by] or "?",)
