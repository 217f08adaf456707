"""Rows of kernels: JSON lines, which row-schema.json describes, and CSV with names of rocprofv3."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial, reduce
from itertools import groupby
from operator import attrgetter
from typing import Literal, get_args

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Kernel, Result, grouped, record
from kernelinfo.kernel.columns import KernelSums, find
from kernelinfo.render import View
from kernelinfo.render.messages import say
from kernelinfo.render.names import chosen_name
from kernelinfo.render.paint import number, sizes
from kernelinfo.render.tables import WRITERS, Row, Table, csv_cell, csv_line

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
counted_sums: Callable[[KernelSums], Row] = attrgetter(*COUNTED)
"""The sums that tables of counts have, in the order of `COUNTED`."""


def sums_in_words(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """The cells of each row of `counted_sums`; a column has one unit."""
    columns = zip(COUNTED, zip(*rows, strict=True), strict=False)
    cells = [
        sizes(column) if name in ("scratch_bytes_per_lane", "code_bytes") else map(grouped, column)
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
    """The library, target and so on of a kernel; several for its limiters, `?` for an unknown."""
    column = find(by)
    assert column
    value = column.value(result)
    keys = value if isinstance(value, tuple) else (value,)
    return tuple(
        "?" if key is None else number(key) if isinstance(key, float) else str(key) for key in keys
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
    """Waves per SIMD below the number of slots; 0 if it is unknown or no workgroup can start."""
    return round(waves * (100 / percent - 1), 4) if waves and percent else 0


def render_counts(items: Iterable[Item], by: CountedBy, format: str, view: View) -> Iterator[str]:
    """The counts in a format. Raises `OptionError` for a format without tables."""
    if format not in WRITERS:
        raise OptionError(
            say("format-without-counts", by=by, format=format, names=", ".join(WRITERS))
        )
    counts = counts_by(items, by)
    has_total = by != "limiter" and len(counts) > 1
    table = Table(
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
    yield from WRITERS[format](table, view)


def _texts(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    sums = sums_in_words(row[1:] for row in rows)
    return [(row[0], *words) for row, words in zip(rows, sums, strict=True)]


Spell = Callable[[record.Column, record.Value], str]
"""(column, value) → its text in a row."""
_MOST_STATEMENTS = 1 << 15  # 88,000 kernels have 25,000 statements
_MOST_TEXTS = 1 << 14  # the names of a library recur for each target


_SpelledColumns = list[tuple[Callable[[Result], record.Value], Callable[[record.Value], str]]]
"""(result → value, value → its text in a row) of each column. Most values recur."""


def _neighbours(spell: Spell) -> dict[record.Part, list[tuple[int, _SpelledColumns]]]:
    """Part -> (place in a row, columns) of neighbours that depend on it; of kernels, one column."""
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
    """One line of text per kernel: its columns spelled by `spell`, joined by commas.

    What a code object's kernels, or equal statements, share is spelled once. `name` returns the
    `Kernel_Name`. `instructions` adds the columns `INSTRUCTIONS`.
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
    """The heading if `view` has one, then a row per kernel. What is not stated is an empty cell."""
    if view.heading:
        counts = record.INSTRUCTIONS if view.instructions else ()
        yield csv_line((*record.NAMES, *(column.name for column in counts)))
    for row in lines(items, partial(chosen_name, style=view.names), _as_csv, view.instructions):
        yield f"{row}\n"


def _as_csv(_: record.Column, value: record.Value) -> str:
    return csv_cell(value)
