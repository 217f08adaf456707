"""CSV with one row per kernel. Column names follow rocprofv3's kernel trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kernelinfo.kernel import Item
from kernelinfo.kernel.record import INSTRUCTIONS, NAMES
from kernelinfo.render import View
from kernelinfo.render.names import chosen_name
from kernelinfo.render.row_lines import ColumnNames, ColumnValues, lines
from kernelinfo.render.tables import csv_cell, csv_line


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The heading if `view` has one, then a row per kernel. What is not stated is an empty cell."""
    if view.heading:
        counts = INSTRUCTIONS if view.instructions else ()
        yield csv_line((*NAMES, *(column.name for column in counts)))
    for row in lines(items, partial(chosen_name, style=view.names), _spell, view.instructions):
        yield f"{row}\n"


def _spell(names: ColumnNames, values: ColumnValues) -> str:
    return ",".join(map(csv_cell, values))
