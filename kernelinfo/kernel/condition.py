"""Conditions on kernels: `waves < 4 and lds > 32k` as a tree that is true or false of a result."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from operator import ge, gt, le, lt
from typing import Literal, NamedTuple

from kernelinfo.errors import KernelinfoError, Message, OptionError
from kernelinfo.hardware.products import target_named
from kernelinfo.kernel import Result
from kernelinfo.kernel.columns import NamedColumn, constant, find, record_column, suggestion
from kernelinfo.kernel.messages import say
from kernelinfo.kernel.pattern import in_member, matches
from kernelinfo.kernel.record import Record
from kernelinfo.reading.grammar import Builders, NoMatch, load_tables, parse

_ORDERS: dict[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "%": 1}
_UNKNOWN = "?"
_LONGEST = 4096  # characters of a condition; each level of one takes several
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*|num_\w+|waves_per_eu|matrix_instr_nonkdim|kpack")
"""Names of Triton's constants, which only its files list, and of its compile options."""


_SYMBOL, _MEMBER = record_column("Symbol"), record_column("Member")


class ColumnCondition(NamedTuple):
    """A column compared with a value."""

    column: NamedColumn
    operator: str
    value: str
    number: float | None
    """The value as a number; None for text."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of rows that it reads."""
        return self.column.reads

    def holds(self, kernel: Result | Record) -> bool:
        """True if the kernel's value compares so; an unknown value only equals `?`."""
        found = self.column.value(kernel)
        if self.value == _UNKNOWN:
            return (found is None) is (self.operator == "=")
        if found is None:
            return False
        if self.operator in _ORDERS:
            if self.column.kind == "constant":
                found = _number(str(found))
            if not isinstance(found, int | float) or self.number is None:
                return False
            return _ORDERS[self.operator](found, self.number)
        if isinstance(found, tuple):
            equal = any(self._equals(kernel, one) for one in found)
        else:
            equal = self._equals(kernel, found)
        return equal is (self.operator != "!=")

    def _equals(self, kernel: Result | Record, found: str | int | float) -> bool:
        if isinstance(found, bool):
            return str(found).casefold() == self.value.casefold()
        if isinstance(found, int | float):
            return found == self.number
        if self.column.kind == "kernel":
            return matches(self.value, str(found), str(_SYMBOL.value(kernel)))
        if self.column.kind == "member":
            return in_member(self.value, str(_MEMBER.value(kernel)))
        if self.column.kind == "target" and ":" not in self.value:
            found = found.partition(":")[0]
        if self.operator == "~":
            return fnmatchcase(found.casefold(), self.value.casefold())
        if self.column.kind == "constant" and self.number is not None:
            return _number(found) == self.number or found.casefold() == self.value.casefold()
        return found.casefold() == self.value.casefold()


class Negated(NamedTuple):
    """A condition that must not hold."""

    condition: Condition

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of rows that it reads."""
        return self.condition.reads

    def holds(self, kernel: Result | Record) -> bool:
        """True if the condition does not hold."""
        return not self.condition.holds(kernel)


class Joined(NamedTuple):
    """Two conditions, both or one of which must hold."""

    first: Condition
    operator: Literal["and", "or"]
    second: Condition

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of rows that both read."""
        return (*self.first.reads, *self.second.reads)

    def holds(self, kernel: Result | Record) -> bool:
        """True if both hold, or for `or` one."""
        if self.operator == "and":
            return self.first.holds(kernel) and self.second.holds(kernel)
        return self.first.holds(kernel) or self.second.holds(kernel)


Condition = ColumnCondition | Negated | Joined


class Where(NamedTuple):
    """A condition with its text."""

    text: str
    condition: Condition

    def holds(self, kernel: Result | Record) -> bool:
        """True if the condition holds for a result, or for a row with the columns `reads`."""
        return self.condition.holds(kernel)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of rows that the condition reads."""
        return tuple(dict.fromkeys(self.condition.reads))


def condition(text: str) -> Where:
    """The condition that a text states, by grammars/condition.lark.

    Raises `OptionError` with a caret below the mistake.
    """
    if len(text) > _LONGEST:
        raise OptionError(say("condition-too-long", size=len(text), most=_LONGEST))
    build: Builders = {
        "either": lambda first, _, second: Joined(first, "or", second),
        "both": lambda first, _, second: Joined(first, "and", second),
        "negated": lambda _, one: one.condition if isinstance(one, Negated) else Negated(one),
        "name": str,
        "word": str,
        "quoted": lambda quoted: str(quoted[1:-1]),
        "comparison": lambda name, operator, value: _comparison(text, name, operator, value),
    }
    try:
        found: Condition = parse(load_tables("condition"), text, build)
    except NoMatch as error:
        wanted = say("condition-malformed")
        rest = text[error.offset :].lstrip()
        raise _mistake(text, len(text) - len(rest), wanted) from None
    return Where(text, found)


def _comparison(text: str, name: str, operator: str, value: str) -> ColumnCondition:
    operator, number = ("=" if operator == "==" else operator), _number(value)
    column, at = find(name), text.find(name)
    if column is None and _CONSTANT.fullmatch(name):
        return ColumnCondition(constant(name), operator, value, number)
    if column is None:
        raise _mistake(text, at, say("condition-column", name=name, hint=suggestion(name)))
    at = text.find(value, at + len(name))
    if column.kind == "number" and value != _UNKNOWN and number is None:
        raise _mistake(text, at, say("condition-number", column=column.name, value=value))
    if operator in _ORDERS and (column.kind not in ("number", "any") or number is None):
        raise _mistake(text, at, say("condition-order", operator=operator, column=column.name))
    if column.kind == "target" and operator != "~" and value != _UNKNOWN and ":" not in value:
        try:
            value = target_named(value).name
        except KernelinfoError as error:
            raise _mistake(text, at, error.message) from None
    return ColumnCondition(column, operator, value, number)


def _number(text: str) -> float | None:
    """The number in `4`, `62.5%`, `32k`, `32KiB` or `1.5M`; units are multiples of 1024."""
    match = re.fullmatch(r"(-?\d{1,15}(?:\.\d{1,15})?)\s*(?:([kmg]?)(?:i?b)?|%)", text.casefold())
    return None if match is None else float(match[1]) * _UNITS[match[2] or ""]


def _mistake(text: str, offset: int, what: Message) -> OptionError:
    """The error, with a caret below the place in the text."""
    caret = " " * max(0, offset) + "^"
    return OptionError(say("condition-mistake", reason=what, text=text, caret=caret))
