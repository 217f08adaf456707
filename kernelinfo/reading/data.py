"""Bytes of a file, read in the parts that a reader asks for, and lines of a text."""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from kernelinfo.errors import ReadError
from kernelinfo.reading.messages import say

_WINDOW = 1 << 20
_OVERLAP = 1 << 10
"""Bytes by which windows overlap, so that no match is cut; every pattern matches less."""

_MOST_DIGITS = 66
"""Length of the longest spelling of 64 bits: 0b and 64 digits."""


def integer(digits: str | bytes, base: int = 10) -> int:
    """The value of a number's digits in a text; 2^64 if it has more digits than a 64-bit number.

    Base 0 follows the prefix, as in C and LLVM: 0x, 0b, 0o, or 0 for octal. Every number of a text
    is converted here, because `int` refuses thousands of digits and leading zeros. Raises
    `ValueError` for digits of another base.
    """
    if len(digits) > _MOST_DIGITS:
        return 1 << 64
    if base == 0:
        start = decode(digits[:2]) if isinstance(digits, bytes) else digits[:2]
        bases = {"0x": 16, "0b": 2, "0o": 8}
        base = bases.get(start.lower(), 8 if start.startswith("0") else 10)
    try:
        return int(digits, base)
    except ValueError:
        raise ValueError(say("number-malformed", digits=digits, base=base)) from None


ReadBytes = Callable[[int, int], memoryview]
"""Offset, size → bytes of a whole file: on disk, in a store, or in memory.

The caller stays within the file's size when opened. Raises `ReadError` if the bytes cannot be read
or the file lost them.
"""


class LargeFile:
    """A file on disk, kept open as long as this object lives."""

    def __init__(self, path: str) -> None:
        """Open the file. Raises `OSError`."""
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def read(self, offset: int, size: int) -> memoryview:
        """`size` bytes from `offset` on, read from the disk each time. Raises what `ReadBytes`
        raises."""
        content = bytearray()
        try:
            while piece := os.pread(self._file, size - len(content), offset + len(content)):
                if len(piece) == size:
                    return memoryview(piece)
                content += piece
        except OSError as error:
            raise ReadError(say("file-read-failed", error=error.strerror)) from error
        if len(content) < size:
            raise ReadError(say("file-shrank"))
        return memoryview(content).toreadonly()


class Data:
    """A file or a part of one. `len` gives its size in bytes, `bytes` its content."""

    __slots__ = ("_read", "_size", "_start")

    def __init__(self, read: ReadBytes, size: int, start: int = 0) -> None:
        self._read = read
        self._size = size
        self._start = start

    @classmethod
    def of(cls, content: bytes | bytearray | memoryview) -> Data:
        """Data over bytes in memory, not copied."""
        view = memoryview(content)
        return cls(lambda offset, size: view[offset : offset + size], len(view))

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return bytes(self.read())

    def read(self, offset: int = 0, size: int = sys.maxsize) -> memoryview:
        """`size` bytes from `offset` on, fewer at the end of the data.

        Raises `ReadError` as `ReadBytes` does.
        """
        size = min(size, self._size - offset)
        return self._read(self._start + offset, size) if size > 0 else memoryview(b"")

    def pieces(self) -> Iterator[memoryview]:
        """All bytes, one MiB at a time. Raises `ReadError` as `ReadBytes` does."""
        for offset in range(0, self._size, _WINDOW):
            yield self.read(offset, _WINDOW)

    def part(self, offset: int, size: int = sys.maxsize) -> Data:
        """The same range as `read` returns, but not read yet."""
        offset = min(offset, self._size)
        size = max(min(size, self._size - offset), 0)
        return Data(self._read, size, self._start + offset)

    def offset_in(self, whole: Data) -> int | None:
        """Offset of these data in `whole`; None if they are not part of it, as with decompressed
        data."""
        offset = self._start - whole._start
        is_part = self._read is whole._read and 0 <= offset <= whole._size - self._size
        return offset if is_part else None

    def search(self, pattern: re.Pattern[bytes], offset: int = 0) -> int | None:
        """Offset of the first match from `offset` on, in bytes; None without a match."""
        while offset < self._size:
            match = pattern.search(self.read(offset, _WINDOW + _OVERLAP))
            if match and (match.start() < _WINDOW or offset + _WINDOW >= self._size):
                return offset + match.start()
            offset += _WINDOW
        return None


