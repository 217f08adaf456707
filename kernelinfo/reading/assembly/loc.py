"""Where the source of a kernel begins, by the `.file` and `.loc` directives of assembly text and by
its debug information, as far as comments name it.

.file 0 "/elsewhere/build" "../src/file.hip" md5 0x…
.loc  0 100 49 prologue_end           ; ../src/file.hip:100:49
.long .Lfunc_end0-.Lfunc_begin0       ; DW_AT_high_pc
.byte 98                              ; DW_AT_decl_line
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from kernelinfo.reading.assembly.scan import Text, decode
from kernelinfo.reading.facts import SourceLine

_STRING = rb'"((?:\\.|[^"\\\n])*)"'
# Only what is compiled with debug information needs these.
_FILE = rb"\.file[ \t]+(\d{1,9})[ \t]+" + _STRING + rb"(?:[ \t]+" + _STRING + rb")?"
_LOCATION = rb"(?m)^[ \t]*\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9})"
_MARK = b".loc"
_ENDS = b"s_endpgm"
_BEGINS = rb"(?m)^\.Lfunc_begin(\d{1,9}):"
_FUNCTION = (
    rb"-\.Lfunc_begin(\d{1,9})[ \t]*; DW_AT_high_pc\n"
    rb"((?:[ \t]*(?:\.\w{4,5}[ \t][^\n;]{1,99})?; DW_AT_\w+\n){1,20})"
)
_DECLARED = rb"\.(?:byte|short|long)[ \t]+(\d{1,9})[ \t]*; DW_AT_decl_(file|line)\n"


class SourceFiles:
    """The numbered files of one module; without any, no line of the text names one."""

    def __init__(self) -> None:
        self._parts: dict[int, list[str]] = {}
        """Folder, where one is named, and name."""
        self._declared: dict[int, tuple[int, int]] = {}
        """Number of the file, and line, by the number of the function."""

    def take(self, text: Text, offset: int = 0) -> None:
        """Note the file of the directive at `offset`, if it has a number."""
        if match := re.compile(_FILE).match(text, offset):
            parts = (re.sub(rb"\\(.)", rb"\1", part) for part in match.groups()[1:] if part)
            self._parts[int(match[1])] = [*map(decode, parts)]

    def read_declarations(self, text: Text, start: int, end: int) -> None:
        """Note where functions are declared, by the debug information in that part of the text."""
        if not self._parts:
            return
        for function in re.compile(_FUNCTION).finditer(text, start, end):
            declared = {what: int(number) for number, what in re.findall(_DECLARED, function[2])}
            if declared.keys() == {b"file", b"line"}:
                self._declared[int(function[1])] = declared[b"file"], declared[b"line"]

    def position(self, function: Callable[[], bytes | None]) -> SourceLine | None:
        """The line of a kernel: of its declaration, or else as far as its instructions tell.

        `function` gives its text, from its label on.
        """
        if not self._parts or (code := function()) is None or _MARK not in code:
            return None
        begins = re.search(_BEGINS, code)
        if begins and (declared := self._declared.get(int(begins[1]))):
            return self.source_line(*declared)
        rows = _rows(code.partition(_ENDS)[0]) or _rows(code)
        return self.source_line(*own_line(rows)) if rows else None

    def source_line(self, file: int, line: int) -> SourceLine | None:
        """A line of a numbered file; None of a file that no directive names.

        With the folder in which the compiler ran (file 0 since DWARF 5) before what is relative to
        it.
        """
        if file not in self._parts:
            return None
        folder = self._parts.get(0, [])[:-1] if file else []
        return SourceLine(posixpath.normpath(posixpath.join(*folder, *self._parts[file])), line)


_Row = tuple[int, int, int]
"""Number of a file, line, and column."""


def _rows(code: bytes) -> list[_Row]:
    found = (map(int, location) for location in re.findall(_LOCATION, code))
    return [(file, line, column) for file, line, column in found if line]


def own_line(rows: Sequence[_Row]) -> tuple[int, int]:
    """Number of the file, and line, at which a function begins whose code is of these rows.

    LLVM up to 16 states the function's own line with column 0 before all others. Later ones begin
    with the first instruction, which may be an inlined function's; the function's own file is then
    that of its end.
    """
    file, line, column = rows[0]
    if column:
        file = rows[-1][0]
        line = next(row[1] for row in rows if row[0] == file)
    return file, line
