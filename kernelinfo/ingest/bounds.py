"""How much is read of what could claim to be more: every bound of the containers, in one place."""

from __future__ import annotations

DEEPEST = 6
"""Containers around one code object: a gzip of a tar of an archive of objects whose fat binaries
are compressed bundles has all six."""

MOST_ENTRIES = 4096
"""Of one bundle or OffloadBinary; real ones have a few dozen."""

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

_FREE_BYTES = 64 << 20
_RATIO = 200
_HELD_BYTES = 8 << 30
_NESTED_BYTES = 1 << 30


def streamed_bytes(compressed: int) -> int:
    """What so many compressed bytes may give, piece by piece. Real bundles reach 42 to 1."""
    return max(_FREE_BYTES, _RATIO * compressed)


def held_bytes(compressed: int, *, nested: bool = False) -> int:
    """What of it may be in memory at once; less where the compressed bytes were compressed again,
    or a few kilobytes could grow by the square of the ratio."""
    return min(streamed_bytes(compressed), _NESTED_BYTES if nested else _HELD_BYTES)
