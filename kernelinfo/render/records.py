"""Tables without kernels as JSON, JSON lines, CSV, Markdown or aligned text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kernelinfo import __version__
from kernelinfo.render import View, csv
from kernelinfo.render.markdown import plain, table
from kernelinfo.render.paint import aligned, cells, fitted, paint


def json_lines(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each record as JSON on its own line."""
    for record in records:
        yield json.dumps(record, separators=(",", ":")) + "\n"


def render_document(
    document: Mapping[str, Any], records: Sequence[Mapping[str, Any]], format: str
) -> Iterator[str]:
    """The document as JSON, after its version; its records in the other formats.

    The first key of the document is `schema`, such as `kernelinfo/calc/1`. A table cell holds a
    nested value as JSON.
    """
    if format == "json":
        schema, *others = document.items()
        yield json.dumps(dict([schema, ("version", __version__), *others]), indent=1) + "\n"
    elif format == "jsonl":
        yield from json_lines(records)
    elif records:
        yield from _table(records, format)


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
    """Lines of left-aligned columns. On a narrow terminal the last is folded, or stands below
    its row if less than a third of the width is left."""
    rows = (heading, *rows)
    lines = [f" {line}" for line in aligned(rows)]
    before = cells(lines[0]) - max(cells(row[-1]) for row in rows)
    indent = min(before, view.width // 2) if view else 0
    is_wide = view is not None and view.fold and cells(lines[0]) > view.width
    if view and is_wide and 3 * (before - 2) > 2 * view.width:
        indent, lines = 4, []
        below = ["", *(row[-1] for row in rows[1:])]
        for line, last in zip(aligned([row[:-1] for row in rows]), below, strict=True):
            lines += [f" {line}", f"   {last}"] if last else [f" {line}"]
    for line in lines:
        whole = [(line.rstrip(), "")]
        for part in fitted(whole, view, indent) if view else [whole]:
            yield paint(part, False) + "\n"
