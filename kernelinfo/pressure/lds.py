"""`__shared__` variables of a kernel, if debug information names all of its LDS."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from math import comb, prod
from typing import NamedTuple

from kernelinfo.reading.debug_entries import (
    DebugEntry,
    DebugUnit,
    declared_at,
    function_named,
    inlined_into,
)
from kernelinfo.reading.facts import SourceLine

_THROUGH = ("typedef", "const_type", "volatile_type", "restrict_type", "atomic_type")
_WITH_MEMBERS = ("structure_type", "class_type", "union_type")
_POINTER_BYTES = 8
_MOST_POSSIBLE = 1000  # assignments of variables to instances of templates


class LdsVariable(NamedTuple):
    """A variable in LDS."""

    name: str  # as the source names it
    bytes: int  # bytes per workgroup
    source: SourceLine | None  # line of its declaration


class LdsUse(NamedTuple):
    """Static LDS of one kernel."""

    bytes: int  # bytes per workgroup, by the descriptor; 0 if LDS is sized at launch
    variables: tuple[LdsVariable, ...]
    """Largest first; empty if debug information does not name all of them."""


class _TypeLayout(NamedTuple):
    """Size and alignment of a type, in bytes."""

    size: int
    alignment: int


def lds_of(units: Iterable[DebugUnit], symbol: str, size: int) -> LdsUse | None:
    """Variables of a kernel with `size` bytes of LDS; None without debug information.

    Those of functions that are inlined into it are its own. They are listed only if their aligned
    sizes add up to exactly `size`.
    """
    for unit in units:
        function = function_named(unit, symbol)
        if function is None:
            continue
        types = _Layouts(unit)
        every = (_laid_out(entries, types, size) for entries in _possible(unit, function))
        fitting = {variables for variables in every if variables}
        return LdsUse(size, fitting.pop() if len(fitting) == 1 else ())
    return None


def _possible(unit: DebugUnit, function: DebugEntry) -> Iterator[list[DebugEntry]]:
    """The static variables of a kernel and of what is inlined into it: one list or several.

    Clang before 22 lists those of an inlined function under a function without name and line. The
    lines of the variables tell which function it is, but not which instance of a template.
    """
    functions = [one for one in unit.values() if one.tag == "DW_TAG_subprogram"]
    lines = sorted({one.source for one in functions if one.source})
    nameless = defaultdict[SourceLine, list[list[DebugEntry]]](list)
    for entries in (one.variables() for one in functions if not one.numbers):
        if not entries or not (line := entries[0].source):
            continue
        before = lines[: bisect_right(lines, line)][-1:]
        if before and before[0].file == line.file:
            nameless[before[0]].append(entries)
    named, instances = function.variables(), Counter[SourceLine]()
    for one in inlined_into(unit, function):
        declared = declared_at(unit, one)
        if declared and declared in nameless:
            instances[declared] += 1
        else:
            named += one.variables()
    pools = [(nameless[line], count) for line, count in instances.items()]
    if prod(comb(len(pool), count) for pool, count in pools) > _MOST_POSSIBLE:
        return
    for chosen in product(*(combinations(pool, count) for pool, count in pools)):
        yield [*named, *chain.from_iterable(chain.from_iterable(chosen))]


def _laid_out(
    entries: Sequence[DebugEntry], types: _Layouts, size: int
) -> tuple[LdsVariable, ...] | None:
    """The variables, largest first; None if their aligned sizes do not add up to `size`."""
    layouts = [*map(types.of, entries)]
    if None in layouts or _together(filter(None, layouts)) != size:
        return None
    variables = (
        LdsVariable(entry.name or "?", layout.size, entry.source)
        for entry, layout in zip(entries, layouts, strict=True)
        if layout
    )
    return tuple(sorted(variables, key=lambda one: (-one.bytes, str(one.source), one.name)))


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
