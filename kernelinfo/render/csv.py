"""CSV with one row per kernel. Column names follow rocprofv3's kernel trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kernelinfo.csv_guard import guarded
from kernelinfo.kernel import Item
from kernelinfo.kernel.record import INSTRUCTIONS, NAMES
from kernelinfo.render import View
from kernelinfo.render.names import chosen_name, printable
from kernelinfo.render.row_lines import ColumnNames, ColumnValues, lines


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The heading if `view` has one, then a row per kernel. What is not stated is an empty cell."""
    if view.heading:
        counts = INSTRUCTIONS if view.instructions else ()
        yield line((*NAMES, *(column.name for column in counts)))
    for row in lines(items, partial(chosen_name, style=view.names), _spell, view.instructions):
        yield f"{row}\n"


def _spell(names: ColumnNames, values: ColumnValues) -> str:
    return ",".join(map(_cell, values))


def line(row: Iterable[object]) -> str:
    """One row of CSV with its newline. No name can start a spreadsheet formula."""
    cells = ",".join(map(_cell, row))
    return f"{cells}\n" if cells else '""\n'  # a reader would pass over an empty line


def _cell(value: object) -> str:
    """The value as a cell: lists joined by spaces, text escaped for terminals and spreadsheets.

    Cells have no newlines. `csv.writer` looks at each character, a tenth of a library's report.
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    cell = guarded(printable(" ".join(value) if isinstance(value, tuple) else str(value)))
    return '"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell
