"""Rows of kernels: JSON lines, which row-schema.json describes, and CSV with names of rocprofv3."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import groupby
from typing import NamedTuple

from kernelinfo.kernel import Item, Kernel, Result
from kernelinfo.kernel.record import COLUMNS, INSTRUCTIONS, NAMES, Column, Part, Value
from kernelinfo.render import Renderer, View
from kernelinfo.render.names import chosen_name
from kernelinfo.render.tables import csv_cell, csv_line

ColumnNames = tuple[str, ...]
ColumnValues = tuple[Value, ...]
Spell = Callable[[ColumnNames, ColumnValues], str]
"""(names, values) of neighbouring columns → their text."""


class _Neighbours(NamedTuple):
    """Neighbouring columns that depend on the same."""

    part: Part
    columns: tuple[Column, ...]
    names: ColumnNames


def _run(part: Part, columns: Iterable[Column]) -> _Neighbours:
    columns = tuple(columns)
    return _Neighbours(part, columns, tuple(column.name for column in columns))


_RUNS = [_run(*pair) for pair in groupby(COLUMNS, lambda column: column.part)]
_INSTRUCTIONS = _run("kernel", INSTRUCTIONS)
_MOST_STATEMENTS = 1 << 15  # 88,000 kernels have 25,000 statements


def lines(
    items: Iterable[Item], name: Callable[[Kernel], str], spell: Spell, instructions: bool
) -> Iterator[str]:
    """One line of text per kernel: its columns spelled by `spell`, joined by commas.

    What a code object's kernels, or equal statements, share is spelled once. `name` returns the
    `Kernel_Name`. `instructions` adds the columns `INSTRUCTIONS`.
    """
    code_object, text = None, lru_cache(maxsize=1 << 14)(spell)  # names recur for seven targets
    shared: dict[int, str] = {}
    statements: dict[object, dict[int, str]] = {}
    for result in items:
        if not isinstance(result, Result):
            continue
        kernel, occupancy, findings = result
        if kernel.code_object is not code_object:
            code_object = kernel.code_object
            shared = _spelled("code object", spell, result)
        statement = kernel.traits, occupancy, findings
        stated = statements.get(statement)
        if stated is None:
            if len(statements) >= _MOST_STATEMENTS:
                statements.clear()
            stated = statements[statement] = _spelled("statement", spell, result)
        pieces = []
        for position, run in enumerate(_RUNS):
            if run.part == "kernel":
                values = _values(run, result)
                if not position:
                    values = name(kernel), *values[1:]
                pieces.append(text(run.names, values))
            else:
                pieces.append((shared if run.part == "code object" else stated)[position])
        if instructions:
            pieces.append(spell(_INSTRUCTIONS.names, _values(_INSTRUCTIONS, result)))
        yield ",".join(pieces)


def _spelled(part: Part, spell: Spell, result: Result) -> dict[int, str]:
    """Position of each run of a part → its text."""
    return {
        position: spell(run.names, _values(run, result))
        for position, run in enumerate(_RUNS)
        if run.part == part
    }


def _values(run: _Neighbours, result: Result) -> ColumnValues:
    return tuple([column.value(result) for column in run.columns])


# Rows have no cycles; checking for them would take a third of the time.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def render_jsonl(items: Iterable[Item], view: View) -> Iterator[str]:
    """One line per kernel."""
    for line in lines(items, partial(chosen_name, style=view.names), _as_json, view.instructions):
        yield f"{{{line}}}\n"


def _as_json(names: ColumnNames, values: ColumnValues) -> str:
    return _encode(dict(zip(names, values, strict=True)))[1:-1]


def render_csv(items: Iterable[Item], view: View) -> Iterator[str]:
    """The heading if `view` has one, then a row per kernel. What is not stated is an empty cell."""
    if view.heading:
        counts = INSTRUCTIONS if view.instructions else ()
        yield csv_line((*NAMES, *(column.name for column in counts)))
    for row in lines(items, partial(chosen_name, style=view.names), _as_csv, view.instructions):
        yield f"{row}\n"


def _as_csv(names: ColumnNames, values: ColumnValues) -> str:
    return ",".join(map(csv_cell, values))


FOR_PROGRAMS: Mapping[str, Renderer] = {"jsonl": render_jsonl, "csv": render_csv}
