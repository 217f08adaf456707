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

    def variables(self) -> Iterator[DebugEntry]:
        """Static variables of a function and of the scopes in it.

        LLVM lists them before the first parameter. A variable behind it without a location is an
        ordinary one that the compiler removed.
        """
        for child in self.children:
            if child.tag == "DW_TAG_lexical_block":
                yield from child.variables()
            elif child.tag == "DW_TAG_formal_parameter":
                break
            elif child.tag == "DW_TAG_variable" and child.is_static:
                yield child


DebugUnit = Mapping[
    int, DebugEntry
]  # every entry of one compilation unit, by its offset in the unit

_NAMES = ("DW_AT_abstract_origin", "DW_AT_specification")


def function_named(unit: DebugUnit, symbol: str) -> DebugEntry | None:
    """Entry of the function with that symbol and with code; None if the unit has none."""
    for entry in unit.values():
        if entry.tag != "DW_TAG_subprogram":
            continue
        other = next((unit.get(entry.numbers[n]) for n in _NAMES if n in entry.numbers), None)
        names = {one.linkage_name or one.name for one in (entry, other) if one}
        if symbol in names and "DW_AT_high_pc" in entry.numbers:
            return entry
    return None
