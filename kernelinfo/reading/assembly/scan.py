"""Where in an assembly text something stands, found in one pass and never split into lines; what
its functions are called."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator

Text = bytes

INFO = "info"
ASSIGNMENT = "="
BUNDLE = "CLANG_OFFLOAD_BUNDLE____"
BEGIN = "Begin function "

# What logs put before each line (`[build] `) is short. Looking no further back for the start of a
# line keeps a file of one long line from costing its length squared.
_MOST_BEFORE = 200
# Bytes are sought much faster than a map; and in most windows of this size nothing is to be found.
_WINDOW = 1 << 13
_AROUND = 64
"""Of a window's neighbours, more than any mark and what is looked at around it."""
_LINES = 1 << 12
"""Bytes that the lines of one block seldom exceed."""

_MARKS: tuple[tuple[bytes, re.Pattern[bytes], str], ...] = (
    (
        b".",
        re.compile(
            rb"\.(?:(set|equ)\b(?:.*+\n[ \t]*+\.(?:set|equ)\b)*+"  # many at once
            rb"|(amdgcn_target|amd_amdgpu_isa|hsa_code_object_isa"
            rb"|amdhsa_code_object_version|hsa_code_object_version|ident"
            rb"|amdhsa_kernel|amd_kernel_code_t|amdgpu_info|amdgpu_lds|file"
            rb"|macro|endm|rept|irpc?|endr"
            rb"|amdgpu_metadata|end_amdgpu_metadata"
            rb"|amd_amdgpu_hsa_metadata|end_amd_amdgpu_hsa_metadata"
            rb"|amdgpu_pal_metadata|end_amdgpu_pal_metadata|amd_amdgpu_pal_metadata"
            rb"|AMDGPU\.config)\b)"
        ),
        "",
    ),
    # No comparison, and not what LLVM notes of loops: `; =>This Inner Loop Header: Depth=1`.
    (b"=", re.compile(rb"=(?![=>])(?<!Depth=)"), ASSIGNMENT),
    (b"K", re.compile(rb"Kernel info:"), INFO),
    (b"F", re.compile(rb"Function info:"), INFO),
    (b"C", re.compile(rb"CLANG_OFFLOAD_BUNDLE____(?<=__CLANG_OFFLOAD_BUNDLE____)"), BUNDLE),
    (b"B", re.compile(rb"Begin function (?<=-- Begin function )"), BEGIN),
)
"""What may state something, and the byte that it begins with, which most of a text has not: that
one is sought ten times as fast. A directive's kind is its name."""
# Where a comment or a string begins, what follows is no directive.
_NO_CODE = re.compile(rb';|//|/\*|"|[\w.$@]$')

UNEXPANDED = "unexpanded"
"""The kind of a macro's body that states a kernel; the mark stands where the body begins."""

_BEGINS = {"macro", "rept", "irp", "irpc"}
_ENDS = {"endm", "endr"}
_KERNEL = {"amdhsa_kernel", "amd_kernel_code_t", INFO}

# Few texts need these; to compile one takes as long as to read a block.
_LABEL = rb'(?m)^[ \t]*("(?:\\.|[^"\\\n])*"|[^\s;":]+):(?=\s|$)'
_LOCAL = rb"\.L|BB\d"
_COMMENT = re.compile(rb"(?<!\s)\s++(?:;|//|/\*).*")
# LLVM MCAsmInfo::isValidUnquotedName
_UNQUOTED = re.compile(r"[\w.$@]+", re.ASCII)
_FAR = 1 << 16


