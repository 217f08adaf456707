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


# Cells have no newlines. Without an end of line the writer does not compare each character with it,
# which is a third of its time.
_WRITER: Any = csv.writer(_Echo(), lineterminator="")


def _spell(names: ColumnNames, values: ColumnValues) -> str:
    # Append a dummy cell: csv quotes a lone empty one.
    return _row((*values, None)).removesuffix(",")


def line(row: Iterable[object]) -> str:
    """One row of CSV with its newline. No name can start a spreadsheet formula."""
    return f"{_row(row)}\n"


def _row(row: Iterable[object]) -> str:
    cells = [_cell(value) if isinstance(value, (str, tuple)) else value for value in row]
    text: str = _WRITER.writerow(cells)
    return text


def _cell(value: str | tuple[str, ...]) -> str:
    """The value as a cell: lists joined by spaces, text escaped for terminals and spreadsheets."""
    return guarded(printable(value if isinstance(value, str) else " ".join(value)))
