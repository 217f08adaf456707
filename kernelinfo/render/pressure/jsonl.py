"""Register pressure as JSON lines, one object a kernel; pressure-row-schema.json has each key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.render import View
from kernelinfo.render.pressure.csv import COLUMNS, values
from kernelinfo.render.records import json_lines


def render(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """A line for each kernel: the columns of CSV. A value that is not stated is null."""
    found = (item for item in items if isinstance(item, Measured))
    return json_lines(dict(zip(COLUMNS, values(one, view), strict=True)) for one in found)
