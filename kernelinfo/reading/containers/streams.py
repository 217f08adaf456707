"""File objects over plain or compressed bytes; decompression goes piece by piece, with a bound."""

from __future__ import annotations

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Any

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, FileBudget
from kernelinfo.reading.containers import formats
from kernelinfo.reading.containers.formats import COMPRESSED, Method
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_WINDOW_BITS: dict[Method, int] = {
    "zlib": zlib.MAX_WBITS,
    "deflate": -zlib.MAX_WBITS,
    "gzip": 16 + zlib.MAX_WBITS,
}
# Bytes per step, compressed or not. A small piece leaves little unused after a stream.
_PIECE_BYTES = 1 << 18


class ReadableView(io.RawIOBase):
    """A file object over bytes. Raises `ReadError` for a read of more than `limit` bytes."""

    def __init__(self, data: Data, limit: int = sys.maxsize) -> None:
        self._data = data
        self._limit = limit
        self._position = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._data)}[whence]
        self._position = start + offset
        if self._position < 0:
            raise ValueError(say("offset-negative"))
        return self._position

    def read(self, size: int = -1) -> bytes:
        if size > self._limit:
            raise ReadError(say("table-too-large", size=size, most=self._limit))
        piece = bytes(self._data.read(self._position, sys.maxsize if size < 0 else size))
        self._position += len(piece)
        return piece


class Decompressed:
    """A reader of decompressed bytes, from one stream or several in a row.

    Raises `ReadError` if the data are damaged, cut off or larger than `limit` bytes, and
    `BoundError` if all streams of the file exceed its `budget`.
    """

    def __init__(self, method: Method, data: Data, limit: int, budget: FileBudget) -> None:
        self.consumed = 0
        """Compressed bytes up to the end of the last stream."""
        self._method = method
        self._data = data
        self._limit = limit
        self._left = limit
        self._budget = budget
        self._fed = 0
        self._streams = 1
        self._stream, self._error = _opened(method)

    def read(self, size: int = _PIECE_BYTES) -> bytes:
        """`size` decompressed bytes; fewer only at the end."""
        piece = b""
        while len(piece) < size and not self._has_ended():
            piece += self._step(size - len(piece))
        self._left -= len(piece)
        if self._left < 0:
            raise ReadError(say("compressed-too-large", method=self._method, most=self._limit))
        self._budget.spend_bytes(len(piece))
        return piece

    def seek(self, target: int) -> int:
        """Skip forward to an offset, or to the end if that comes first; returns the new offset."""
        position = self._limit - self._left
        while position < target and (piece := self.read(min(target - position, _PIECE_BYTES))):
            position += len(piece)
        return position

    def read_all(self, hear: Callable[[bytes], object] | None = None) -> memoryview:
        """All remaining bytes. `hear` is called with each piece as it is decompressed."""
        whole = bytearray()
        while piece := self.read():
            whole += piece
            if hear is not None:
                hear(piece)
        return memoryview(whole).toreadonly()

    def _step(self, size: int) -> bytes:
        tail = getattr(
            self._stream, "unconsumed_tail", None
        )  # zlib alone leaves input to its caller
        hungry = self._stream.needs_input if tail is None else not tail
        fresh = memoryview(b"")
        if hungry:
            fresh = self._data.read(self._fed, _PIECE_BYTES)
            self._fed += len(fresh)
        try:
            piece: bytes = self._stream.decompress(tail or fresh, size)
        except (self._error, EOFError) as error:
            raise ReadError(say("compressed-damaged", method=self._method, error=error)) from error
        if hungry and not fresh and not piece and not self._stream.eof:
            raise ReadError(say("compressed-cut-off", method=self._method, size=len(self._data)))
        return piece

    def _has_ended(self) -> bool:
        if not self._stream.eof:
            return False
        self.consumed = self._fed - len(self._stream.unused_data)
        start = COMPRESSED.get(self._method)
        following = self._data.read(self.consumed, 8)
        if start is None or not bytes(following).startswith(start):
            return True
        self._fed = self.consumed
        self._streams += 1
        if self._streams > formats.STREAMS + (self._limit - self._left) // formats.STREAM_BYTES:
            raise ReadError(
                say("compressed-streams-empty", count=self._streams, method=self._method)
            )
        self._stream, self._error = _opened(self._method)
        return False


def _opened(method: Method) -> tuple[Any, type[Exception]]:
    """(decompressor, the error that it raises for damaged data)."""
    if method in _WINDOW_BITS:
        return zlib.decompressobj(_WINDOW_BITS[method]), zlib.error
    if method == "xz":
        return lzma.LZMADecompressor(memlimit=formats.XZ_MEMORY_BYTES), lzma.LZMAError
    if method == "bzip2":
        return bz2.BZ2Decompressor(), OSError
    options = {int(zstd.DecompressionParameter.window_log_max): formats.ZSTD_WINDOW_LOG}
    return zstd.ZstdDecompressor(options=options), zstd.ZstdError


def held(method: Method, blob: Blob, data: Data, size: int | None = None) -> Decompressed:
    """A reader of compressed data in a blob, limited to `size` bytes and by the bound on memory."""
    limit = blob.bounds.held_bytes(len(data), nested=blob.offset is None)
    return Decompressed(method, data, limit if size is None else min(size, limit), blob.budget)
