"""Source line of a kernel, from `.file`, `.loc` and the commented debug information of assembly.

.file 0 "/elsewhere/build" "../src/file.hip" md5 0x…
.loc  0 100 49 prologue_end           ; ../src/file.hip:100:49
.long .Lfunc_end0-.Lfunc_begin0       ; DW_AT_high_pc
.byte 98                              ; DW_AT_decl_line
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.text import Text, decode, find_all, line_at

_STRING = rb'"((?:\\.|[^"\\\n])*)"'
# Not compiled at import: only text with debug information needs these.
_FILE = rb"\.file[ \t]+(\d{1,9})[ \t]+" + _STRING + rb"(?:[ \t]+" + _STRING + rb")?"
_LOCATION = rb"(?m)^[ \t]*\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9})"
_MARK = b".loc"
_ENDS = b"s_endpgm"
_BEGINS = rb"(?m)^\.Lfunc_begin(\d{1,9}):"
_FUNCTION = rb"-\.Lfunc_begin(\d{1,9})[ \t]*; DW_AT_high_pc\n"
_ATTRIBUTES = rb"(?:[ \t]*(?:\.\w{4,5}[ \t][^\n;]{1,99})?; DW_AT_\w+\n){1,20}"
_MOST_ATTRIBUTES = 1 << 12  # bytes
_DECLARED = rb"\.(?:byte|short|long)[ \t]+(\d{1,9})[ \t]*; DW_AT_decl_(file|line)\n"


class SourceFiles:
    """Numbered source files of one module, and the lines on which functions are declared."""

    def __init__(self) -> None:
        self._parts: dict[int, list[str]] = {}
        """File number → folder, if stated, and name."""
        self._declared: dict[int, tuple[int, int]] = {}
        """Function number → file number and line."""

    def take(self, text: Text, offset: int = 0) -> None:
        """Add the file of the `.file` directive at `offset`, if it has a number."""
        if match := re.match(_FILE, line_at(text, offset)):
            parts = (re.sub(rb"\\(.)", rb"\1", part) for part in match.groups()[1:] if part)
            self._parts[int(match[1])] = [*map(decode, parts)]

    def read_declarations(self, text: Text, start: int, end: int) -> None:
        """Add the declarations of functions from the debug information between two offsets."""
        if not self._parts:
            return
        for offset, function in find_all(re.compile(_FUNCTION), text, start, end):
            behind = offset + len(function[0])
            stated = re.match(_ATTRIBUTES, text[behind : behind + _MOST_ATTRIBUTES])
            lines = re.findall(_DECLARED, stated[0]) if stated else ()
            declared = {what: int(number) for number, what in lines}
            if declared.keys() == {b"file", b"line"}:
                self._declared[int(function[1])] = declared[b"file"], declared[b"line"]

    def position(self, function: Callable[[], bytes | None]) -> SourceLine | None:
        """Source line of a kernel: its declaration's, else by its instructions; None if unknown.

        `function` returns the kernel's text, from its label on.
        """
        if not self._parts or (code := function()) is None or _MARK not in code:
            return None
        begins = re.search(_BEGINS, code)
        if begins and (declared := self._declared.get(int(begins[1]))):
            return self.source_line(*declared)
        rows = _rows(code.partition(_ENDS)[0]) or _rows(code)
        return self.source_line(*own_line(rows)) if rows else None

    def source_line(self, file: int, line: int) -> SourceLine | None:
        """Line of a numbered file; None for a number that no directive names.

        A relative path is joined to the folder in which the compiler ran (file 0 since DWARF 5).
        """
        if file not in self._parts:
            return None
        folder = self._parts.get(0, [])[:-1] if file else []
        return SourceLine(posixpath.normpath(posixpath.join(*folder, *self._parts[file])), line)


_LineRow = tuple[int, int, int]
"""File number, line and column."""


def _rows(code: bytes) -> list[_LineRow]:
    found = (map(int, location) for location in re.findall(_LOCATION, code))
    return [(file, line, column) for file, line, column in found if line]


def own_line(rows: Sequence[_LineRow]) -> tuple[int, int]:
    """File number and line at which a function with these rows begins.

    LLVM up to 16 states the function's own line first, with column 0. Later versions begin with the
    first instruction, possibly an inlined one; then the last row names the function's own file.
    """
    file, line, column = rows[0]
    if column:
        file = rows[-1][0]
        line = next(row[1] for row in rows if row[0] == file)
    return file, line
