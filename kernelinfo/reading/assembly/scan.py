"""Offsets of directives, comments and labels in an assembly text; its functions' names and lines.

Marks are found in one pass, without splitting the text into lines.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import AnyStr

from kernelinfo.reading.data import (
    Data,
    LongText,
    Text,
    before,
    decode,
    find_all,
    integer,
    line_at,
    line_end,
    pieces,
    text_of,
)
from kernelinfo.reading.facts import SourceLine

# Comments of assembly text. Every reader of such a text gets it from here.
#
# Comments of `/* … */` and lines of `#` become blanks. Those of `;` and `//` stay, because
# compilers state facts in them; they end with their line, and `code_of` cuts them off. Source: LLVM
# AsmLexer::LexToken, LexSlash; AMDGPUMCAsmInfo.

_OPEN, _CLOSE = b"/*", b"*/"
_NAME = rb"/\*v[\d\[][\d:\]]*+\*/"
"""LLVM's comment on a register above v255: `v2 /*v258*/`."""
_STRINGS = rb"\"(?:\\.|[^\"\\\n])*+\"|'(?:\\.|[^'\\\n])*+'"
_CODE = rb"(?:[^\"'/;\n]++|" + _STRINGS + rb"|/(?![/*])%b)*+"
_ENCLOSED = {
    False: (re.compile(rb"/\*"), re.compile(_CODE % b"")),
    True: (re.compile(rb"/\*(?!v[\d\[][\d:\]]*+\*/)"), re.compile(_CODE % (b"|" + _NAME))),
}
"""Patterns for the begin of an enclosed comment, and for a line's code up to its first comment.
Under True, comments that name registers are code."""
_SETS_UPPER = b"s_set_vgpr_msb"
_HASH = rb"#(?!\d+ \d| __CLANG_OFFLOAD_BUNDLE__)"
"""A `#` that begins a comment, unless it precedes the number and time of a line in a container's
build log, or the mark of a text bundle."""
_HASH_LINE = re.compile(rb"[ \t]*+" + _HASH)
_HASH_STATEMENT = re.compile(rb"[ \t]*+(?:[^\s;\":#/]++:[ \t]++)*+" + _HASH)
"""A line's begin up to its `#` comment, which may follow labels. After a label, an enclosed comment
may begin inside the `#` comment."""
_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
_COMMENT_WINDOW = 1 << 18


def assembly_text(data: Data) -> Text:
    """The text of a file with `/* … */` and `#` comments blanked out, so that its length and lines
    stay. Raises `ReadError`."""
    text = text_of(data)
    if isinstance(text, bytes):
        return without_comments(text)
    return _long_assembly(data) if text.find(_OPEN) >= 0 else text


def without_comments(text: bytes) -> bytes:
    """The text with `/* … */` comments and `#` lines replaced by blanks, so that its length and
    line numbers stay. An unterminated comment ends with its line."""
    if b"*" in text and _OPEN in text:  # one byte is sought at twenty times the speed of two
        text, _ = _without_enclosed(text, names=_SETS_UPPER in text)
    return _without_hashes(text) if b"#" in text else text


def code_of(line: AnyStr) -> AnyStr:
    """A line without its comment of `;` or `//`."""
    if isinstance(line, bytes):
        return line.partition(b";")[0].partition(b"//")[0]
    return line.partition(";")[0].partition("//")[0]


