"""Columns by the names that users give them: headings of the table, or names in records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from operator import ge, gt, itemgetter, le, lt
from typing import Any, Literal, NamedTuple

from kernelinfo.errors import KernelinfoError, Message, OptionError, did_you_mean
from kernelinfo.hardware.products import target_named
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.code_object import member_file
from kernelinfo.kernel.messages import say
from kernelinfo.kernel.names import in_member, matches
from kernelinfo.kernel.record import BY_NAME, COLUMNS, INSTRUCTIONS, NAMES, Column, Record, Value
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading.grammar import Builders, NoMatch, load_tables, parse

Kind = Literal["number", "kernel", "target", "member", "text", "constant", "any"]
"""How the values of a column compare with what a user writes."""


class KernelSums(NamedTuple):
    """Sums over some kernels. A number that a kernel does not state adds 0, as does scratch that
    grows at run time."""

    kernels: int = 0  # number of kernels
    waves_per_simd: float = 0  # waves per SIMD of all kernels together
    spilling: int = 0  # number of kernels that spill registers
    worst_spills: int = 0  # the most registers, vector and scalar, that one kernel spills
    scratch_bytes_per_lane: int = 0  # sum in bytes over kernels whose scratch does not grow
    vgprs: int = 0  # VGPRs used per lane, of all kernels together
    code_bytes: int = 0  # bytes of code of all kernels together
    waves_lost: float = 0
    """Sum of the waves per SIMD below the number of slots."""

    def plus(self, sums: KernelSums) -> KernelSums:
        """The two sums added; for a worst value, the worse one."""
        both = KernelSums._make(map(sum, zip(self, sums, strict=True)))
        return both._replace(worst_spills=max(self.worst_spills, sums.worst_spills))


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
        if self.read is None:
            return _value(kernel, self.reads[0])
        return self.read({name: _value(kernel, name) for name in self.reads})


def _value(kernel: Result | Record, name: str) -> Value:
    """The value of a column of the record; None if it is unknown. Saved lists become tuples."""
    if isinstance(kernel, Result):
        return BY_NAME[name].value(kernel)
    saved: Any = kernel.get(name)  # older records lack columns
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
    """The column under a heading of the report's table."""
    kind = _KINDS.get(column.heading) or _KINDS.get(column.type, "text")
    kind, read = _READERS.get(column.heading, (kind, None))
    reads = ("Kernel_Name", "Symbol") if kind == "kernel" else (column.name,)
    is_amount = column.type == "integer" or column.heading == "findings"
    return NamedColumn(column.heading, kind, reads, read, is_amount)


_OTHER_NAMES = {"wavessimd": "waves", "occupancy": "occ", "limitedby": "limiters"}
_OTHER_NAMES |= {"limiter": "limiters", "name": "kernel", "path": "file"}
_SPILLS = "spills"
"""The heading of a column that no record has: the sum of two."""
HEADINGS = (*(column.heading for column in COLUMNS if column.heading), _SPILLS)
"""Names of columns as the table's headings say them."""


def record_column(name: str) -> NamedColumn:
    """The column of the record with this name."""
    return NamedColumn(name, "any", (name,))


def constant(name: str) -> NamedColumn:
    """The Triton constant or compile option with this name, ignoring case."""

    def read(record: Record) -> str | None:
        options = _value(record, "Options")
        pairs = (text.partition("=") for text in options) if isinstance(options, tuple) else ()
        values = {option.casefold(): value for option, _, value in pairs}
        return values.get(name.casefold())

    return NamedColumn(name, "constant", ("Options",), read)


