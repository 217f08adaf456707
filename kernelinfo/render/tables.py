"""Tables and their writers: text, Markdown and, in notebooks, HTML for people; CSV, JSON lines and
JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from kernelinfo import __version__
from kernelinfo.kernel import Result, counted
from kernelinfo.kernel.column import guarded
from kernelinfo.kernel.record import record
from kernelinfo.render import Renderer, View, paint

Row = Sequence[Any]


class Table(NamedTuple):
    """Rows with one value for each column. Programs get the values, people texts of them."""

    columns: Sequence[str]
    """Names for programs."""
    rows: Iterable[Row]
    """Numbers, texts, tuples of texts, or nested JSON values; None for an unstated value."""
    schema: str = ""
    """Name of the JSON document's schema."""
    key: str = ""
    """Member of the JSON document with the rows; empty if `about` has all."""
    about: Mapping[str, Any] = {}
    """Members of the JSON document before the rows."""
    text: Iterable[str] | None = None
    """Text that the format `text` shows instead of the rows. Markdown then shows bare values."""
    headings: Sequence[str] = ()
    """For people; by default the columns."""
    texts: Callable[[Sequence[Row]], Sequence[Sequence[str]]] | None = None
    """Texts of rows for people, with units; by default those of `column_cells`."""
    kinds: str = ""
    """A letter for each column, as `laid_out` takes them."""
    total: Row = ()
    """Last row, shown only to people."""
    noun: str = "row"
    legend: str = ""
    """What the texts mean, in a line below them."""

    def of_people(self, rows: Sequence[Row]) -> list[Sequence[str]]:
        """The texts of some rows."""
        if self.texts:
            return [*self.texts(rows)]
        columns = zip(self.columns, zip(*rows, strict=True), strict=True) if rows else ()
        return [*zip(*(paint.column_cells(*column) for column in columns), strict=True)]


def of_records(
    records: Sequence[Mapping[str, Any]],
    schema: str,
    key: str = "",
    about: Mapping[str, Any] | None = None,
    text: Iterable[str] = (),
) -> Table:
    """The table of records with equal keys. Without a `key` there is one record, and it is the JSON
    document."""
    rows = [[*record.values()] for record in records]
    about = about or ({} if key else records[0])
    return Table([*records[0]] if records else (), rows, schema, key, about, text)


def _json(table: Table, view: View) -> Iterator[str]:
    document = {"schema": table.schema, "version": __version__, **table.about}
    rows = {table.key: [*_records(table)]} if table.key else {}
    yield json.dumps(document | rows, indent=1) + "\n"


def _jsonl(table: Table, view: View) -> Iterator[str]:
    return json_lines(_records(table))


def _records(table: Table) -> Iterator[dict[str, Any]]:
    return (dict(zip(table.columns, row, strict=True)) for row in table.rows)