def _without_enclosed(
    text: bytes, *, names: bool, is_open: bool = False, is_part: bool = False
) -> tuple[bytes, bool]:
    """The text with blanks in place of its `/* comments */`, and True if the last goes on after it.

    `names` keeps comments that name registers. `is_open` says that the text begins inside a
    comment. `is_part` says that the text continues elsewhere, so an unterminated comment reaches to
    the end of the text. Otherwise such a comment ends with its line, and a statement that
    continues after a multi-line comment becomes one line, followed by as many empty lines.
    """
    kept: list[bytes] = []
    done = 0  # everything before is in `kept`
    if is_open:
        end = text.find(_CLOSE)
        if end < 0:
            return text.translate(_BLANKS), True
        done = end + len(_CLOSE)
        kept.append(text[:done].translate(_BLANKS))
    last = text.rfind(_CLOSE)
    read = done  # no comment that is not known begins before
    owed = 0
    """Number of newlines of comments inside a statement; they follow the statement."""
    begins, code_before = _ENCLOSED[names]
    for mark in begins.finditer(text, done):
        if mark.start() < read:
            continue
        line = max(text.rfind(b"\n", read, mark.start()) + 1, read)
        code = code_before.match(text, line)
        start = code.end() if code else line
        if not text.startswith(_OPEN, start) or _HASH_LINE.match(text, line):
            read = line_end(text, mark.start())
            continue
        end = text.find(_CLOSE, start + len(_OPEN)) if start < last else -1
        if end < 0 and is_part:
            kept += text[done:start], text[start:].translate(_BLANKS)
            return b"".join(kept), True
        if owed and (line_break := text.find(b"\n", done, start)) >= 0:
            kept += text[done:line_break], b"\n" * owed
            done, owed = line_break, 0
        read = end + len(_CLOSE) if end >= 0 else line_end(text, start)
        blanks = text[start:read].translate(_BLANKS)
        kept += text[done:start], blanks
        done = read
        if b"\n" in blanks and not is_part:
            begin = text.rfind(b"\n", 0, start) + 1
            if owed or text[begin:start].strip():
                owed += blanks.count(b"\n")
                kept[-1] = blanks.replace(b"\n", b"")
    line_break = line_end(text, done)
    return b"".join((*kept, text[done:line_break], b"\n" * owed, text[line_break:])), False


def _without_hashes(text: bytes) -> bytes:
    kept: list[bytes] = []
    done, sign = 0, text.find(b"#")
    while sign >= 0:
        line = text.rfind(b"\n", done, sign) + 1 or done
        end = line_end(text, sign)
        comment = _HASH_STATEMENT.match(text, line)
        if comment and comment.end() == sign + 1:
            kept += text[done:sign], text[sign:end].translate(_BLANKS)
            done = end
        sign = text.find(b"#", end)
    return b"".join((*kept, text[done:])) if kept else text


def _long_assembly(data: Data) -> LongText:
    """A long text without `/* … */` comments; a comment inside a statement ends its line."""
    whole = LongText(data)
    blanked = partial(_without_enclosed, names=whole.find(_SETS_UPPER) >= 0, is_part=True)
    starts, in_comment = [0], [False]
    """Offsets of lines at which reading may begin, and True for each of them inside a comment."""
    for offset, piece in pieces(whole, size=_COMMENT_WINDOW):
        _, is_open = blanked(piece, is_open=in_comment[-1])
        starts.append(offset + len(piece))
        in_comment.append(is_open)

    def read(start: int, size: int) -> bytes:
        index = bisect_right(starts, start) - 1
        first = starts[index]
        text, _ = blanked(whole.read(first, start - first + size), is_open=in_comment[index])
        return _without_hashes(text)[start - first :]

    return LongText(data, read)


INFO = "info"
ASSIGNMENT = "="
BUNDLE = "CLANG_OFFLOAD_BUNDLE____"
BEGIN = "Begin function "

# Bytes are searched much faster than a map, and most windows of this size hold no mark.
_WINDOW = 1 << 13
_AROUND = 64
"""Bytes of overlap on each side of a window; a mark with its surroundings is shorter."""

