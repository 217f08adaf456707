"""Register pressure as JSON lines, one object a kernel; pressure-row-schema.json has each key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.render import View
from kernelinfo.render.pressure.csv import COLUMNS, values


def render(items: Iterable[MeasureItem], view: View) -> Iterator[str]:
    """A line for each kernel: the columns of CSV. A value that is not stated is null."""
    for item in items:
        if isinstance(item, Measured):
            row = dict(zip(COLUMNS, values(item, view), strict=True))
            yield json.dumps(row, separators=(",", ":")) + "\n"
