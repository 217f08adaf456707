"""Tables that hold no kernels: as JSON, JSON lines, CSV, Markdown or aligned text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernelinfo.render import View
from kernelinfo.render.markdown import plain, table
from kernelinfo.render.paint import cells, left, wrap


def render_records(records: Sequence[Mapping[str, Any]], format: str) -> Iterator[str]:
    """The records in a format for programs; in a table a nested value is JSON in its cell."""
    if format == "json":
        yield json.dumps(records[0] if len(records) == 1 else records, indent=1) + "\n"
    elif format == "jsonl":
        for record in records:
            yield json.dumps(record, separators=(",", ":")) + "\n"
    elif format == "markdown":
        rows = [[plain(_shown(value)) for value in record.values()] for record in records]
        yield from table([plain(key) for key in records[0]], rows)
    else:
        from kernelinfo.render.csv import line

        yield line(records[0])
        for record in records:
            yield line([_cell(value) for value in record.values()])


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, (dict, list, tuple)) else value


def _shown(value: object) -> str:
    return "" if value is None else str(_cell(value))


def render_table(
    heading: Sequence[str], rows: Sequence[Sequence[str]], view: View | None = None
) -> Iterator[str]:
    """Left-aligned columns; the last is folded where `view` is a terminal's and too narrow."""
    widths = [max(cells(row[i]) for row in (heading, *rows)) for i in range(len(heading))]
    before = sum(widths[:-1]) + 2 * len(widths) - 1
    for row in (heading, *rows):
        padded = (left(text, width) for text, width in zip(row, widths, strict=True))
        text = (" " + "  ".join(padded)).rstrip()
        if view and view.fold and cells(text) > view.width:
            for line in wrap([(text, "")], view.width, min(before, view.width // 2)):
                yield "".join(part for part, _ in line).rstrip() + "\n"
        else:
            yield text + "\n"