_MARKS: tuple[tuple[bytes, re.Pattern[bytes], str], ...] = (
    (
        b".",
        re.compile(
            rb"\.(?:(set|equ)\b(?:.*+\n[ \t]*+\.(?:set|equ)\b)*+"  # many at once
            rb"|(amdgcn_target|amd_amdgpu_isa|hsa_code_object_isa"
            rb"|amdhsa_code_object_version|hsa_code_object_version|ident"
            rb"|amdhsa_kernel|amd_kernel_code_t|amdgpu_info|amdgpu_lds|file"
            rb"|macro|endm(?:acro)?|rept?|irpc?|endr"
            rb"|amdgpu_metadata|end_amdgpu_metadata"
            rb"|amd_amdgpu_hsa_metadata|end_amd_amdgpu_hsa_metadata"
            rb"|amdgpu_pal_metadata|end_amdgpu_pal_metadata|amd_amdgpu_pal_metadata"
            rb"|AMDGPU\.config)\b)"
        ),
        "",
    ),
    # Neither a comparison nor LLVM's comment on a loop: `; =>This Inner Loop Header: Depth=1`.
    (b"=", re.compile(rb"=(?![=>])(?<!Depth=)"), ASSIGNMENT),
    (b"K", re.compile(rb"Kernel info:"), INFO),
    (b"F", re.compile(rb"Function info:"), INFO),
    (b"C", re.compile(rb"CLANG_OFFLOAD_BUNDLE____(?<=__CLANG_OFFLOAD_BUNDLE____)"), BUNDLE),
    (b"B", re.compile(rb"Begin function (?<=-- Begin function )"), BEGIN),
)
"""Rare first byte, pattern and kind of each mark. Searching for one byte first is ten times as
fast. The kind of a directive is its name."""
# Text before a directive that makes it part of a comment, a string or a name.
_NO_CODE = re.compile(rb';|//|"|[\w.$@]$')

UNEXPANDED = "unexpanded"
"""Kind of the mark for a macro with a kernel in its body; it is where the macro begins."""

_BEGINS = {"macro", "rep", "rept", "irp", "irpc"}
_ENDS = {"endm", "endmacro", "endr"}
_KERNEL = {"amdhsa_kernel", "amd_kernel_code_t", INFO}

# Not compiled at import: few texts need these, and compiling one takes as long as reading a block.
_LABEL = rb'(?m)^[ \t]*("(?:\\.|[^"\\\n])*"|[^\s;":]+):(?=\s|$)'
_LOCAL = rb"\.L|BB\d"
_COMMENT = re.compile(rb"(?<!\s)\s++(?:;|//).*")
# LLVM MCAsmInfo::isValidUnquotedName
_UNQUOTED = re.compile(r"[\w.$@]+", re.ASCII)
_FAR = 1 << 16


def marks(text: Text) -> Iterator[tuple[int, str]]:
    """Marks: byte offset and kind of every possible statement on a kernel, in the text's order.

    The kind is a directive's name, `INFO` (an info block), `ASSIGNMENT`, `BUNDLE` or `BEGIN` (of a
    function). Consecutive `.set` directives give one mark, at the first.
    """
    for start in range(0, len(text), _WINDOW):
        first = max(start - _AROUND, 0)
        window = text[first : start + _WINDOW + _AROUND]
        marked: list[tuple[int, str]] = []
        for byte, pattern, kind in _MARKS:
            if (offset := window.find(byte)) >= 0:
                marked += [
                    (first + match.start(), kind or (match[1] or match[2]).decode())
                    for match in pattern.finditer(window, offset)
                ]
        if marked:
            marked.sort()
            yield from [mark for mark in marked if start <= mark[0] < start + _WINDOW]


