"""Tables of chosen columns: one row per kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.columns import NamedColumn
from kernelinfo.kernel.record import Value
from kernelinfo.render import RECORD_FORMATS, View, csv
from kernelinfo.render.markdown import kernel_table, plain
from kernelinfo.render.messages import say
from kernelinfo.render.names import chosen_name, printable
from kernelinfo.render.paint import column_cells, painted, table_lines
from kernelinfo.render.records import json_lines, render_document
from kernelinfo.render.table import hidden, severity, shown_first

SCHEMA = "kernelinfo/columns/1"


def render_columns(
    items: Iterable[Item], columns: Sequence[NamedColumn], format: str, view: View
) -> Iterator[str]:
    """The columns of all kernels in a format. Raises `OptionError` for a format without tables."""
    if format not in RECORD_FORMATS:
        raise OptionError(say("format-without-columns", format=format))
    names = [column.name for column in columns]
    results = (item for item in items if isinstance(item, Result))
    if format in ("text", "markdown"):
        yield from _table(columns, [*results], format, view)
        return
    rows = ([_value(column, one, view) for column in columns] for one in results)
    if format == "csv":
        yield csv.line(names)
        yield from map(csv.line, rows)
        return
    records = (dict(zip(names, row, strict=True)) for row in rows)
    if format == "jsonl":
        yield from json_lines(records)
        return
    every = [*records]
    yield from render_document(
        {"schema": SCHEMA, "columns": names, "kernels": every}, every, format
    )


def _table(
    columns: Sequence[NamedColumn], results: Sequence[Result], format: str, view: View
) -> Iterator[str]:
    names = [column.name for column in columns]
    shown = shown_first(results, severity, view)
    if format == "markdown":
        first = set(map(id, shown))
        others = [one for one in results if id(one) not in first]
        cells = _cells(columns, [*shown, *others], view)
        yield from kernel_table(names, [[*map(plain, row)] for row in cells], len(shown))
        return
    cells = _cells(columns, shown, view)
    kinds = "".join("n" if column.kind == "number" else "t" for column in columns)
    lines = [names, *([printable(text) for text in row] for row in cells)]
    yield from (f"{line}\n" for line in table_lines(lines, kinds, view))
    yield from painted(hidden(len(results) - len(shown)), view)


def _cells(
    columns: Sequence[NamedColumn], results: Sequence[Result], view: View
) -> list[list[str]]:
    """The texts of the columns, a row for each kernel."""
    in_columns = [
        column_cells(of.name, [_value(of, one, view) for one in results]) for of in columns
    ]
    return [[*row] for row in zip(*in_columns, strict=True)]


def _value(column: NamedColumn, result: Result, view: View) -> Value:
    """The value of a column; names in the style that the user chose."""
    return (
        chosen_name(result.kernel, view.names) if column.name == "kernel" else column.value(result)
    )
