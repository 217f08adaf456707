"""Numbers of kernels by two keys, such as library and target: the coverage of an installation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kernelinfo import __version__
from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result, code_object, counted, grouped
from kernelinfo.kernel.code_object import SPIRV
from kernelinfo.reading.blob import SpirV
from kernelinfo.render import View, paint, rows, tables
from kernelinfo.render.messages import say

SCHEMA = "kernelinfo/matrix/1"
FORMATS = (*tables.WRITERS, "html")
_HOLE, _GENERIC = "–", "generic"


class Cell(NamedTuple):
    """The kernels of one row and column."""

    row: str
    column: str
    kernels: int | None  # None for SPIR-V, which states none
    code: tuple[str, ...] = ()
    """Target ids of the code that a device loads, its own first."""


SymbolCounts = dict[str, dict[str, Counter[str]]]
"""Row → column → symbol → number of kernels, or of entries with SPIR-V. Without devices one empty
symbol stands for all."""


def render_matrix(
    items: Iterable[Item],
    by: tuple[rows.CountedBy, rows.CountedBy],
    devices: Mapping[str, str],
    format: str,
    view: View,
) -> Iterator[str]:
    """The numbers of kernels by two keys in a format.

    `devices` maps names of devices to target ids; they replace targets as columns. Raises
    `OptionError` for a format without tables.
    """
    if format not in FORMATS:
        names = ", ".join(FORMATS)
        raise OptionError(say("format-without-counts", by=",".join(by), format=format, names=names))
    rows = _count(items, by, by_symbol=bool(devices))
    cells = _of_devices(rows, devices) if devices else _of_columns(rows)
    columns: list[str] = [by[0], "device" if devices else by[1], "kernels"]
    columns += ["code"] if devices else []
    lines = _lines(cells, by[0], devices)
    totals = _covered(cells, len(lines) - 1) if by[1] == "target" else []
    lines += totals
    legend = _legend(lines, devices)
    if format == "markdown":
        yield from tables.kernel_table(
            [*map(tables.plain, lines[0])], [[*map(tables.plain, row)] for row in lines[1:]]
        )
        return
    if format == "html":
        title = f"Kernels by {columns[0]} and {columns[1]}"
        yield from table_page(title, lines, legend, has_total=bool(totals))
        return
    table = tables.Table(
        columns,
        [cell[: len(columns)] for cell in cells],
        SCHEMA,
        "cells",
        {"by": columns[:2]},
        text=_text(lines, len(totals), legend, view) if cells else (),
    )
    yield from tables.WRITERS[format](table, view)


def _text(lines: Sequence[Sequence[str]], totals: int, legend: str, view: View) -> Iterator[str]:
    """Tables with as many columns as fit, each with the last `totals` lines, then the legend."""
    kinds = "t" + "n" * len(lines[0])
    for number, (table, left_out) in enumerate(_parts(lines, totals, view)):
        yield "\n" * bool(number)
        yield from paint.painted(paint.table_lines(table, kinds[: len(table[0])], view), view)
        yield from paint.painted(paint.hidden(left_out, "row"), view)
    if not view.quiet:
        yield from paint.painted(paint.fitted([(f" {legend}", "dim")], view, 1), view)


_TablePart = tuple[list[Sequence[str]], int]
"""Lines of a table, and the number of rows that `view.top` leaves out."""


def _parts(lines: Sequence[Sequence[str]], totals: int, view: View) -> Iterator[_TablePart]:
    """Yields the table; if it is too wide, several tables with as many columns as fit."""
    columns = len(lines[0])
    first, last = 1, columns
    part = _part(lines, totals, first, last, view)
    while first < columns:
        if _width(part) > view.width:
            last, part = first + 1, _part(lines, totals, first, first + 1, view)
        while last < columns:
            wider = _part(lines, totals, first, last + 1, view)
            if _width(wider) > view.width:
                break
            last, part = last + 1, wider
        yield part
        first, last = last, columns
        part = _part(lines, totals, first, last, view)


def _width(part: _TablePart) -> int:
    return 1 + paint.cells(paint.aligned(part[0], "t" + "n" * (len(part[0][0]) - 1))[0])


def _part(
    lines: Sequence[Sequence[str]], totals: int, first: int, last: int, view: View
) -> _TablePart:
    """(some columns of the table, number of rows that `view.top` leaves out): the names of the
    rows, then the columns with index `first` to `last` - 1. Unless these are all columns, rows
    without code in any of them share a line."""
    heading, *rows = [[line[0], *line[first:last]] for line in lines]
    rows, sums = rows[: len(rows) - totals], rows[len(rows) - totals :]
    shown = rows
    if last - first < len(lines[0]) - 1:
        shown = [row for row in rows if any(cell != _HOLE for cell in row[1:])]
    most = view.top or len(shown)
    others = [[counted(len(rows) - len(shown), "other"), *[_HOLE] * (last - first)]]
    others *= len(rows) > len(shown)
    return [heading, *shown[:most], *others, *sums], len(shown[most:])


def _count(
    items: Iterable[Item], by: tuple[rows.CountedBy, rows.CountedBy], *, by_symbol: bool
) -> SymbolCounts:
    rows: SymbolCounts = {}
    names: dict[str, str] = {}  # names recur for each target
    for item in items:
        symbol = ""
        if isinstance(item, Result):
            pairs = [(row, column) for row in _names(item, by[0]) for column in _names(item, by[1])]
            if by_symbol:
                symbol = names.setdefault(item.kernel.symbol, item.kernel.symbol)
        elif isinstance(item, SpirV) and by[1] == "target":
            pairs = [(_spirv_row(item, by[0]), SPIRV)]
        else:
            continue
        for row, column in pairs:
            rows.setdefault(row, {}).setdefault(column, Counter())[symbol] += 1
    return rows


def _names(result: Result, by: rows.CountedBy) -> tuple[str, ...]:
    if by == "library":
        origin = result.kernel.code_object
        return (code_object.library_in(origin.path, origin.member),)
    return rows.names_by(result, by)


def _spirv_row(entry: SpirV, by: rows.CountedBy) -> str:
    names = {"library": code_object.library_in(entry.path, entry.member), "file": entry.path}
    return names.get(by) or code_object.member_file(entry.member) or "?"


def _of_columns(rows: SymbolCounts) -> list[Cell]:
    """A cell for each row and column, the rows with most kernels first."""
    columns = {column for counts in rows.values() for column in counts}
    order = sorted(columns, key=lambda column: (column == SPIRV, *_natural(column)))
    cells = []
    for row in _most_first(rows):
        counts = {column: symbols.total() for column, symbols in rows[row].items()}
        for column in order:
            count = counts.get(column, 0)
            cells.append(Cell(row, column, None if count and column == SPIRV else count))
    return cells


def _most_first(rows: SymbolCounts) -> list[str]:
    """The rows, sorted by their largest count of kernels in one column, descending."""
    numbers = {
        row: max(
            (symbols.total() for column, symbols in counts.items() if column != SPIRV),
            default=0,
        )
        for row, counts in rows.items()
    }
    return sorted(rows, key=lambda row: (-numbers[row], row))


def _natural(name: str) -> tuple[Any, ...]:
    """Sort key of a column: targets of three digits first, numbers by their value."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, len(name.partition(":")[0].partition("-")[0]), name


