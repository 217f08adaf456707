"""What debug information adds, if the user asks for it: source text, variables in LDS."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from math import comb, prod
from pathlib import PurePath
from typing import NamedTuple

from kernelinfo.errors import OptionError
from kernelinfo.opening import is_below, open_regular
from kernelinfo.pressure.messages import say
from kernelinfo.reading.facts import (
    DebugEntry,
    DebugUnit,
    SourceLine,
    declared_at,
    function_named,
    inlined_into,
)

_MOST_BYTES = 4 << 20
"""Most bytes of one file."""
_MOST_IN_ALL = 64 << 20
"""Most bytes of all files: debug information may name thousands."""
_LONGEST = 4096
"""Characters of a path, PATH_MAX of Linux."""
_MOST_PARTS = 64
"""Most parts, from the end of a path, that are looked for below `--source-root`."""
_OF_SYSTEM = ("/proc", "/dev", "/sys")
"""Folders whose files are no text, although some are regular files."""


class SourceText:
    """Lines of source files below the folders that the user named. Each file is read once. Debug
    information may name any file, so files elsewhere are not read, not even through a link."""

    def __init__(self, root: str | None, paths: Sequence[str] = ()) -> None:
        """`root` is searched first, by the whole path and by its last parts.

        Text is also read below the current folder and the folders of the inputs, `paths`. Raises
        `OptionError` if `root` is not a folder.
        """
        if root is not None and not os.path.isdir(root):
            raise OptionError(say("source-root-no-folder", root=root))
        self._root = root
        inputs = (path if os.path.isdir(path) else os.path.dirname(path) for path in paths)
        # The root of all files, as the current folder, names none.
        folders = [folder for folder in (os.curdir, *inputs) if not _is_top(folder)]
        self._folders = [*folders, *([root] if root is not None else [])]
        self._answers: dict[tuple[str, str], int | str] = {}
        self._texts: dict[str, int | str] = {}
        self._left = _MOST_IN_ALL
        self.shown: list[tuple[str, list[str]]] = []
        """(path, lines) of the files whose text was given, in the order in which they were asked
        for."""
        self._taken = 0

    def lines(self, file: str, folder: str = "") -> list[str] | str:
        """The lines of a file, or the reason why there are none.

        After the root, a relative path is searched in `folder` (that of the input), then in the
        current folder.
        """
        answer = self.number(file, folder)
        return answer if isinstance(answer, str) else self.shown[answer][1]

    def number(self, file: str, folder: str = "") -> int | str:
        """The index of a file's text in `shown`, or the reason why it has none. Names of one file
        share its text."""
        if (file, folder) not in self._answers:
            self._answers[file, folder] = self._number(file, folder)
        return self._answers[file, folder]

    def fresh(self) -> list[tuple[str, list[str]]]:
        """The texts that were shown since the last call."""
        fresh, self._taken = self.shown[self._taken :], len(self.shown)
        return fresh

    def _number(self, file: str, folder: str) -> int | str:
        if len(file) > _LONGEST:
            return say("source-path-long", size=len(file))
        path = next((path for path in self._paths(file, folder) if os.path.isfile(path)), None)
        if path is None:
            return say("source-missing", file=file)
        real = os.path.realpath(path)
        if any(is_below(real, system) for system in _OF_SYSTEM):
            return say("source-of-system", path=path)
        beside = [] if _is_top(folder) else [folder]
        if not any(is_below(real, allowed or os.curdir) for allowed in (*self._folders, *beside)):
            return say("source-outside", path=path)
        if real not in self._texts:
            text = self._text(path)
            self._texts[real] = text if isinstance(text, str) else len(self.shown)
            if not isinstance(text, str):
                self.shown.append((path, text))
        return self._texts[real]

    def _text(self, path: str) -> list[str] | str:
        try:
            with open_regular(path) as opened:
                data = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            return say("source-unreadable", path=path, error=error.strerror)
        if len(data) > _MOST_BYTES:
            return say("source-too-large", path=path)
        if b"\0" in data:
            return say("source-no-text", path=path)
        self._left -= len(data)
        if self._left < 0:
            return say("source-left-out", path=path)
        return _as_compilers_count(data.decode("utf-8", "replace"))

    def _paths(self, file: str, folder: str) -> Iterator[str]:
        parts = [part for part in PurePath(file).parts if part not in ("/", "..")]
        if self._root is not None:
            for first in range(max(len(parts) - _MOST_PARTS, 0), len(parts)):
                yield os.path.join(self._root, *parts[first:])
        if os.path.isabs(file):
            yield file
        else:
            yield from (os.path.join(folder, file), file)


def _is_top(folder: str) -> bool:
    """True for the root of the file system."""
    real = os.path.realpath(folder or os.curdir)
    return os.path.dirname(real) == real


def _as_compilers_count(text: str) -> list[str]:
    """The lines. Unlike in `str.splitlines`, a form feed does not end a line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


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


_Layouts = dict[int, _TypeLayout | None]
"""Reference of a type → its layout; None if it is not stated."""


