"""Unpacks MessagePack within bounds: one byte may become an object of a hundred bytes."""

from __future__ import annotations

import msgpack

from kernelinfo.reading.messages import say

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_MOST_BYTES = 4 << 20
"""The most bytes of one value to unpack."""
MAPS = {bytes((first,)) for first in (*range(0x80, 0x90), 0xDE, 0xDF)}
LISTS = {bytes((first,)) for first in (*range(0x90, 0xA0), 0xDC, 0xDD)}
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


def text(whole: bytes, at: int) -> tuple[bytes, int]:
    """(bytes, end offset) of the text that begins at `at`.

    Raises `ValueError` if no text begins there, or one of 64 KiB or more."""
    kind = whole[at]
    if 0xA0 <= kind < 0xC0:
        begin, size = at + 1, kind & 31
    elif kind == 0xD9:
        begin, size = at + 2, whole[at + 1]
    elif kind == 0xDA:
        begin, size = at + 3, whole[at + 1] << 8 | whole[at + 2]
    else:
        raise ValueError(say("msgpack-text"))
    return whole[begin : begin + size], begin + size


def value(packed: bytes | memoryview, **how: object) -> object:
    """The unpacked value. Raises `ValueError` if it is too large, and msgpack's own errors."""
    if len(packed) > _MOST_BYTES:
        raise ValueError(say("msgpack-value-large", size=len(packed), most=_MOST_BYTES))
    found: object = msgpack.unpackb(packed, **how, **_HOW)
    return found
