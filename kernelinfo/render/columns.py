"""Tables of chosen columns: one row per kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.errors import OptionError
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.columns import NamedColumn
from kernelinfo.kernel.record import Value
from kernelinfo.render import View
from kernelinfo.render.messages import say
from kernelinfo.render.names import chosen_name
from kernelinfo.render.table import severity, shown_first
from kernelinfo.render.tables import WRITERS, Table

SCHEMA = "kernelinfo/columns/1"
_KINDS = {"number": "n", "kernel": "k"}


def render_columns(
    items: Iterable[Item], columns: Sequence[NamedColumn], format: str, view: View
) -> Iterator[str]:
    """The columns of all kernels in a format. Raises `OptionError` for a format without tables."""
    if format not in WRITERS:
        raise OptionError(say("format-without-columns", format=format))
    results: Iterable[Result] = (item for item in items if isinstance(item, Result))
    if format in ("text", "markdown"):
        results = [*results]
        shown = shown_first(results, severity, view)
        first = set(map(id, shown))
        results = [*shown, *(result for result in results if id(result) not in first)]
    names = [column.name for column in columns]
    table = Table(
        names,
        ([_value(column, result, view) for column in columns] for result in results),
        SCHEMA,
        "kernels",
        {"columns": names},
        kinds="".join(_KINDS.get(column.kind, "t") for column in columns),
        noun="kernel",
    )
    yield from WRITERS[format](table, view)


def _value(column: NamedColumn, result: Result, view: View) -> Value:
    """The value of a column; names in the style that the user chose."""
    return (
        chosen_name(result.kernel, view.names) if column.name == "kernel" else column.value(result)
    )
