"""`__shared__` variables of a kernel, if debug information names all of its LDS."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from kernelinfo.reading.debug_entries import DebugEntry, DebugUnit, function_named
from kernelinfo.reading.facts import SourceLine

_THROUGH = ("typedef", "const_type", "volatile_type", "restrict_type", "atomic_type")
_WITH_MEMBERS = ("structure_type", "class_type", "union_type")
_POINTER_BYTES = 8


class LdsVariable(NamedTuple):
    """A variable in LDS."""

    name: str
    bytes: int  # per workgroup
    source: SourceLine | None


class LdsUse(NamedTuple):
    """Static LDS of one kernel."""

    bytes: int  # per workgroup, by the descriptor; 0 if LDS is sized at launch
    variables: tuple[LdsVariable, ...]
    """Largest first; empty if debug information does not name all of them."""


class _TypeLayout(NamedTuple):
    """Size and alignment of a type, in bytes."""

    size: int
    alignment: int


def lds_of(units: Iterable[DebugUnit], symbol: str, size: int) -> LdsUse | None:
    """Variables of a kernel with `size` bytes of LDS; None without debug information.

    They are listed only if their aligned sizes add up to exactly `size`.
    """
    for unit in units:
        function = function_named(unit, symbol)
        if function is None:
            continue
        types = _Layouts(unit)
        entries = [(entry, types.of(entry)) for entry in function.variables()]
        layouts = [layout for _, layout in entries if layout]
        if len(layouts) < len(entries) or _together(layouts) != size:
            return LdsUse(size, ())
        variables = (
            LdsVariable(entry.name or "?", layout.size, entry.source)
            for entry, layout in entries
            if layout
        )
        return LdsUse(size, tuple(sorted(variables, key=lambda one: -one.bytes)))
    return None


def _together(layouts: Iterable[_TypeLayout]) -> int:
    """Bytes of all variables, most strictly aligned first (LLVM AMDGPULowerModuleLDSPass)."""
    end, most = 0, 1
    for size, alignment in sorted(layouts, key=lambda one: -one.alignment):
        end = -(-end // alignment) * alignment + size
        most = max(most, alignment)
    return -(-end // most) * most


class _Layouts:
    """Layouts of the types of one unit, each computed once."""

    def __init__(self, unit: DebugUnit) -> None:
        self._unit = unit
        self._known: dict[int, _TypeLayout | None] = {}

    def of(self, entry: DebugEntry) -> _TypeLayout | None:
        """Layout of the type of a variable, member or type; None if it is not stated."""
        reference = entry.numbers.get("DW_AT_type", -1)
        if reference not in self._known:
            self._known[reference] = None  # ends a circle of types
            found = self._unit.get(reference)
            self._known[reference] = self._of_type(found) if found else None
        return self._known[reference]

    def _of_type(self, found: DebugEntry) -> _TypeLayout | None:
        kind = found.tag.removeprefix("DW_TAG_")
        size = found.numbers.get("DW_AT_byte_size")
        if kind in _THROUGH:
            return self.of(found)
        if kind == "array_type":
            return self._of_array(found)
        if kind == "pointer_type":
            size = size or _POINTER_BYTES
        if not size:
            return None
        return _TypeLayout(size, self._alignment(found) if kind in _WITH_MEMBERS else size)

    def _alignment(self, found: DebugEntry) -> int:
        """Alignment in bytes: the declared one or that of a member, the larger."""
        members = (self.of(child) for child in found.children if child.tag == "DW_TAG_member")
        inner = (member.alignment for member in members if member)
        return max([found.numbers.get("DW_AT_alignment", 1), *inner])

    def _of_array(self, found: DebugEntry) -> _TypeLayout | None:
        element = self.of(found)
        counts = [
            child.numbers.get("DW_AT_count", child.numbers.get("DW_AT_upper_bound", -1) + 1)
            for child in found.children
            if child.tag == "DW_TAG_subrange_type"
        ]
        if element is None or not counts:
            return None
        size = element.size * prod(counts)
        is_vector = "DW_AT_GNU_vector" in found.numbers
        return _TypeLayout(size, size if is_vector else element.alignment)