def _plain(name: str) -> str:
    """The name for a comparison: without case, blanks and punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_KEY_OF = {column.name: column.key for column in INSTRUCTIONS}
"""Name in records → name for users, of each column that counts instructions."""


def find(name: str) -> NamedColumn | None:
    """The column with this heading or record name, ignoring case; None without one."""
    if name in NAMES:
        return record_column(name)
    plain = _plain(name)
    plain = _OTHER_NAMES.get(plain, plain)
    if plain == _SPILLS:
        pair = ("VGPR_Spills", "SGPR_Spills")
        return NamedColumn(_SPILLS, "number", pair, _spills, largest_first=True)
    for column in COLUMNS:
        if column.heading and plain == _plain(column.heading):
            return _heading(column)
    for column in COLUMNS:
        if plain == _plain(column.name):
            return record_column(column.name)
    for column in INSTRUCTIONS:
        if plain in (_plain(column.name), _plain(column.key)):
            return NamedColumn(column.key, "number", (column.name,), largest_first=True)
    return None


def suggestion(name: str) -> str:
    """`did you mean waves?`, or the headings if no name is near."""
    near = did_you_mean(name, (*HEADINGS, *NAMES, *_KEY_OF.values()))
    return near or say("columns-listed", names=", ".join(HEADINGS))


def check_counted(reads: Iterable[str], is_counted: bool) -> None:
    """Check that instructions are counted if columns of them are read. Raises `OptionError`."""
    keys = (_KEY_OF[name] for name in reads if name in _KEY_OF)
    if not is_counted and (key := next(keys, None)):
        raise OptionError(say("column-needs-instructions", column=key))


def reads_code(reads: Iterable[str]) -> bool:
    """True if one of the columns counts instructions."""
    return any(name in _KEY_OF for name in reads)


def named_columns(option: str, text: str) -> tuple[NamedColumn, ...]:
    """The columns of a comma-separated list. Raises `OptionError` if no column has such a name."""
    columns = [(name.strip(), find(name)) for name in text.split(",")]
    for name, column in columns:
        if column is None:
            raise OptionError(
                say("column-unknown", option=option, text=text, name=name, hint=suggestion(name))
            )
    return tuple(column for _, column in columns if column)


def sort(items: Iterable[Item], by: Iterable[NamedColumn]) -> list[Item]:
    """The items sorted by columns of their kernels: names and waves ascending, amounts descending.

    Items without a known value come last.
    """
    ordered = list(items)
    for column in reversed(tuple(by)):
        keyed = [
            (column.value(item) if isinstance(item, Result) else None, item) for item in ordered
        ]
        valued = [pair for pair in keyed if pair[0] is not None]
        valued.sort(key=itemgetter(0), reverse=column.largest_first)
        ordered = [item for _, item in (*valued, *(pair for pair in keyed if pair[0] is None))]
    return ordered


# Conditions on kernels: `waves < 4 and lds > 32k` as a tree that is true or false of a result.

_ORDERS: dict[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "%": 1}
_UNKNOWN = "?"
_LONGEST = 4096  # characters of a condition; each level of one takes several
_CONSTANT = re.compile(
    r"[A-Z][A-Z0-9_]*|num_\w+|waves_per_eu|matrix_instr_nonkdim|kpack|tile|dtype"
)
"""Names of Triton's constants, which only its files list, and of its compile options."""


class ColumnCondition(NamedTuple):
    """A column compared with a value."""

    column: NamedColumn
    operator: str
    value: str
    number: float | None
    """The value as a number; None for text."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the record that this condition reads."""
        return self.column.reads

    def holds(self, kernel: Result | Record) -> bool:
        """True if the kernel's value satisfies the comparison; an unknown value equals only `?`."""
        value = self.column.value(kernel)
        if self.value == _UNKNOWN:
            return (value is None) is (self.operator == "=")
        if value is None:
            return False
        if self.operator in _ORDERS:
            if self.column.kind == "constant":
                value = _number(str(value))
            if not isinstance(value, int | float) or self.number is None:
                return False
            return _ORDERS[self.operator](value, self.number)
        if isinstance(value, tuple):
            equal = any(self._equals(kernel, member) for member in value)
        else:
            equal = self._equals(kernel, value)
        return equal is (self.operator != "!=")

    def _equals(self, kernel: Result | Record, value: str | int | float) -> bool:
        if isinstance(value, bool):
            return str(value).casefold() == self.value.casefold()
        if isinstance(value, int | float):
            return value == self.number
        if self.column.kind == "kernel":
            return matches(self.value, str(value), str(_value(kernel, "Symbol")))
        if self.column.kind == "member":
            return in_member(self.value, str(_value(kernel, "Member")))
        if self.column.kind == "target" and ":" not in self.value:
            value = value.partition(":")[0]
        if self.operator == "~":
            return fnmatchcase(value.casefold(), self.value.casefold())
        if self.column.kind == "constant" and self.number is not None:
            return _number(value) == self.number or value.casefold() == self.value.casefold()
        return value.casefold() == self.value.casefold()