def json_lines(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each record as JSON on its own line."""
    for values in records:
        yield json.dumps(values, separators=(",", ":")) + "\n"


def _csv(table: Table, view: View) -> Iterator[str]:
    if table.columns:
        yield csv_line(table.columns)
    for row in table.rows:
        yield csv_line(map(_flat, row))


def _flat(value: object) -> object:
    """A nested value as JSON."""
    return json.dumps(value) if isinstance(value, dict | list) else value


def csv_line(row: Iterable[object]) -> str:
    """One row of CSV with its newline. No name can start a spreadsheet formula."""
    line = ",".join(map(csv_cell, row))
    return f"{line}\n" if line else '""\n'  # a reader would pass over an empty line


def csv_cell(value: object) -> str:
    """The value as a cell: lists joined by spaces, text escaped for terminals and spreadsheets.

    Cells have no newlines. Not `csv.writer`: it looks at each character, which takes a tenth of the
    time of a library's report.
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    cell = guarded(paint.printable(" ".join(value) if isinstance(value, tuple) else str(value)))
    return '"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell


def _text(table: Table, view: View) -> Iterator[str]:
    if table.text is not None:
        yield from table.text
        return
    rows = [*table.rows]
    shown = rows[: view.top or None]
    texts = table.of_people([*shown, *([table.total] if table.total else [])])
    lines = [table.headings or table.columns, *([*map(paint.printable, row)] for row in texts)]
    yield from paint.painted(paint.table_lines(lines, table.kinds, view), view)
    yield from paint.painted(paint.hidden(len(rows) - len(shown), table.noun), view)
    if table.legend and not view.quiet:
        yield from paint.painted(paint.fitted([(f" {table.legend}", "dim")], view, 1), view)


def _markdown(table: Table, view: View) -> Iterator[str]:
    rows = [*table.rows]
    if table.text is not None:
        texts = [["" if cell is None else plain(str(_flat(cell))) for cell in row] for row in rows]
        yield from markdown_table([*map(plain, table.columns)], texts)
        return
    headings = [*map(plain, table.headings or table.columns)]
    texts = [[*map(plain, row)] for row in table.of_people(rows)]
    yield from kernel_table(headings, texts, view.top or len(rows), table.noun)


def markdown_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table; no line without rows. Cells are not escaped."""
    if rows:
        yield "\n"
        for row in (heading, ("---",) * len(heading), *rows):
            yield f"| {' | '.join(row)} |\n"


def kernel_table(
    heading: Sequence[str], rows: Sequence[Sequence[str]], shown: int = 20, noun: str = "kernel"
) -> Iterator[str]:
    """Lines of a table with one row per kernel. Rows beyond `shown` are folded."""
    yield from markdown_table(heading, rows[:shown])
    yield from folded(counted(len(rows) - shown, f"more {noun}"), heading, rows[shown:])


def folded(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a folded table, which opens at a click."""
    if rows:
        yield f"\n<details><summary>{title}</summary>\n"
        yield from markdown_table(heading, rows)
        yield "\n</details>\n"


_ACTIVE = {character: f"\\{character}" for character in r"\`*_[]<>|~#$"}
_INERT = str.maketrans(_ACTIVE | {"&": "&amp;", "@": "@\u200b"})


def plain(text: str) -> str:
    """The text with Markdown's markup and mentions escaped."""
    return paint.printable(text).translate(_INERT)


def code(text: str) -> str:
    """A name as inline code of Markdown; as HTML if a code span in a table cannot hold it."""
    text = paint.printable(text)
    if "|" in text or "`" in text:
        escaped = (c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)
        return f"<code>{''.join(escaped)}</code>"
    return f"`{text}`" if text.strip() else ""


WRITERS: Mapping[str, Renderer] = {
    "text": _text,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "markdown": _markdown,
}
"""Format → function of a table and a view. They are the outputs of commands that answer a table."""

_SHOWN = 60  # rows, as in pandas
_OF_NOTEBOOKS = {
    "Kernel_Name": "kernel",
    "Target": "target",
    "Workgroup_Size": "block",
    "VGPR_Allocated": "VGPR",
    "Accum_VGPR_Count": "AGPR",
    "SGPR_Count": "SGPR",
    "LDS_Block_Size": "LDS, B",
    "Scratch_Size": "scratch, B",
    "VGPR_Spills": "VGPRs spilled",
    "Waves_Per_SIMD": "waves/SIMD",
    "Occupancy_Percent": "occupancy, %",
    "Limiters": "limited by",
    "Findings": "findings",
}
"""Column of a row → heading of the table."""
_BOUNDED = ("Waves_Per_SIMD", "Occupancy_Percent")
"""Columns that are upper bounds if the row is not exact."""


def html_table(results: Sequence[Result]) -> str:
    """HTML table of the first 60 rows, and below it the number of the others."""
    heading = "".join(f"<th>{text}</th>" for text in _OF_NOTEBOOKS.values())
    rows = "\n".join(_html_row(result) for result in results[:_SHOWN])
    rest = f"<p>… {len(results) - _SHOWN} more kernels</p>" if len(results) > _SHOWN else ""
    return f"<table>\n<tr>{heading}</tr>\n{rows}\n</table>\n{rest}"


def _html_row(result: Result) -> str:
    values = record(result)
    at_most = paint.bound(result.occupancy and result.occupancy.exact)
    texts = {name: escape(paint.printable(paint.cell(values[name]))) for name in _OF_NOTEBOOKS}
    cells = (at_most * (name in _BOUNDED) + text for name, text in texts.items())
    return f"<tr>{''.join(f'<td>{text}</td>' for text in cells)}</tr>"
