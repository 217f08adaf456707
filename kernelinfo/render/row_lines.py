"""Records of kernels as lines of text, for the formats with one row per kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from kernelinfo.kernel import Item, Kernel, Result
from kernelinfo.kernel.record import COLUMNS, INSTRUCTIONS, Column, Part, Value

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
