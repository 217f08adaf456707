"""Bytes of a file, read in the parts that a reader asks for."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Protocol

from kernelinfo.errors import ReadError

_SHRANK = "shrank while it was read; read it again when it is complete"
_WINDOW = 1 << 20
_OVERLAP = 1 << 10
"""Bytes by which windows overlap, so that no match is cut; every pattern matches less."""


class ByteSource(Protocol):
    """A whole file: on disk, in a store, or in memory."""

    def read(self, offset: int, size: int) -> memoryview:
        """`size` bytes from `offset` on; the caller stays within the file's size when opened.

        Raises `ReadError` if they cannot be read or the file lost them.
        """


class Held:
    """Bytes in memory."""

    def __init__(self, content: bytes | bytearray | memoryview) -> None:
        self._content = memoryview(content)

    def read(self, offset: int, size: int) -> memoryview:
        """`size` bytes from `offset` on, not copied."""
        return self._content[offset : offset + size]


class LargeFile:
    """A file on disk, kept open as long as this object lives."""

    def __init__(self, path: str) -> None:
        """Open the file. Raises `OSError`."""
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)

    def read(self, offset: int, size: int) -> memoryview:
        """`size` bytes from `offset` on, read anew each time.

        Raises `ReadError` if they cannot be read or the file lost them.
        """
        content = bytearray()
        try:
            while piece := os.pread(self._file, size - len(content), offset + len(content)):
                if len(piece) == size:
                    return memoryview(piece)
                content += piece
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror}") from error
        if len(content) < size:
            raise ReadError(_SHRANK)
        return memoryview(content).toreadonly()


class Data:
    """A file or a part of one. `len` gives its size in bytes, `bytes` its content."""

    __slots__ = ("_size", "_source", "_start")

    def __init__(self, source: ByteSource, size: int, start: int = 0) -> None:
        self._source = source
        self._size = size
        self._start = start

    @classmethod
    def of(cls, content: bytes | bytearray | memoryview) -> Data:
        """Data over bytes in memory."""
        return cls(Held(content), len(content))

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return bytes(self.read())

    def read(self, offset: int = 0, size: int = sys.maxsize) -> memoryview:
        """`size` bytes from `offset` on, fewer at the end of the data.

        Raises `ReadError` like `ByteSource.read`.
        """
        size = min(size, self._size - offset)
        return self._source.read(self._start + offset, size) if size > 0 else memoryview(b"")

    def pieces(self) -> Iterator[memoryview]:
        """All bytes, by the MiB. Raises `ReadError` like `ByteSource.read`."""
        for offset in range(0, self._size, _WINDOW):
            yield self.read(offset, _WINDOW)

    def part(self, offset: int, size: int = sys.maxsize) -> Data:
        """The same range as `read`, as data not read yet."""
        offset = min(offset, self._size)
        size = max(min(size, self._size - offset), 0)
        return Data(self._source, size, self._start + offset)

    def search(self, pattern: re.Pattern[bytes], offset: int = 0) -> int | None:
        """Offset of the first match from `offset` on, in bytes; None without a match."""
        while offset < self._size:
            found = pattern.search(self.read(offset, _WINDOW + _OVERLAP))
            if found and (found.start() < _WINDOW or offset + _WINDOW >= self._size):
                return offset + found.start()
            offset += _WINDOW
        return None