def _of_devices(rows: SymbolCounts, devices: Mapping[str, str]) -> list[Cell]:
    """A cell for each row and device. A kernel counts once, even if the device can load several of
    its codes."""
    cells = []
    for row in _most_first(rows):
        for device, target in devices.items():
            code = code_object.covering(rows[row], target)
            kernels = Counter[str]()
            for loaded in code:
                kernels |= rows[row][loaded] if loaded != SPIRV else Counter()
            count = None if code == (SPIRV,) else kernels.total()
            cells.append(Cell(row, device, count, code))
    return cells


def _legend(lines: Sequence[Sequence[str]], devices: Mapping[str, str]) -> str:
    """The legend of the cells that the table has."""
    words = {word for _, *texts in lines[1:] for text in texts for word in text.split()}
    settings = sorted(word for word in words if word[-1] in "+-")
    parts = ["kernels that a device loads" if devices else "kernels"]
    parts += [f"{_HOLE} none"] if _HOLE in words else []
    parts += ["generic: code for a generic target"] if _GENERIC in words else []
    parts += [f"{', '.join(settings)}: in this setting alone"] if settings else []
    parts += [f"{SPIRV}: compiled when it is loaded, no numbers"] if SPIRV in words else []
    return "; ".join(parts)


def _lines(cells: Sequence[Cell], heading: str, devices: Mapping[str, str]) -> list[list[str]]:
    """The cells as rows of texts: headings, a line for each row."""
    columns = [*dict.fromkeys(cell.column for cell in cells)]
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    lines = [[heading, *map(paint.printable, columns)]]
    for row, of_row in rows.items():
        lines.append([paint.printable(row), *(_cell_text(cell, devices) for cell in of_row)])
    return lines


