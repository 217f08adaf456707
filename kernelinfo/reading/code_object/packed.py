"""Unpacks MessagePack within bounds: one byte may become an object of a hundred bytes."""

from __future__ import annotations

from collections import Counter

import msgpack

from kernelinfo.errors import ReadError
from kernelinfo.reading.code_object.notes import ElfNote
from kernelinfo.reading.facts import ReadWarning

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_MOST_BYTES = 4 << 20
"""The most bytes of one value to unpack. Larger notes are unpacked kernel by kernel."""


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
        raise ValueError("no text, or a long one")
    return whole[begin : begin + size], begin + size


def value(packed: bytes | memoryview, **how: object) -> object:
    """The unpacked value. Raises `ValueError` if it is too large, and msgpack's own errors."""
    if len(packed) > _MOST_BYTES:
        raise ValueError(f"a value of {len(packed)} bytes, more than the {_MOST_BYTES} allowed")
    found: object = msgpack.unpackb(packed, **how, **_HOW)
    return found


def whole(note: ElfNote, warnings: list[ReadWarning]) -> object:
    """The unpacked value of a note; repeated keys and bytes behind it become warnings.

    Raises `ReadError` if it is cut off, too large or no MessagePack."""
    repeated: list[object] = []

    def unique(pairs: list[tuple[object, object]]) -> dict[object, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(key for key, count in Counter(k for k, _ in pairs).items() if count > 1)
        return found

    try:
        return value(note.content, object_pairs_hook=unique)
    except msgpack.ExtraData as error:
        if any(error.extra):
            warnings.append(ReadWarning("bytes after the metadata, not read", offset=note.offset))
        return error.unpacked
    # TypeError: a key is a list or a map.
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        raise ReadError(str(error) or type(error).__name__) from error
    finally:
        if repeated:
            twice = f"{str(repeated[0])[:200]!r} stands more than once in one map; the last counts"
            warnings.append(ReadWarning(f"damaged metadata: {twice}", offset=note.offset))
