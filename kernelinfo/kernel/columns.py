"""Columns by the names that users give them: headings of the table, or names in records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from kernelinfo.errors import OptionError, did_you_mean
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.library import member_file
from kernelinfo.kernel.messages import say
from kernelinfo.kernel.record import BY_NAME, COLUMNS, NAMES, Column, Record, Value
from kernelinfo.model.limits import RESOURCES

Kind = Literal["number", "kernel", "target", "member", "text", "constant", "any"]
"""How the values of a column compare with what a user writes."""


class NamedColumn(NamedTuple):
    """A column of a table, read from columns of the record."""

    name: str
    """Heading in lower case, or the name in records."""
    kind: Kind
    reads: tuple[str, ...]
    """The columns of the record that it is read from."""
    read: Callable[[Record], Value] | None = None
    """None: the value of the first of `reads`."""
    largest_first: bool = False
    """True if a sort puts the largest first; the others begin with the least."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles the name, because functions without a name cannot be pickled."""
        return constant if self.kind == "constant" else find, (self.name,)

    def value(self, kernel: Result | Record) -> Value:
        """The value of a kernel or of a saved record; None if it is unknown."""
        if isinstance(kernel, Result):
            if self.read is None:
                return BY_NAME[self.reads[0]].value(kernel)
            return self.read({name: BY_NAME[name].value(kernel) for name in self.reads})
        return self.read(kernel) if self.read else _saved(kernel, self.reads[0])


def _saved(record: Record, name: str) -> Value:
    """A value of a saved record; lists become tuples."""
    saved: Any = record.get(name)  # older records lack columns
    return tuple(saved) if isinstance(saved, list) else saved


def _spills(record: Record) -> int | None:
    """Spilled VGPRs + SGPRs; None if neither is known."""
    spills = [record[name] for name in ("VGPR_Spills", "SGPR_Spills") if record[name] is not None]
    return sum(spills) if spills else None


def _limiters(record: Record) -> tuple[str, ...] | None:
    """The limiters as headings name them."""
    limiters = record["Limiters"]
    return limiters and tuple([_WORDS.get(name, name) for name in limiters])


_WORDS: dict[str, str] = {str(name): heading for name, heading in RESOURCES.items()}
_READERS: dict[str, tuple[Kind, Callable[[Record], Value]]] = {
    "member": ("member", lambda record: member_file(record["Member"]) or None),
    "limiters": ("any", _limiters),
    "findings": ("number", lambda record: len(record["Findings"])),
}
"""Headings whose cells are not the values of the record."""
_KINDS: dict[str, Kind] = {
    **{"kernel": "kernel", "target": "target"},
    **{"integer": "number", "number": "number"},
}


def _heading(column: Column) -> NamedColumn:
    """The column of a heading of the report's table."""
    kind = _KINDS.get(column.heading) or _KINDS.get(column.type, "text")
    kind, read = _READERS.get(column.heading, (kind, None))
    reads = ("Kernel_Name", "Symbol") if kind == "kernel" else (column.name,)
    is_amount = column.type == "integer" or column.heading == "findings"
    return NamedColumn(column.heading, kind, reads, read, is_amount)


_HEADINGS = (
    *(_heading(column) for column in COLUMNS if column.heading),
    NamedColumn("spills", "number", ("VGPR_Spills", "SGPR_Spills"), _spills, largest_first=True),
)
_OTHER_NAMES = {"wavessimd": "waves", "occupancy": "occ", "limitedby": "limiters"}
_OTHER_NAMES |= {"limiter": "limiters", "name": "kernel", "path": "file"}
HEADINGS = tuple(column.name for column in _HEADINGS)
"""Names of columns as the table's headings say them."""


def record_column(name: str) -> NamedColumn:
    """The column of the record with this name."""
    return NamedColumn(name, "any", (name,))


def constant(name: str) -> NamedColumn:
    """The constant or compile option of Triton with this name, in any case of letters."""

    def read(record: Record) -> str | None:
        options = _saved(record, "Options")
        pairs = (text.partition("=") for text in options) if isinstance(options, tuple) else ()
        values = {option.casefold(): value for option, _, value in pairs}
        return values.get(name.casefold())

    return NamedColumn(name, "constant", ("Options",), read)


def _plain(name: str) -> str:
    """The name for a comparison: without case, blanks and punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_COLUMNS = {_plain(column.name): record_column(column.name) for column in COLUMNS}
_COLUMNS |= {_plain(column.name): column for column in _HEADINGS}
_COLUMNS |= {other: _COLUMNS[name] for other, name in _OTHER_NAMES.items()}


def find(name: str) -> NamedColumn | None:
    """The column of a heading or a name in records, in any case of letters; None without one."""
    return record_column(name) if name in NAMES else _COLUMNS.get(_plain(name))


def suggestion(name: str) -> str:
    """`did you mean waves?`, or the headings if no name is near."""
    near = did_you_mean(name, (*HEADINGS, *NAMES))
    return near or say("columns-listed", names=", ".join(HEADINGS))


def named_columns(option: str, text: str) -> tuple[NamedColumn, ...]:
    """The columns of a list with commas. Raises `OptionError` if no column has such a name."""
    found = [(name.strip(), find(name)) for name in text.split(",")]
    for name, column in found:
        if column is None:
            raise OptionError(
                say("column-unknown", option=option, text=text, name=name, hint=suggestion(name))
            )
    return tuple(column for _, column in found if column)


def sort(items: Iterable[Item], by: Iterable[NamedColumn]) -> list[Item]:
    """The items sorted by columns of their kernels: names and waves ascending, amounts descending.

    Items without a known value come last.
    """
    found = list(items)
    for column in reversed(tuple(by)):
        keyed = [(column.value(one) if isinstance(one, Result) else None, one) for one in found]
        known = [pair for pair in keyed if pair[0] is not None]
        known.sort(key=_value, reverse=column.largest_first)
        found = [one for _, one in (*known, *(pair for pair in keyed if pair[0] is None))]
    return found


def _value(pair: tuple[Any, Item]) -> Any:
    return pair[0]