_HELD_BYTES = 64 << 20
"""A text up to this size is held in memory, as a file of that size is."""
_READ_AHEAD = 1 << 18
"""Bytes of a long text in memory; larger than most functions, which are read twice."""
_PIECE = 1 << 20
_LONGEST_LINE = 16 << 20
"""Bytes after which a line is cut in two; only hostile text has such lines."""
_LINES = 1 << 12
"""Bytes read first for the lines of one block, which are seldom longer."""
_COUNTED = 1 << 13
"""Bytes between offsets whose line numbers are kept."""
_START = 1 << 16
"""Bytes that tell how the lines of a text end."""

# Most bytes to look back for the start of a line. A log's prefix (`[build] `) is short, and without
# a limit a file of one long line would cost its length squared.
_MOST_BEFORE = 200


class LongText:
    """A text that is reread from its file wherever it is accessed, and never held in memory as a
    whole.

    Every method raises `ReadError` if the file can no longer be read.
    """

    def __init__(self, data: Data, read: Callable[[int, int], bytes] | None = None) -> None:
        """`read`, for a text that differs from the file's, takes a byte offset and a size, and
        returns at most that many bytes of the text."""
        self._data = data
        self._read = read or self.read
        self._ends_with_returns = _ends_with_returns(bytes(data.read(0, _START)))
        self._start, self._window = 0, b""

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, part: slice, /) -> bytes:
        start, end, _ = part.indices(len(self))
        if start >= end:
            return b""
        if start < self._start or end > self._start + len(self._window):
            if end - start > _READ_AHEAD // 2:
                return self._read(start, end - start)
            self._start = max(start - _READ_AHEAD // 4, 0)  # readers often look back a little
            self._window = self._read(self._start, _READ_AHEAD)
        return self._window[start - self._start : end - self._start]

    def find(self, sought: bytes, start: int = 0, end: int | None = None, /) -> int:
        """As `bytes.find`."""
        start, end, _ = slice(start, end).indices(len(self))
        step = max(_READ_AHEAD // 4, len(sought))
        for position in range(start, end, step):
            index = self[position : min(position + step + len(sought) - 1, end)].find(sought)
            if index >= 0:
                return position + index
        return -1

    def read(self, start: int, size: int) -> bytes:
        """At most `size` bytes of the file's text from a byte offset on, with newlines."""
        content = bytes(self._data.read(start, size))
        return content.replace(b"\r", b"\n") if self._ends_with_returns else content


Text = bytes | LongText
"""A text as UTF-8 bytes with newlines. Offsets are in bytes."""


def text_of(data: Data) -> Text:
    """The text of a file in UTF-8, not held in memory if it is longer than 64 MiB.

    Raises `ReadError`.
    """
    return LongText(data) if len(data) > _HELD_BYTES else searchable(data.read())


def searchable(data: bytes | memoryview) -> bytes:
    """The text as UTF-8 bytes with newlines; copied only if `data` needs converting."""
    text = data.obj if isinstance(data, memoryview) else data
    if not isinstance(text, bytes) or len(text) != len(data):
        text = bytes(data)  # a part of something larger
    return text.replace(b"\r", b"\n") if _ends_with_returns(text[:_START]) else text


def _ends_with_returns(start: bytes) -> bool:
    """True if, by its first bytes, a text's lines end with only a carriage return."""
    return b"\r" in start and b"\n" not in start


class Lines:
    """Line numbers of byte offsets, and offsets of lines; fast if asked in the order of the
    text."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._places = [(0, 1)]
        """(byte offset, line) pairs, ascending: of the offsets asked for, and of some between."""

    def number(self, offset: int) -> int:
        """1-based line of a byte offset."""
        places = self._places
        while (last := places[-1])[0] < offset:
            end = min(last[0] + _COUNTED, offset)
            places.append((end, last[1] + self._text[last[0] : end].count(b"\n")))
        start, line = places[bisect_right(places, (offset, len(self._text))) - 1]
        return line + self._text[start:offset].count(b"\n")

    def offset(self, line: int) -> int:
        """Byte offset at which a 1-based line begins; the text's length if it has fewer lines."""
        while (last := self._places[-1])[1] < line:
            if last[0] == len(self._text):
                return last[0]
            self.number(min(last[0] + _COUNTED, len(self._text)))
        before = bisect_left(self._places, line, key=lambda place: place[1]) - 1
        offset, number = self._places[max(before, 0)]
        for _ in range(number, line):
            offset = self._text.find(b"\n", offset) + 1
        return offset


def pieces(
    text: Text, start: int = 0, end: int | None = None, size: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Consecutive pieces of a range, each with its byte offset; cut between lines.

    A piece has up to `size` bytes, or one line of up to 16 MiB.
    """
    start, end, _ = slice(start, end).indices(len(text))
    usual = limit = size or _PIECE
    while start < end:
        piece = text[start : min(start + limit, end)]
        cut = len(piece) if start + len(piece) == end else piece.rfind(b"\n") + 1
        if cut or limit >= _LONGEST_LINE:
            yield start, piece[: cut or None]
            start, limit = start + (cut or len(piece)), usual
        else:
            limit *= 2  # so that a long line costs linear time


def find_all(
    pattern: re.Pattern[bytes], text: Text, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Matches in a range that begins at the start of a line, each with its byte offset.

    The pattern must match within one line: longer matches may be missed.
    """
    for offset, piece in pieces(text, start, end):
        for match in pattern.finditer(piece):
            yield offset + match.start(), match


def lines_from(text: Text, offset: int) -> Iterator[bytes]:
    """Lines from `offset` on, without their newlines; split piece by piece, not all at once."""
    for _, piece in pieces(text, offset, size=_LINES):
        yield from piece.removesuffix(b"\n").split(b"\n")


def decoded_lines(text: Text, offset: int) -> Iterator[str]:
    """The lines of `lines_from`, each passed through `decode`."""
    for _, piece in pieces(text, offset, size=_LINES):
        yield from decode(piece).removesuffix("\n").split("\n")


def match_at(pattern: re.Pattern[bytes], text: Text, offset: int) -> re.Match[bytes] | None:
    """The match at `offset`, of at most 16 MiB. Offsets in the match count from `offset`."""
    size = _LINES
    while True:
        part = text[offset : offset + size]
        match = pattern.match(part)
        if not match or match.end() < len(part) or len(part) < size or size >= _LONGEST_LINE:
            return match
        size *= 2


def before(text: Text, offset: int) -> bytes | None:
    """Text of the line before `offset`; None if the line begins more than 200 bytes earlier."""
    near = max(offset - _MOST_BEFORE, 0)
    part = text[near:offset]
    newline = part.rfind(b"\n")
    return None if newline < 0 < near else part[newline + 1 :]


def line_at(text: Text, offset: int) -> bytes:
    """Text from `offset` to the end of the line, without the line break."""
    return text[offset : line_end(text, offset)].rstrip(b"\r")


def line_end(text: Text, offset: int) -> int:
    """Byte offset of the next newline from `offset` on; the text's length without one."""
    newline = text.find(b"\n", offset)
    return newline if newline >= 0 else len(text)


def decode(name: bytes) -> str:
    """Text of UTF-8 bytes; invalid bytes become escapes: `\\xff`."""
    return name.decode("utf-8", "backslashreplace")
