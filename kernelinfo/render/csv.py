"""CSV with one row per kernel. Column names follow rocprofv3's kernel trace."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from kernelinfo.csv_guard import guarded
from kernelinfo.kernel import Item
from kernelinfo.kernel.rows import COLUMNS, INSTRUCTIONS, ColumnNames, ColumnValues
from kernelinfo.render import View
from kernelinfo.render.names import chosen_name, printable
from kernelinfo.render.row_lines import lines


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The heading, then one row per kernel. A cell is empty if the input does not state it."""
    yield first_line(view)
    yield from rows(items, view)


def rows(items: Iterable[Item], view: View) -> Iterator[str]:
    """The rows of all kernels among the items."""
    for row in lines(items, partial(chosen_name, style=view.names), _spell, view.instructions):
        yield f"{row}\n"


def first_line(view: View) -> str:
    """The names of the columns."""
    return line((*COLUMNS, *(INSTRUCTIONS if view.instructions else ())))


class _Echo:
    """A file whose lines a writer gives back instead of writing them."""

    def write(self, line: str) -> str:
        return line


_WRITER: Any = csv.writer(_Echo(), lineterminator="\n")


def _spell(names: ColumnNames, values: ColumnValues) -> str:
    # Append a dummy cell: csv quotes a lone empty one.
    return line((*values, None)).removesuffix(",\n")


def line(row: Iterable[object]) -> str:
    """One row of CSV with its newline. No name can start a spreadsheet formula."""
    text: str = _WRITER.writerow([_cell(value) for value in row])
    return text


def _cell(value: object) -> object:
    """The value as a cell: lists joined by spaces, text escaped for terminals and spreadsheets."""
    if isinstance(value, tuple):
        return " ".join(value)
    if not isinstance(value, str):
        return value
    return guarded(printable(value))
