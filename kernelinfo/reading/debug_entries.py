"""Debug information entries (DWARF), from assembly text or a code object, for static variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kernelinfo.reading.facts import SourceLine


class DebugEntry(NamedTuple):
    """One entry: a function, a variable, a type."""

    tag: str
    """DWARF's name of the entry's kind: `DW_TAG_variable`."""
    name: str | None
    linkage_name: str | None
    numbers: Mapping[str, int]
    """Numeric attributes by DWARF's name; a reference is an offset from the unit's begin."""
    is_static: bool
    """True for a variable with one fixed address, or with no location at all."""
    source: SourceLine | None
    """Line of the declaration."""
    children: list[DebugEntry]

    def variables(self) -> list[DebugEntry]:
        """Static variables of a function and of the scopes in it.

        LLVM lists them before the first parameter. A variable after it without a location is an
        ordinary one that the compiler removed. In a function that is inlined no variable has a
        location: there, static ones are external, if its name is.
        """
        variables = [*self._before_parameters()]
        external = [variable for variable in variables if "DW_AT_external" in variable.numbers]
        return external if external and "DW_AT_inline" in self.numbers else variables

    def _before_parameters(self) -> Iterator[DebugEntry]:
        for child in self.children:
            if child.tag == "DW_TAG_lexical_block":
                yield from child._before_parameters()
            elif child.tag == "DW_TAG_formal_parameter":
                break
            elif child.tag == "DW_TAG_variable" and child.is_static:
                yield child


DebugUnit = Mapping[int, DebugEntry]
"""Offset in a compilation unit → entry; all entries of the unit."""

_NAMES = ("DW_AT_abstract_origin", "DW_AT_specification")


def function_named(unit: DebugUnit, symbol: str) -> DebugEntry | None:
    """Entry of the function with that symbol and with code; None if the unit has none."""
    for entry in unit.values():
        if entry.tag != "DW_TAG_subprogram":
            continue
        entries = filter(None, (entry, _elsewhere(unit, entry)))
        names = {stated.linkage_name or stated.name for stated in entries}
        if symbol in names and "DW_AT_high_pc" in entry.numbers:
            return entry
    return None


def _elsewhere(unit: DebugUnit, entry: DebugEntry) -> DebugEntry | None:
    """The entry that states what this one leaves out."""
    return next((unit.get(entry.numbers[n]) for n in _NAMES if n in entry.numbers), None)


def inlined_into(unit: DebugUnit, function: DebugEntry) -> list[DebugEntry]:
    """The functions of which a function contains inlined copies, each once."""
    functions: dict[int, DebugEntry] = {}
    pending = [function]
    while pending:
        entry = pending.pop()
        origin = entry.numbers.get("DW_AT_abstract_origin", -1)
        if entry.tag == "DW_TAG_inlined_subroutine" and origin in unit:
            functions[origin] = unit[origin]
        pending += entry.children
    return [*functions.values()]


def declared_at(unit: DebugUnit, function: DebugEntry) -> SourceLine | None:
    """The source line of a function, which may be stated in another entry."""
    elsewhere = _elsewhere(unit, function)
    return function.source or (elsewhere and elsewhere.source)
