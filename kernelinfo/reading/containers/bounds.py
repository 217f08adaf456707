"""How much is read of what could claim to be more: every bound of the containers, in one place."""

from __future__ import annotations

from kernelinfo.errors import InflationError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.blob import Inflation


class Bounds(NamedTuple):
    """Those that an honest file could reach one day: `--bound NAME=N` sets them."""

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


_bounds = Bounds()


def bounds() -> Bounds:
    """Those that hold now."""
    return _bounds


def set_bounds(given: Bounds) -> None:
    """What this process opens from now on is opened within these."""
    global _bounds
    _bounds = given


MOST_STRINGS = 4096
"""Of one image of an OffloadBinary; real ones have two."""

MOST_DAMAGED = 16
"""Bundles of one run, after which no more are sought."""

LONGEST_NAME = 4096
"""Bytes of an entry's id or a member's name; real ids have less than 100."""

REPETITION = 2
"""Times its own size that a container may hand out. Entries that share their bytes could multiply
them without end."""

ZSTD_WINDOW_LOG = 27
"""128 MiB. clang compresses with long-distance matching: the window is as large as the content."""

XZ_MEMORY_BYTES = 256 << 20
"""Four times what `xz -9` asks for."""

COPIED_BYTES = 16 << 20
"""Files up to this size are read at once; larger ones are mapped."""

SIDECAR_BYTES = 1 << 20
"""Of a JSON file beside a code object; real ones have less than 2 KB."""

KPACK_TABLE_BYTES = 64 << 20
"""Of a kpack archive's table of contents, which is unpacked at once; an entry takes about 100."""

KPACK_FRAMES = 1 << 20
"""Compressed kernels of one kpack archive, as many as ROCm's runtime reads."""

KPACK_MARKER_BYTES = 64 << 10
"""Of a host library's reference to its kpack archives, as many as ROCm's runtime reads."""

SEARCH_PATHS = 256
"""Of one host library, and archives that one of its patterns may name."""

AKS2_DIRECTORY_BYTES = 16 << 20
"""Of one AKS2 pack; an entry takes about 100."""

DATABASE_BLOB_BYTES = 256 << 20
"""Of one value in a database."""

DATABASE_ROWS = 1_000_000
"""Of one table; MIOpen's largest databases have some ten thousand."""

DATABASE_STEPS = 100_000_000
"""Of SQLite's virtual machine, for one database: a damaged one could keep it forever. A row takes
about ten."""

RPM_HEADER_BYTES = 256 << 20
"""Of one header, as many as rpm reads."""

CPIO_MEMBERS = 1_000_000
"""Of one archive."""

_FREE_BYTES = 64 << 20
_FREE_BYTES_OF_ALL = 2 * _FREE_BYTES
_NESTED = 8


def too_many(entries: int) -> str:
    """The message of a table that is too long to be read."""
    allowed = f"more than the {bounds().entries} allowed here"
    return f"{entries} entries, {allowed}; --bound entries=N reads them"


def streamed_bytes(compressed: int) -> int:
    """What so many compressed bytes may give, piece by piece."""
    return max(_FREE_BYTES, bounds().ratio * compressed)


def inflation(file_bytes: int) -> Inflation:
    """Of a file of that size. Thousands of small traps, each within its own bound, would take
    hours."""
    return Inflation(max(_FREE_BYTES_OF_ALL, streamed_bytes(file_bytes)))


def spend(inflation: Inflation, given: int) -> None:
    """Note what was decompressed. Raises `InflationError` where that is too much."""
    inflation.left -= given
    if inflation.left < 0:
        allowed = f"the {inflation.most} bytes allowed for all of a file"
        message = f"its compressed parts give more than {allowed}; not read from here on"
        raise InflationError(f"{message}; --bound ratio=N allows more")


def held_bytes(compressed: int, *, nested: bool = False) -> int:
    """What of it may be in memory at once; an eighth where the compressed bytes were compressed
    again, or a few kilobytes could grow by the square of the ratio."""
    most = bounds().memory
    return min(streamed_bytes(compressed), most // _NESTED if nested else most)
