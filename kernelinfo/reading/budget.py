"""How much is read of an input that could claim to be more: `--bound NAME=N` sets it."""

from __future__ import annotations

from kernelinfo.errors import InflationError
from kernelinfo.light_typing import NamedTuple

_FREE_BYTES = 64 << 20
_FREE_BYTES_OF_ALL = 2 * _FREE_BYTES
_NESTED = 8


class Bounds(NamedTuple):
    """Those that an honest file could reach one day."""

    nesting: int = 6
    """Containers around one code object: a gzip of a tar of an archive of objects whose fat
    binaries are compressed bundles has all six."""
    entries: int = 4096
    """Of one bundle or OffloadBinary; real ones have a few dozen."""
    ratio: int = 200
    """What compressed bytes may give for each of them, beyond the first 64 MiB. Real bundles reach
    42 to 1. All of a file together may give as much for each of its bytes, or 128 MiB."""
    memory: int = 8 << 30
    """Decompressed bytes of one member that may be held at once."""
    carved: int = 64 << 20
    """Bytes of a file of a directory, or of a member of an archive, that is searched for code
    objects where no reader knows it. Files that are named are searched whole."""

    def too_many(self, entries: int) -> str:
        """The message of a table that is too long to be read."""
        allowed = f"more than the {self.entries} allowed here"
        return f"{entries} entries, {allowed}; --bound entries=N reads them"

    def streamed_bytes(self, compressed: int) -> int:
        """The most that so many compressed bytes may give, piece by piece."""
        return max(_FREE_BYTES, self.ratio * compressed)

    def held_bytes(self, compressed: int, *, nested: bool = False) -> int:
        """The most of it that may be in memory at once; an eighth where the compressed bytes were
        compressed again, or a few kilobytes could grow by the square of the ratio."""
        most = self.memory // _NESTED if nested else self.memory
        return min(self.streamed_bytes(compressed), most)

    def budget(self, file_bytes: int) -> DecompressionBudget:
        """For all compressed parts of a file of that size. Thousands of small traps, each within
        its own bound, would take hours."""
        return DecompressionBudget(max(_FREE_BYTES_OF_ALL, self.streamed_bytes(file_bytes)))


BY_DEFAULT = Bounds()


class DecompressionBudget:
    """How many bytes all compressed parts of one file together may give."""

    __slots__ = ("left", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self.left = most
        """Below 0 where they gave more."""

    def spend(self, given: int) -> None:
        """Note what was decompressed. Raises `InflationError` where that is too much."""
        self.left -= given
        if self.left < 0:
            allowed = f"the {self.most} bytes allowed for all of a file"
            message = f"its compressed parts give more than {allowed}; not read from here on"
            raise InflationError(f"{message}; --bound ratio=N allows more")