def searchable(data: Text | memoryview) -> Text:
    """The same text as bytes or map, in UTF-8 and with newlines; a copy only where it must be."""
    text = data.obj if isinstance(data, memoryview) else data
    if not isinstance(text, bytes) or len(text) != len(data):
        text = bytes(data)  # a part of something larger
    if text[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        text = text[:].decode("utf-16", "replace").encode()
    start = text[: 1 << 16]
    if b"\r" in start and b"\n" not in start:
        return text[:].replace(b"\r", b"\n")
    return text


class Lines:
    """Line numbers of byte offsets; quick where they are asked for in the order of the text."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._known = [(0, 1)]
        """Offsets and their lines, of those that were asked for and some between."""

    def number(self, offset: int) -> int:
        """The 1-based number of the line that `offset`, a byte offset, is on."""
        known = self._known
        while (last := known[-1])[0] < offset:
            end = min(last[0] + _WINDOW, offset)
            known.append((end, last[1] + self._text[last[0] : end].count(b"\n")))
        start, line = known[bisect_right(known, (offset, len(self._text))) - 1]
        return line + self._text[start:offset].count(b"\n")

    def offset(self, line: int) -> int:
        """Byte offset of the begin of a 1-based line; the end of the text where it has fewer."""
        while (last := self._known[-1])[1] < line:
            if last[0] == len(self._text):
                return last[0]
            self.number(min(last[0] + _WINDOW, len(self._text)))
        before = bisect_left(self._known, line, key=lambda known: known[1]) - 1
        offset, number = self._known[max(before, 0)]
        for _ in range(number, line):
            offset = self._text.find(b"\n", offset) + 1
        return offset


def marks(text: Text) -> Iterator[tuple[int, str]]:
    """Byte offset and kind of all that may state something of a kernel, in the order of the text.

    The kind is a directive's name, `INFO` (an info block), `ASSIGNMENT`, `BUNDLE` or
    `BEGIN` (of a function). Of directives `.set` that follow each other, only the first is listed.
    """
    for start in range(0, len(text), _WINDOW):
        first = max(start - _AROUND, 0)
        window = text[first : start + _WINDOW + _AROUND]
        found: list[tuple[int, str]] = []
        for byte, pattern, kind in _MARKS:
            if (offset := window.find(byte)) >= 0:
                found += [
                    (first + match.start(), kind or (match[1] or match[2]).decode())
                    for match in pattern.finditer(window, offset)
                ]
        if found:
            found.sort()
            yield from [mark for mark in found if start <= mark[0] < start + _WINDOW]


def outside_macros(text: Text, marks: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The marks outside bodies of macros and repetitions, which only the assembler expands.

    A body that states a kernel gives one mark of its own, `UNEXPANDED`. One without an end reaches
    to the end of the text, or of its part of a bundle.
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


def lines_from(text: Text, offset: int) -> Iterator[bytes]:
    """The lines from `offset` on, each without its newline; many are cut from one piece."""
    size = _LINES
    while offset < len(text):
        *whole, rest = text[offset : offset + size].split(b"\n")
        yield from whole
        if offset + size >= len(text):
            yield rest
            return
        offset += size - len(rest)
        # A line longer than a piece is not cut again and again.
        size = _LINES if whole else 2 * size


def before(text: Text, offset: int) -> bytes | None:
    """What stands on the line before `offset`; None where the line begins far away."""
    near = max(offset - _MOST_BEFORE, 0)
    newline = text.rfind(b"\n", near, offset)
    if newline < 0 < near:
        return None
    return text[newline + 1 if newline >= 0 else 0 : offset]


def is_directive(text: Text, offset: int) -> bool:
    """Whether the directive at `offset` is one, and not part of a comment, a string or a name."""
    if text[offset - 2 : offset] == b"\n\t":  # as compilers write nearly all
        return True
    prefix = before(text, offset)
    return prefix is not None and not _NO_CODE.search(prefix)


def line_at(text: Text, offset: int) -> bytes:
    """The line from `offset` on, without its end."""
    return text[offset : line_end(text, offset)].rstrip(b"\r")


def line_end(text: Text, offset: int) -> int:
    """Where the newline after `offset` stands; the end of the text where there is none."""
    newline = text.find(b"\n", offset)
    return newline if newline >= 0 else len(text)


def decode(name: bytes) -> str:
    """Text for people; bytes that are no UTF-8 become escapes."""
    return name.decode("utf-8", "backslashreplace")


def last_label(text: Text, floor: int, offset: int) -> tuple[str, int] | None:
    """The last label between `floor` and `offset` that is not local, and where it stands."""
    found = deque(labels(text, floor, offset), maxlen=1)
    return found[0] if found else None


def labels(text: Text, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Each label of a part of the text that is not local, and where it stands."""
    for label in re.compile(_LABEL).finditer(text, start, end):
        if not re.match(_LOCAL, label[1]):
            yield unquoted(label[1]), label.start(1)


def label_offset(text: Text, name: str, floor: int, offset: int) -> int | None:
    """Where the label `name:` stands: between `floor` and `offset`, or else soon after that.

    Compilers print a descriptor after the code; people write it before.
    """
    spellings = [name]
    if not _UNQUOTED.fullmatch(name):
        plain = name.replace('"', r"\"")  # LLVM 19 and older leave a backslash as it is
        spellings = list(dict.fromkeys(f'"{one}"' for one in (_with_escapes(name), plain)))
    for start, end in (floor, offset), (offset, offset + _FAR):
        for sought in (spelling.encode() + b":" for spelling in spellings):
            found = text.find(sought, start, end)
            while found >= 0:
                if found == 0 or text[found - 1 : found].isspace():
                    return found
                found = text.find(sought, found + 1, end)
    return None


def _with_escapes(name: str) -> str:
    return name.replace("\\", r"\\").replace('"', r"\"")


def unquoted(written: bytes) -> str:
    """The name that an assembler reads where `written` stands, quoted or not."""
    if not written.startswith(b'"'):
        return decode(written)
    return decode(re.sub(rb"\\(.)", rb"\1", written[1:-1]))


def described_kernel(operand: bytes) -> str:
    """The kernel that `.amdhsa_kernel` names: the rest of its line.

    LLVM prints the name raw even where it holds blanks, quotes or semicolons; a comment is taken
    for one only behind a blank. People may quote it.
    """
    name = _COMMENT.sub(b"", operand).strip()
    quoted = len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')
    return unquoted(name) if quoted else decode(name)
