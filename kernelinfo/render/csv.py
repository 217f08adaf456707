"""One row a kernel; columns that rocprofv3's kernel trace also has bear its names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial

from kernelinfo.kernel import Item
from kernelinfo.kernel.rows import COLUMNS, FORMULA, Names, Values, lines
from kernelinfo.render import View
from kernelinfo.render.names import chosen_name, printable


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The heading, then one row a kernel; empty cells are what the input does not say."""
    yield HEADING
    yield from rows(items, view)


def rows(items: Iterable[Item], view: View) -> Iterator[str]:
    """The rows of the kernels among the items."""
    for row in lines(items, partial(chosen_name, style=view.names), _spell):
        yield f"{row}\n"


def _spell(names: Names, values: Values) -> str:
    # With a cell more, as one that is empty and alone would be written in quotes.
    return line((*values, None)).removesuffix(",\n")


def line(row: Iterable[object]) -> str:
    """One row of CSV with its newline; names cannot act on a spreadsheet."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: object) -> object:
    """A list by spaces; nothing acts on a terminal, no spreadsheet sees a formula in a name."""
    if isinstance(value, tuple):
        return " ".join(value)
    if not isinstance(value, str):
        return value
    shown = printable(value)
    return f"'{shown}" if FORMULA.match(shown) else shown


HEADING = line(COLUMNS)
