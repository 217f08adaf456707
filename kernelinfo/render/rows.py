"""Rows of kernels: JSON lines, which row-schema.json describes, CSV with names of rocprofv3, chosen
columns, Markdown for pull requests, and counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial, reduce
from itertools import groupby
from operator import attrgetter
from typing import Literal, get_args

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Kernel, Result, counted, grouped, record
from kernelinfo.kernel.columns import KernelSums, NamedColumn, find
from kernelinfo.kernel.report import Report
from kernelinfo.render import View, groups, paint, tables
from kernelinfo.render.messages import say
from kernelinfo.render.names import chosen_name, names_of
from kernelinfo.render.table import finding_counts, named, severity, shown_first, target_of

# Counts of kernels by library, member, target, file, limiter or waves, instead of the kernels.

CountedBy = Literal["library", "member", "target", "file", "limiter", "waves"]
BY: tuple[CountedBy, ...] = get_args(CountedBy)
SCHEMA = "kernelinfo/counts/1"
COUNTED = {
    "kernels": "kernels",
    "spilling": "spilling",
    "worst_spills": "worst",
    "scratch_bytes_per_lane": "scratch",
    "waves_lost": "waves lost",
    "code_bytes": "code",
}
"""Sum -> its heading."""
HEADINGS = tuple(COUNTED.values())
counted_sums: Callable[[KernelSums], tables.Row] = attrgetter(*COUNTED)
"""The sums that tables of counts have, in the order of `COUNTED`."""


def sums_in_words(rows: Iterable[tables.Row]) -> list[tuple[str, ...]]:
    """The cells for each row of `counted_sums`; all cells of a column have the same unit."""
    columns = zip(COUNTED, zip(*rows, strict=True), strict=False)
    cells = [
        paint.sizes(column)
        if name in ("scratch_bytes_per_lane", "code_bytes")
        else map(grouped, column)
        for name, column in columns
    ]
    return list(zip(*cells, strict=True))


def counts_by(items: Iterable[Item], by: CountedBy) -> dict[str, KernelSums]:
    """For each library, target or other key, the sums over its kernels; the key with the most
    kernels comes first. A kernel with several limiters counts for each of them."""
    sums: dict[str, KernelSums] = {}
    for item in items:
        if isinstance(item, Result):
            counts = _counts(item)
            for name in names_by(item, by):
                sums[name] = sums.get(name, KernelSums()).plus(counts)
    return dict(sorted(sums.items(), key=lambda pair: (-pair[1].kernels, pair[0])))


def names_by(result: Result, by: CountedBy) -> tuple[str, ...]:
    """The library, target or other key of a kernel; several if the key is its limiters, `?` if
    unknown."""
    column = find(by)
    assert column
    value = column.value(result)
    keys = value if isinstance(value, tuple) else (value,)
    return tuple(
        "?" if key is None else paint.number(key) if isinstance(key, float) else str(key)
        for key in keys
    )


def _counts(result: Result) -> KernelSums:
    kernel, occupancy = result.kernel, result.occupancy
    return KernelSums(
        kernels=1,
        waves_per_simd=occupancy.waves_per_simd if occupancy else 0,
        spilling=int(kernel.spilled_registers > 0),
        worst_spills=kernel.spilled_registers,
        scratch_bytes_per_lane=int(
            record.compared_value(record.BY_NAME["Scratch_Size"], result) or 0
        ),
        vgprs=kernel.numbers.vgprs or 0,
        code_bytes=kernel.code_bytes or 0,
        waves_lost=waves_lost(occupancy.waves_per_simd, occupancy.percent) if occupancy else 0,
    )


def waves_lost(waves: float | None, percent: float | None) -> float:
    """Wave slots per SIMD that stay empty; 0 if the occupancy is unknown or no workgroup can
    start."""
    return round(waves * (100 / percent - 1), 4) if waves and percent else 0


def render_counts(items: Iterable[Item], by: CountedBy, format: str, view: View) -> Iterator[str]:
    """The counts in a format. Raises `OptionError` for a format without tables."""
    if format not in tables.WRITERS:
        raise OptionError(
            say("format-without-counts", by=by, format=format, names=", ".join(tables.WRITERS))
        )
    counts = counts_by(items, by)
    has_total = by != "limiter" and len(counts) > 1
    table = tables.Table(
        (by, *COUNTED),
        [(name, *counted_sums(sums)) for name, sums in counts.items()],
        SCHEMA,
        "counts",
        headings=(by, *HEADINGS),
        texts=_texts,
        kinds="tnnnnnn",
        total=("all", *counted_sums(reduce(KernelSums.plus, counts.values()))) if has_total else (),
        legend="worst is the most registers that one kernel spills; scratch, waves lost and code "
        "are sums: bytes per lane, waves/SIMD below the slots, bytes",
    )
    yield from tables.WRITERS[format](table, view)


def _texts(rows: Sequence[tables.Row]) -> list[tuple[str, ...]]:
    sums = sums_in_words(row[1:] for row in rows)
    return [(row[0], *words) for row, words in zip(rows, sums, strict=True)]


Spell = Callable[[record.Column, record.Value], str]
"""(column, value) → its text in a row."""
_MOST_STATEMENTS = 1 << 15  # 88,000 kernels have 25,000 statements
_MOST_TEXTS = 1 << 14  # the names of a library recur for each target


_SpelledColumns = list[tuple[Callable[[Result], record.Value], Callable[[record.Value], str]]]
"""(result → value, value → its text in a row) of each column. Most values recur."""


def _neighbours(spell: Spell) -> dict[record.Part, list[tuple[int, _SpelledColumns]]]:
    """Part of a kernel (`code object`, `statement` or `kernel`) → its columns, as (position of
    their text in the row, columns). Neighbouring columns of one part have one text, except those of
    the kernel itself."""
    groups = groupby(
        record.COLUMNS, lambda column: (column.part, column.part == "kernel" and column.name)
    )
    parts: dict[record.Part, list[tuple[int, _SpelledColumns]]] = {}
    for position, ((part, _), columns) in enumerate(groups):
        spelled: _SpelledColumns = [
            (column.value, lru_cache(_MOST_TEXTS)(partial(spell, column))) for column in columns
        ]
        parts.setdefault(part, []).append((position, spelled))
    return parts


def _joined(columns: _SpelledColumns, result: Result) -> str:
    """The columns of a kernel, joined by commas."""
    return ",".join([text(value(result)) for value, text in columns])


def lines(
    items: Iterable[Item], name: Callable[[Kernel], str], spell: Spell, instructions: bool
) -> Iterator[str]:
    """One line of text per kernel: its columns as text from `spell`, joined by commas.

    Consecutive kernels often share a code object or the same numbers; such values are passed to
    `spell` only once. `name` returns the `Kernel_Name`. `instructions` adds the columns
    `INSTRUCTIONS`.
    """
    parts = _neighbours(spell)
    (name_at, [(_, name_text)]), *further = parts["kernel"]
    kernel_columns = [(position, *columns[0]) for position, columns in further]
    pieces = [""] * sum(map(len, parts.values()))
    code_object = None
    statements: dict[tuple[int, ...], tuple[Result, list[str]]] = {}
    for result in items:
        if not isinstance(result, Result):
            continue
        kernel, occupancy, findings = result
        if kernel.code_object is not code_object:
            code_object = kernel.code_object
            for position, columns in parts["code object"]:
                pieces[position] = _joined(columns, result)
        statement = id(kernel.traits), id(occupancy), id(findings)
        stated = statements.get(statement)
        if stated is None:
            if len(statements) >= _MOST_STATEMENTS:
                statements.clear()
            # The result keeps the objects alive whose ids are the key.
            stated = result, [_joined(columns, result) for _, columns in parts["statement"]]
            statements[statement] = stated
        for (position, _), text in zip(parts["statement"], stated[1], strict=True):
            pieces[position] = text
        pieces[name_at] = name_text(name(kernel))
        for position, value, value_text in kernel_columns:
            pieces[position] = value_text(value(result))
        if instructions:
            counts = [spell(column, column.value(result)) for column in record.INSTRUCTIONS]
            yield ",".join([*pieces, *counts])
        else:
            yield ",".join(pieces)


_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def render_jsonl(items: Iterable[Item], view: View) -> Iterator[str]:
    """One line per kernel."""
    for line in lines(items, partial(chosen_name, style=view.names), _as_json, view.instructions):
        yield f"{{{line}}}\n"


def _as_json(column: record.Column, value: record.Value) -> str:
    return f'"{column.name}":{_encode(value)}'


def render_csv(items: Iterable[Item], view: View) -> Iterator[str]:
    """The heading if `view` has one, then a row per kernel. Unstated values are empty cells."""
    if view.heading:
        counts = record.INSTRUCTIONS if view.instructions else ()
        yield tables.csv_line((*record.NAMES, *(column.name for column in counts)))
    for row in lines(items, partial(chosen_name, style=view.names), _as_csv, view.instructions):
        yield f"{row}\n"


def _as_csv(_: record.Column, value: record.Value) -> str:
    return tables.csv_cell(value)


COLUMNS_SCHEMA = "kernelinfo/columns/1"
_KINDS = {"number": "n", "kernel": "k"}


def render_columns(
    items: Iterable[Item], columns: Sequence[NamedColumn], format: str, view: View
) -> Iterator[str]:
    """The columns of all kernels in a format. Raises `OptionError` for a format without tables."""
    if format not in tables.WRITERS:
        raise OptionError(say("format-without-columns", format=format))
    results: Iterable[Result] = (item for item in items if isinstance(item, Result))
    if format in ("text", "markdown"):
        results = [*results]
        shown = shown_first(results, severity, view)
        first = set(map(id, shown))
        results = [*shown, *(result for result in results if id(result) not in first)]
    names = [column.name for column in columns]
    table = tables.Table(
        names,
        ([_value(column, result, view) for column in columns] for result in results),
        COLUMNS_SCHEMA,
        "kernels",
        {"columns": names},
        kinds="".join(_KINDS.get(column.kind, "t") for column in columns),
        noun="kernel",
    )
    yield from tables.WRITERS[format](table, view)


def _value(column: NamedColumn, result: Result, view: View) -> record.Value:
    """The value of a column; names in the style that the user chose."""
    return (
        chosen_name(result.kernel, view.names) if column.name == "kernel" else column.value(result)
    )


# The report in Markdown, for pull requests.

_HEADING = (
    *("kernel", "target", "waves/SIMD", "occupancy", "limited by"),
    *("block", "VGPR", "SGPR", "LDS", "scratch", "findings"),
)


def render_markdown(items: Iterable[Item], view: View) -> Iterator[str]:
    """The report. Kernels with findings come first; others and those beyond `top` are folded."""
    report = Report.of(items)
    counts = finding_counts(finding for result in report.results for finding in result.findings)
    parts = [", ".join(counts.values()) or "no findings", counted(len(report.results), "kernel")]
    if report.problems:
        parts.append(f"{counted(len(report.problems), 'problem')}: not all was read")
    yield f"**kernelinfo: {' · '.join(parts)}**\n"
    equal = groups.folded_rows(report.results)
    ordered = sorted(equal, key=lambda row: not row[0].findings)
    names = names_of(report.kernels, view.names)
    rows = _rows([row[0] for row in ordered], [*named(ordered, names, with_target=True)])
    telling = sum(1 for row in ordered if row[0].findings) or len(rows)
    shown = min(telling, view.top or telling)
    yield from tables.kernel_table(_HEADING, rows, shown)
    if count := sum(len(row) - 1 for row in ordered):
        yield f"\n× N: N kernels with equal numbers share a row; {grouped(count)} folded\n"


def _rows(results: Sequence[Result], names: Sequence[str]) -> list[tuple[str, ...]]:
    lds = [
        result.occupancy.allocated.lds_bytes
        if result.occupancy
        else result.kernel.numbers.lds_bytes
        for result in results
    ]
    scratch = [result.kernel.numbers.scratch_bytes_per_lane for result in results]
    sizes = zip(paint.size_column(lds), paint.size_column(scratch), strict=True)
    return [_row(*row) for row in zip(results, names, sizes, strict=True)]


def _row(result: Result, name: str, sizes: tuple[str, str]) -> tuple[str, ...]:
    kernel, occupancy = result.kernel, result.occupancy
    allocated = occupancy.allocated if occupancy else None
    at_most = paint.bound(occupancy.exact) if occupancy else ""
    return (
        tables.code(name),
        tables.code(target_of(kernel)),
        f"{at_most}{paint.number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{at_most}{paint.percent(occupancy.percent)}" if occupancy else "?",
        paint.limiters(occupancy) if occupancy else "?",
        paint.block(occupancy.launch) if occupancy else "?",
        paint.known(allocated.vgprs if allocated else kernel.numbers.vgprs),
        paint.known(allocated.sgprs if allocated else kernel.numbers.sgprs),
        *sizes,
        "<br>".join(f"{f.rule} {f.severity}: {tables.plain(f.message)}" for f in result.findings),
    )
