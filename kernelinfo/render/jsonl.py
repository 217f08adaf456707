"""JSON lines: one object per kernel, described by row-schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial

from kernelinfo.kernel import Item
from kernelinfo.render import View
from kernelinfo.render.names import chosen_name
from kernelinfo.render.row_lines import ColumnNames, ColumnValues, lines

# Rows have no cycles; checking for them would take a third of the time.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """One line per kernel."""
    for line in lines(items, partial(chosen_name, style=view.names), _spell, view.instructions):
        yield f"{{{line}}}\n"


def _spell(names: ColumnNames, values: ColumnValues) -> str:
    return _encode(dict(zip(names, values, strict=True)))[1:-1]
