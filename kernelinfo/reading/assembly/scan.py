"""Where in an assembly text something stands, found in one pass and never split into lines."""

from __future__ import annotations

import codecs
import mmap
import re
from bisect import bisect_right
from collections.abc import Iterator

Text = bytes | mmap.mmap

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
_RELEASED = 1 << 20
"""Bytes that are let go of at a time."""
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


def searchable(data: Text | memoryview) -> Text:
    """The same text as bytes or map, in UTF-8 and with newlines; a copy only where it must be."""
    text = data.obj if isinstance(data, memoryview) else data
    if not isinstance(text, (bytes, mmap.mmap)) or len(text) != len(data):
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
            # A memory map can neither count nor lend a part of itself: copy, a little at a time.
            end = min(last[0] + _WINDOW, offset)
            known.append((end, last[1] + self._text[last[0] : end].count(b"\n")))
        start, line = known[bisect_right(known, (offset, len(self._text))) - 1]
        return line + self._text[start:offset].count(b"\n")


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
        if start % _RELEASED == 0:
            release(text, 0, start - _RELEASED)


def release(text: Text, start: int, end: int) -> None:
    """Let go of a part of a mapped file, so that memory does not grow with its size.

    Whoever looks there again reads it from the file again.
    """
    start = max(start - start % mmap.PAGESIZE, 0)
    if isinstance(text, mmap.mmap) and start < end and hasattr(mmap, "MADV_DONTNEED"):
        text.madvise(mmap.MADV_DONTNEED, start, end - start)


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
