"""Unpacks MessagePack within bounds: one byte may become an object of a hundred bytes."""

from __future__ import annotations

import msgpack

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_MOST_BYTES = 4 << 20
"""The most bytes of one value to unpack."""
_MAPS = {bytes((first,)) for first in (*range(0x80, 0x90), 0xDE, 0xDF)}
_LISTS = {bytes((first,)) for first in (*range(0x90, 0xA0), 0xDC, 0xDD)}
"""First bytes of maps and lists (MessagePack specification, "Formats")."""


def walk(whole: bytes) -> msgpack.Unpacker:
    """An unpacker at the beginning of `whole`. Its `unpack` refuses lists and maps that are not
    empty: keys are neither."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(whole), max_array_len=0, max_map_len=0, **_HOW)
    unpacker.feed(whole)
    return unpacker


def skipped(unpacker: msgpack.Unpacker, whole: bytes) -> bytes:
    """Packed bytes of the next value; the unpacker moves behind it."""
    at = unpacker.tell()
    unpacker.skip()
    return whole[at : unpacker.tell()]


def is_map(whole: bytes, at: int) -> bool:
    """True if the value that begins at `at` is a map."""
    return whole[at : at + 1] in _MAPS


def is_list(whole: bytes, at: int) -> bool:
    """True if the value that begins at `at` is a list."""
    return whole[at : at + 1] in _LISTS


def value(packed: bytes | memoryview, **how: object) -> object:
    """The unpacked value. Raises `ValueError` if it is too large, and msgpack's own errors."""
    if len(packed) > _MOST_BYTES:
        raise ValueError(f"a value of {len(packed)} bytes, more than the {_MOST_BYTES} allowed")
    found: object = msgpack.unpackb(packed, **how, **_HOW)
    return found
