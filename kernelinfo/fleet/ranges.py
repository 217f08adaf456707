"""A file of a store as memory: a block of it is fetched when a reader first touches it.

Readers see a `memoryview` as of any mapped file, so that each costs the bytes that it looks at. The
file behind the map is empty, so that the system reports each block that is missing (mapping.py).
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from kernelinfo.reading.containers.mapping import MAP_FIXED, Mapping, filled_by, libc

BLOCK = 256 << 10
"""Bytes that are fetched at once."""
_MOST_BLOCKS = 256
"""That are held at once; the first that came goes."""


@contextmanager
def remote_mapping(source: IO[bytes], size: int) -> Iterator[RemoteMapping]:
    """A map of so many bytes that `source` reads."""
    with TemporaryFile() as file:
        os.ftruncate(file.fileno(), size)
        mapping = RemoteMapping(file.fileno())
        os.ftruncate(file.fileno(), 0)
        mapping.source, mapping.nothing = source, file.fileno()
        mapping.held, mapping.failure = {}, None
        with filled_by(mapping.addresses, mapping.fill):
            yield mapping


class RemoteMapping(Mapping):
    """A whole file that `source` reads."""

    source: IO[bytes]
    nothing: int
    """The descriptor of the empty file."""
    held: dict[int, None]
    """Blocks that are here, the first that came first."""
    failure: Exception | None
    """Why zeros stand where bytes should be."""

    def has_shrunk(self) -> bool:
        """False: of a store, `failure` says it."""
        return False

    def madvise(self, option: int, start: int = 0, length: int = 0) -> None:
        """Let go of the blocks that lie in this range; they are fetched again if need be."""
        for block in range(-(-start // BLOCK), (start + length) // BLOCK):
            if block in self.held:
                self._drop(block)

    def fill(self, address: int) -> None:
        """Fetch the block of an address; zeros and a `failure` where that is not possible."""
        block = (address - self.addresses.start) // BLOCK
        size = self._bytes(block)
        try:
            self.source.seek(block * BLOCK)
            data = self.source.read(size)
            if len(data) != size:
                raise EOFError(f"{len(data)} bytes of {size} came; it changed meanwhile")
        except Exception as error:  # the libraries of stores have no common class of errors
            self.failure, data = self.failure or error, bytes(size)
        self._map(block, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        ctypes.memmove(self.addresses.start + block * BLOCK, data, size)
        self.held[block] = None
        if len(self.held) > _MOST_BLOCKS:
            self._drop(next(iter(self.held)))

    def _drop(self, block: int) -> None:
        """Put the empty file back."""
        del self.held[block]
        self._map(block, mmap.PROT_READ, mmap.MAP_SHARED)

    def _map(self, block: int, protection: int, flags: int) -> None:
        file = -1 if flags & mmap.MAP_ANONYMOUS else self.nothing
        start, at = self.addresses.start, block * BLOCK
        libc().mmap(start + at, self._bytes(block), protection, flags | MAP_FIXED, file, at)

    def _bytes(self, block: int) -> int:
        return min(BLOCK, len(self) - block * BLOCK)
