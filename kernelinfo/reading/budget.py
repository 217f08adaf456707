"""How much is read of an input that could claim to be more: `--bound NAME=N` sets it."""

from __future__ import annotations

import sys
from typing import NamedTuple

from kernelinfo.errors import FileBudgetError, TooManyKernelsError

_FREE_BYTES = 64 << 20
_FREE_BYTES_OF_ALL = 2 * _FREE_BYTES
_NESTED = 8
_BYTES_PER_KERNEL = 1 << 10
_BYTES_PER_MEMBER = 1 << 8
_STATEMENTS_PER_KERNEL = 20


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

    members: int = 100_000
    """Of all containers of one file, and headers of code in it that lead nowhere; where it has more
    times 256 bytes than that, one for each of them."""
    kernels: int = 20_000
    """Of one file; where it has more KiB of code than that, one for each of them. Kernels of
    libraries take more, those of a log half as much, and hostile ones a few bytes. Text may have as
    many functions that are linked later, and twenty times as many definitions."""

    fetch: int = 4 << 30
    """Bytes of a file of a server or an object store that are fetched where it is fetched whole."""

    def __repr__(self) -> str:
        """The bounds that differ from the defaults: `Bounds(entries=9)`."""
        chosen = [f"{k}={v}" for k, v in self._asdict().items() if v != self._field_defaults[k]]
        return f"Bounds({', '.join(chosen)})"

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

    def budget(self, file_bytes: int) -> FileBudget:
        """For all containers of a file of that size. Thousands of small traps, each within its own
        bound, would take hours."""
        return FileBudget(
            max(_FREE_BYTES_OF_ALL, self.streamed_bytes(file_bytes)),
            max(self.members, file_bytes // _BYTES_PER_MEMBER),
        )


BY_DEFAULT = Bounds()


class FileBudget:
    """How many decompressed bytes and members all containers of one file together may give."""

    __slots__ = ("_left", "_members", "_most", "_most_members")

    def __init__(self, most: int, most_members: int = sys.maxsize) -> None:
        self._most = self._left = most
        self._most_members = self._members = most_members

    def spend(self, given: int) -> None:
        """Note what was decompressed. Raises `FileBudgetError` where that is too much."""
        self._left -= given
        if self._left < 0:
            allowed = f"the {self._most} bytes allowed for all of a file"
            message = f"its compressed parts give more than {allowed}; not read from here on"
            raise FileBudgetError(f"{message}; --bound ratio=N allows more")

    def spend_member(self) -> None:
        """Count one more member. Raises `FileBudgetError` beyond the bound on members."""
        self._members -= 1
        if self._members < 0:
            message = f"more than {self._most_members} members, or headers that lead nowhere"
            hint = "not read from here on; --bound members=N reads more"
            raise FileBudgetError(f"{message}; {hint}")


class KernelBudget:
    """How many kernels, and statements of text, all code of one file together may state."""

    __slots__ = ("_bytes", "_found", "_most", "_statements")

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = self._found = self._statements = 0

    @property
    def most(self) -> int:
        """Kernels that the code may state."""
        return max(self._most, self._bytes // _BYTES_PER_KERNEL)

    def add_code(self, size: int) -> None:
        """Allow for so many bytes of code."""
        self._bytes += size

    def check(self, kernels: int) -> None:
        """Raises `TooManyKernelsError` where so many more are too many."""
        self._limit(self._found + kernels, self.most, "kernels")

    def spend(self, kernels: int = 1) -> None:
        """Note so many kernels. Raises `TooManyKernelsError` where they are too many."""
        self.check(kernels)
        self._found += kernels

    def check_list(self, kernels: int) -> None:
        """Raises `TooManyKernelsError` where one list has more than all code may."""
        self._limit(kernels, self.most, "kernels")

    def spend_statements(self, count: int) -> None:
        """Note so many definitions of text. Raises `TooManyKernelsError` like `spend`."""
        self._statements += count
        self._limit(self._statements, _STATEMENTS_PER_KERNEL * self.most, "statements")

    def _limit(self, found: int, most: int, what: str) -> None:
        if found > most:
            message = f"more than {most} {what} in {self._bytes} bytes of code"
            hint = "not read from here on; --bound kernels=N reads more"
            raise TooManyKernelsError(f"{message}; {hint}")


UNBOUNDED = KernelBudget(sys.maxsize)  # of code that nobody sent
