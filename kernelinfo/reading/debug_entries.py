"""Entries of debug information, from assembly text or a code object, as far as variables need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kernelinfo.reading.facts import SourceLine


class Entry(NamedTuple):
    """One entry: a function, a variable, a type."""

    tag: str
    """As DWARF names it: `DW_TAG_variable`."""
    name: str | None
    linkage_name: str | None
    numbers: Mapping[str, int]
    """Attributes that are numbers, by DWARF's name; references count from the unit's begin."""
    is_static: bool
    """For a variable: one address, or none, for the whole program."""
    source: SourceLine | None
    """Of its declaration."""
    children: list[Entry]

    def variables(self) -> Iterator[Entry]:
        """Static variables of a function, those of its scopes included. LLVM places them before
        parameters and other variables, of which those without a location are not in the code."""
        for child in self.children:
            if child.tag == "DW_TAG_lexical_block":
                yield from child.variables()
            elif child.tag == "DW_TAG_formal_parameter":
                break
            elif child.tag == "DW_TAG_variable" and child.is_static:
                yield child


Unit = Mapping[int, Entry]  # every entry of one compilation unit, by its offset in the unit

_NAMES = ("DW_AT_abstract_origin", "DW_AT_specification")


def function_named(unit: Unit, symbol: str) -> Entry | None:
    """The function of a symbol with its body; None where the unit has none."""
    for entry in unit.values():
        if entry.tag != "DW_TAG_subprogram":
            continue
        other = next((unit.get(entry.numbers[n]) for n in _NAMES if n in entry.numbers), None)
        names = {one.linkage_name or one.name for one in (entry, other) if one}
        if symbol in names and "DW_AT_high_pc" in entry.numbers:
            return entry
    return None