def outside_macros(text: Text, marks: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The marks outside macros and repetitions, which only the assembler expands.

    A macro with a kernel in its body gives one mark of the kind `UNEXPANDED`. An unterminated body
    reaches to the end of the text, or of its part of a bundle.
    """
    depth = start = 0
    states_kernel = False
    for offset, kind in marks:
        if kind in _BEGINS or kind in _ENDS:
            if is_directive(text, offset):
                start = start if depth else offset
                depth = max(depth + (1 if kind in _BEGINS else -1), 0)
        elif kind == BUNDLE:
            depth = 0
        elif depth:
            states_kernel |= kind in _KERNEL
        if states_kernel and not depth:
            yield start, UNEXPANDED
            states_kernel = False
        if not depth and kind not in _BEGINS and kind not in _ENDS:
            yield offset, kind
    if states_kernel:
        yield start, UNEXPANDED


def is_directive(text: Text, offset: int) -> bool:
    """True if the directive at `offset` is not part of a comment, a string or a name."""
    if text[offset - 2 : offset] == b"\n\t":  # as compilers write nearly all
        return True
    prefix = before(text, offset)
    return prefix is not None and not _NO_CODE.search(prefix)


def last_label(text: Text, floor: int, offset: int) -> tuple[str, int] | None:
    """Name and byte offset of the last non-local label between `floor` and `offset`, or None."""
    last = deque(labels(text, floor, offset), maxlen=1)
    return last[0] if last else None


def labels(text: Text, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Name and byte offset of each non-local label between `start` and `end`."""
    if start and text[start - 1 : start] != b"\n":
        start = line_end(text, start) + 1
    for offset, label in find_all(re.compile(_LABEL), text, start, end):
        if not re.match(_LOCAL, label[1]):
            yield unquoted(label[1]), offset + label.start(1) - label.start()


def label_offset(text: Text, name: str, floor: int, offset: int) -> int | None:
    """Byte offset of the label `name:`, searched from `floor` to `offset` and in the 64 KiB after
    it; None if not found.

    Compilers print the descriptor, at `offset`, after the code; people write it before.
    """
    spellings = [name]
    if not _UNQUOTED.fullmatch(name):
        plain = name.replace('"', r"\"")  # LLVM 19 and older leave a backslash as it is
        escaped = name.replace("\\", r"\\").replace('"', r"\"")
        spellings = list(dict.fromkeys((f'"{escaped}"', f'"{plain}"')))
    for start, end in (floor, offset), (offset, offset + _FAR):
        for sought in (spelling.encode() + b":" for spelling in spellings):
            label = text.find(sought, start, end)
            while label >= 0:
                if label == 0 or text[label - 1 : label].isspace():
                    return label
                label = text.find(sought, label + 1, end)
    return None


def unquoted(written: bytes) -> str:
    """The name as an assembler reads it, without quotes and escapes."""
    if not written.startswith(b'"'):
        return decode(written)
    return decode(re.sub(rb"\\(.)", rb"\1", written[1:-1]))


def described_kernel(operand: bytes) -> str:
    """Kernel's name in the operand of `.amdhsa_kernel`, the rest of the line.

    LLVM prints a name raw, even with blanks, quotes or semicolons in it, so a comment begins only
    after a blank. Hand-written code may quote the name.
    """
    name = _COMMENT.sub(b"", operand).strip()
    quoted = len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')
    return unquoted(name) if quoted else decode(name)


_STRING = rb'"((?:\\.|[^"\\\n])*)"'
# Not compiled at import: only text with debug information needs these.
_FILE = rb"\.file[ \t]+(\d{1,9})[ \t]+" + _STRING + rb"(?:[ \t]+" + _STRING + rb")?"
_LOCATION = rb"(?m)^[ \t]*\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9})"
_MARK = b".loc"
_END_OF_CODE = b"s_endpgm"
END_OF_FUNCTION = b".Lfunc_end"
"""Begin of the label that LLVM sets after a function's code."""
_FUNCTION_BEGIN = rb"(?m)^\.Lfunc_begin(\d{1,9}):"
_FUNCTION = rb"-\.Lfunc_begin(\d{1,9})[ \t]*; DW_AT_high_pc\n"
_ATTRIBUTES = rb"(?:[ \t]*(?:\.\w{4,5}[ \t][^\n;]{1,99})?; DW_AT_\w+\n){1,20}"
_MOST_ATTRIBUTES = 1 << 12  # bytes
_DECLARED = rb"\.(?:byte|short|long)[ \t]+(\d{1,9})[ \t]*; DW_AT_decl_(file|line)\n"

LONGEST_PATH = 1 << 12
"""Bytes of a path (Linux PATH_MAX): no compiler opened a longer one."""


class SourceFiles:
    """Numbered source files of one module, and the lines on which functions are declared.

    .file 0 "/elsewhere/build" "../src/file.hip" md5 0x…
    .loc  0 100 49 prologue_end           ; ../src/file.hip:100:49
    .long .Lfunc_end0-.Lfunc_begin0       ; DW_AT_high_pc
    .byte 98                              ; DW_AT_decl_line
    """

    def __init__(self) -> None:
        self._parts: dict[int, list[str]] = {}
        """File number → folder, if stated, and name."""
        self._paths: dict[int, str] = {}
        """File number → its path, once it was asked for."""
        self._declared: dict[int, tuple[int, int]] = {}
        """Function number → file number and line."""

    def take(self, text: Text, offset: int = 0) -> None:
        """Add the file of the `.file` directive at `offset`, if it has a number.

        A file without a name, or with one longer than any path, is unknown.
        """
        if match := re.match(_FILE, line_at(text, offset)):
            stated = (part for part in match.groups()[1:] if part is not None)
            parts = [decode(re.sub(rb"\\(.)", rb"\1", part)) for part in stated]
            is_path = parts[-1] and sum(map(len, parts)) < LONGEST_PATH
            self._parts[integer(match[1])] = parts if is_path else []
            self._paths.clear()

    def read_declarations(self, text: Text, start: int, end: int) -> None:
        """Add the declarations of functions from the debug information between two offsets."""
        for offset, function in find_all(re.compile(_FUNCTION), text, start, end):
            behind = offset + len(function[0])
            stated = re.match(_ATTRIBUTES, text[behind : behind + _MOST_ATTRIBUTES])
            lines = re.findall(_DECLARED, stated[0]) if stated else ()
            declared = {what: integer(number) for number, what in lines}
            if declared.keys() == {b"file", b"line"}:
                self._declared[integer(function[1])] = declared[b"file"], declared[b"line"]

    def position(self, function: Callable[[], bytes | None]) -> SourceLine | None:
        """The source line of a kernel, from its declaration, else from its instructions; None if
        unknown.

        `function` returns the kernel's text, from its label on.
        """
        if (code := function()) is None or _MARK not in code:
            return None
        begins = re.search(_FUNCTION_BEGIN, code)
        if begins and (declared := self._declared.get(integer(begins[1]))):
            return self.source_line(*declared)
        rows = _rows(code.partition(_END_OF_CODE)[0]) or _rows(code)
        return self.source_line(*own_line(rows)) if rows else None

    def source_line(self, file: int, line: int) -> SourceLine | None:
        """Line of a numbered file; None for a number that no directive names.

        A relative path is joined to the folder in which the compiler ran (file 0 since DWARF 5).
        """
        if not self._parts.get(file):
            return None
        if file not in self._paths:
            folder = self._parts.get(0, [])[:-1] if file else []
            path = posixpath.join(*folder, *self._parts[file])
            self._paths[file] = posixpath.normpath(path)
        return SourceLine(self._paths[file], line)


_LineRow = tuple[int, int, int]
"""File number, line and column."""


def _rows(code: bytes) -> list[_LineRow]:
    numbers = (map(integer, location) for location in re.findall(_LOCATION, code))
    return [(file, line, column) for file, line, column in numbers if line]


def own_line(rows: Sequence[_LineRow]) -> tuple[int, int]:
    """File number and line at which a function begins; `rows` are its `.loc` directives.

    LLVM up to 16 states the function's own line first, with column 0. Later versions begin with the
    first instruction, possibly an inlined one; then the last row names the function's own file.
    """
    file, line, column = rows[0]
    if column:
        file = rows[-1][0]
        line = next(row[1] for row in rows if row[0] == file)
    return file, line