class Where(NamedTuple):
    """Several conditions, and whether all, at least one or none of them must hold."""

    operator: Literal["and", "or", "not"]
    parts: tuple[ColumnCondition | Where, ...]
    text: str = ""
    """The whole condition, as the user wrote it; empty for a part of one."""

    def holds(self, kernel: Result | Record) -> bool:
        """True if the condition holds for a result, or for a row that has the columns `reads`."""
        for part in self.parts:  # a generator would take two frames a level
            if part.holds(kernel) is not (self.operator == "and"):
                return self.operator == "or"
        return self.operator != "or"

    def check_counted(self, is_counted: bool) -> None:
        """Check that instructions are counted if the condition reads them. Raises `OptionError`."""
        check_counted(self.reads, is_counted)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of rows that the conditions read, each once."""
        names: dict[str, None] = {}
        for part in self.parts:
            names |= dict.fromkeys(part.reads)
        return tuple(names)


def condition(text: str) -> Where:
    """The condition that a text states, by grammars/condition.lark.

    Raises `OptionError` with a caret below the mistake.
    """
    if len(text) > _LONGEST:
        raise OptionError(say("condition-too-long", size=len(text), most=_LONGEST))
    build: Builders = {
        "either": lambda first, _, second: Where("or", (first, second)),
        "both": lambda first, _, second: Where("and", (first, second)),
        "negated": lambda _, part: _negated(part),
        "name": str,
        "word": str,
        "quoted": lambda quoted: str(quoted[1:-1]),
        "comparison": lambda name, operator, value: _comparison(text, name, operator, value),
    }
    try:
        whole = parse(load_tables("condition"), text, build)
    except NoMatch as error:
        rest = text[error.offset :].lstrip()
        raise _mistake(text, len(text) - len(rest), say("condition-malformed")) from None
    joined = whole if isinstance(whole, Where) else Where("and", (whole,))
    return joined._replace(text=text)


def _negated(condition: ColumnCondition | Where) -> ColumnCondition | Where:
    """The opposite of a condition; for `not X`, X itself."""
    if isinstance(condition, Where) and condition.operator == "not":
        return condition.parts[0]
    return Where("not", (condition,))


def _comparison(text: str, name: str, operator: str, value: str) -> ColumnCondition:
    operator, number = ("=" if operator == "==" else operator), _number(value)
    column, offset = find(name), text.find(name)
    if column is None and _CONSTANT.fullmatch(name):
        return ColumnCondition(constant(name), operator, value, number)
    if column is None:
        raise _mistake(text, offset, say("condition-column", name=name, hint=suggestion(name)))
    offset = text.find(value, offset + len(name))
    if column.kind == "number" and value != _UNKNOWN and number is None:
        raise _mistake(text, offset, say("condition-number", column=column.name, value=value))
    if operator in _ORDERS and (column.kind not in ("number", "any") or number is None):
        raise _mistake(text, offset, say("condition-order", operator=operator, column=column.name))
    if column.kind == "target" and operator != "~" and value != _UNKNOWN and ":" not in value:
        try:
            value = target_named(value).name
        except KernelinfoError as error:
            raise _mistake(text, offset, error.message) from None
    return ColumnCondition(column, operator, value, number)


def _number(text: str) -> float | None:
    """The number in `4`, `62.5%`, `32k`, `32KiB` or `1.5M`; units are multiples of 1024."""
    match = re.fullmatch(r"(-?\d{1,15}(?:\.\d{1,15})?)\s*(?:([kmg]?)(?:i?b)?|%)", text.casefold())
    return None if match is None else float(match[1]) * _UNITS[match[2] or ""]


def _mistake(text: str, offset: int, what: Message) -> OptionError:
    """The error, with a caret below its place in the text."""
    caret = " " * max(0, offset) + "^"
    return OptionError(say("condition-mistake", reason=what, text=text, caret=caret))