def lds_of(units: Iterable[DebugUnit], symbol: str, size: int) -> LdsUse | None:
    """The variables of a kernel with `size` bytes of LDS; None without debug information.

    Variables of functions that are inlined into the kernel are included. They are listed only if
    their aligned sizes add up to exactly `size`.
    """
    for unit in units:
        function = function_named(unit, symbol)
        if function is None:
            continue
        layouts: _Layouts = {}
        every = (_laid_out(entries, unit, layouts, size) for entries in _possible(unit, function))
        fitting = {variables for variables in every if variables}
        return LdsUse(size, fitting.pop() if len(fitting) == 1 else ())
    return None


def _possible(unit: DebugUnit, function: DebugEntry) -> Iterator[list[DebugEntry]]:
    """Yields each list of variables that may be the static variables of a kernel and of the
    functions inlined into it.

    Clang before 22 lists the variables of an inlined function under a function without name and
    line. The lines of the variables show which function it is, but not which instance of a
    template. Yields nothing if there are more than `_MOST_POSSIBLE` lists.
    """
    functions = [
        subprogram for subprogram in unit.values() if subprogram.tag == "DW_TAG_subprogram"
    ]
    lines = sorted({subprogram.source for subprogram in functions if subprogram.source})
    nameless = defaultdict[SourceLine, list[list[DebugEntry]]](list)
    for entries in (subprogram.variables() for subprogram in functions if not subprogram.numbers):
        if not entries or not (line := entries[0].source):
            continue
        before = lines[: bisect_right(lines, line)][-1:]
        if before and before[0].file == line.file:
            nameless[before[0]].append(entries)
    named, instances = function.variables(), Counter[SourceLine]()
    for subprogram in inlined_into(unit, function):
        declared = declared_at(unit, subprogram)
        if declared and declared in nameless:
            instances[declared] += 1
        else:
            named += subprogram.variables()
    pools = [(nameless[line], count) for line, count in instances.items()]
    if prod(comb(len(pool), count) for pool, count in pools) > _MOST_POSSIBLE:
        return
    for chosen in product(*(combinations(pool, count) for pool, count in pools)):
        yield [*named, *chain.from_iterable(chain.from_iterable(chosen))]


def _laid_out(
    entries: Sequence[DebugEntry], unit: DebugUnit, layouts: _Layouts, size: int
) -> tuple[LdsVariable, ...] | None:
    """The variables, largest first; None if the size of one is not stated, or if their aligned
    sizes do not add up to `size` bytes."""
    types = [_layout(entry, unit, layouts) for entry in entries]
    if None in types or _together(filter(None, types)) != size:
        return None
    variables = (
        LdsVariable(entry.name or "?", layout.size, entry.source)
        for entry, layout in zip(entries, types, strict=True)
        if layout
    )
    return tuple(
        sorted(
            variables, key=lambda variable: (-variable.bytes, str(variable.source), variable.name)
        )
    )


def _together(layouts: Iterable[_TypeLayout]) -> int:
    """The bytes of all variables, laid out with the most strictly aligned first (LLVM
    AMDGPULowerModuleLDSPass)."""
    end, alignment_of_all = 0, 1
    for size, alignment in sorted(layouts, key=lambda layout: -layout.alignment):
        end = -(-end // alignment) * alignment + size
        alignment_of_all = max(alignment_of_all, alignment)
    return -(-end // alignment_of_all) * alignment_of_all


def _layout(entry: DebugEntry, unit: DebugUnit, layouts: _Layouts) -> _TypeLayout | None:
    """The layout of the type that an entry (a variable, member or type) refers to; None if it is
    not stated. `layouts` holds the unit's known layouts; new ones are added to it."""
    reference = entry.numbers.get("DW_AT_type", -1)
    if reference not in layouts:
        layouts[reference] = None  # ends a circle of types
        type_entry = unit.get(reference)
        layouts[reference] = _type_layout(type_entry, unit, layouts) if type_entry else None
    return layouts[reference]


def _type_layout(entry: DebugEntry, unit: DebugUnit, layouts: _Layouts) -> _TypeLayout | None:
    kind = entry.tag.removeprefix("DW_TAG_")
    size = entry.numbers.get("DW_AT_byte_size")
    if kind in _THROUGH:
        return _layout(entry, unit, layouts)
    if kind == "array_type":
        return _array_layout(entry, _layout(entry, unit, layouts))
    if kind == "pointer_type":
        size = size or _POINTER_BYTES
    if not size:
        return None
    if kind not in _WITH_MEMBERS:
        return _TypeLayout(size, size)
    members = (child for child in entry.children if child.tag == "DW_TAG_member")
    alignments = (layout.alignment for m in members if (layout := _layout(m, unit, layouts)))
    declared = entry.numbers.get("DW_AT_alignment", 1)
    return _TypeLayout(size, max([declared, *alignments]))


def _array_layout(entry: DebugEntry, element: _TypeLayout | None) -> _TypeLayout | None:
    counts = [
        child.numbers.get("DW_AT_count", child.numbers.get("DW_AT_upper_bound", -1) + 1)
        for child in entry.children
        if child.tag == "DW_TAG_subrange_type"
    ]
    if element is None or not counts:
        return None
    size = element.size * prod(counts)
    is_vector = "DW_AT_GNU_vector" in entry.numbers
    return _TypeLayout(size, size if is_vector else element.alignment)
