"""Tables without kernels as JSON, JSON lines, CSV, Markdown or aligned text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernelinfo import __version__
from kernelinfo.render import View, csv
from kernelinfo.render.markdown import plain, table
from kernelinfo.render.paint import aligned, cells, fitted, paint


def render_records(records: Sequence[Mapping[str, Any]], format: str) -> Iterator[str]:
    """Text of the records in a format. A table cell holds a nested value as JSON."""
    if format == "json":
        yield json.dumps(records[0] if len(records) == 1 else records, indent=1) + "\n"
    elif format == "jsonl":
        for record in records:
            yield json.dumps(record, separators=(",", ":")) + "\n"
    elif records:
        yield from _table(records, format)


def render_document(
    document: Mapping[str, Any], records: Sequence[Mapping[str, Any]], format: str
) -> Iterator[str]:
    """The document as JSON, after its version; its records in the other formats.

    The first key of the document is `schema`, such as `kernelinfo/calc/1`.
    """
    if format != "json":
        return render_records(records, format)
    schema, *others = document.items()
    text = json.dumps(dict([schema, ("version", __version__), *others]), indent=1)
    return iter([text + "\n"])


def _table(records: Sequence[Mapping[str, Any]], format: str) -> Iterator[str]:
    rows = [[_cell(value) for value in record.values()] for record in records]
    if format == "markdown":
        shown = [["" if value is None else plain(str(value)) for value in row] for row in rows]
        yield from table([plain(key) for key in records[0]], shown)
    else:
        yield from map(csv.line, (records[0], *rows))


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, (dict, list, tuple)) else value


def render_table(
    heading: Sequence[str], rows: Sequence[Sequence[str]], view: View | None = None
) -> Iterator[str]:
    """Lines of left-aligned columns. The last column is folded on a narrow terminal."""
    rows = (heading, *rows)
    lines = [f" {line}" for line in aligned(rows)]
    before = cells(lines[0]) - max(cells(row[-1]) for row in rows)
    for line in lines:
        whole = [(line.rstrip(), "")]
        for part in fitted(whole, view, min(before, view.width // 2)) if view else [whole]:
            yield paint(part, False) + "\n"