def _covered(cells: Sequence[Cell], rows: int) -> list[list[str]]:
    """A line with the number of rows that have code in each column; no line for a single row.
    `rows` is the number of all rows."""
    covered = Counter({cell.column: 0 for cell in cells})
    covered.update(cell.column for cell in cells if cell.kernels != 0)
    return [["have code", *(f"{count} of {rows}" for count in covered.values())]] * (rows > 1)


def _cell_text(cell: Cell, devices: Mapping[str, str]) -> str:
    if cell.kernels is None:
        return SPIRV
    if not cell.kernels:
        return _HOLE
    about = ""
    if cell.code and (target := devices.get(cell.column)):
        is_all_generic = all(
            compiled_for == SPIRV or code_object.is_generic(compiled_for, target)
            for compiled_for in cell.code
        )
        about = _GENERIC if is_all_generic else code_object.needed_settings(cell.code, target)
    return f"{grouped(cell.kernels)} {about}".rstrip()


# One table as an HTML page without scripts: for numbers that need no charts and filters.

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>kernelinfo</title>
<style>
:root { color-scheme: light dark; --quiet: #5c6670; --rule: #dfe3e6; }
@media (prefers-color-scheme: dark) { :root { --quiet: #9aa5af; --rule: #313941; } }
body { margin: 0 auto; max-width: 1440px; padding: 28px; font: 15px/1.5 system-ui, sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 25px; margin: 0 0 4px; }
p, footer { color: var(--quiet); }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 4px 18px 4px 0; text-align: right; white-space: nowrap; font-weight: 400;
  border-bottom: 1px solid var(--rule); }
th:first-child { text-align: left; }
thead th { color: var(--quiet); }
.total > * { font-weight: 650; }
footer { margin-top: 32px; font-size: 13px; }
</style>
</head>
"""


def table_page(
    title: str, lines: Sequence[Sequence[str]], legend: str, *, has_total: bool
) -> Iterator[str]:
    """The HTML page of a table: headings, then rows. With `has_total` the last row is the total."""
    heading, *rows = lines
    title = _escape(title)
    yield f"{_HEAD}<body>\n<main>\n<h1>{title}</h1>\n<p>{_escape(legend)}</p>\n"
    yield f'<div tabindex="0" role="region" aria-label="{title}">\n<table>\n<thead><tr>'
    yield "".join(f'<th scope="col">{_escape(cell)}</th>' for cell in heading)
    yield "</tr></thead>\n<tbody>\n"
    for number, (name, *numbers) in enumerate(rows, 1):
        yield '<tr class="total">' if has_total and number == len(rows) else "<tr>"
        yield f'<th scope="row">{_escape(name)}</th>'
        yield "".join(f"<td>{_escape(cell)}</td>" for cell in numbers)
        yield "</tr>\n"
    yield f"</tbody>\n</table>\n</div>\n</main>\n<footer>kernelinfo {__version__}</footer>\n"
    yield "</body>\n</html>\n"


def _escape(text: str) -> str:
    return paint.printable(text).translate(_ESCAPES)
