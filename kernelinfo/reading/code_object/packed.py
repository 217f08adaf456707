"""MessagePack, unpacked within bounds: each byte may become an object of a hundred."""

from __future__ import annotations

from collections import Counter

import msgpack

from kernelinfo.errors import ReadError
from kernelinfo.reading.code_object.notes import Note
from kernelinfo.reading.facts import ReadWarning

_HOW = {"strict_map_key": False, "unicode_errors": "backslashreplace"}
_MOST_BYTES = 4 << 20
"""Of one value that is unpacked. Larger notes are walked through, kernel by kernel."""


def walk(whole: bytes) -> msgpack.Unpacker:
    """At the beginning of `whole`; it unpacks what is neither a list nor a map, such as keys."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(whole), max_array_len=0, max_map_len=0, **_HOW)
    unpacker.feed(whole)
    return unpacker


def skipped(unpacker: msgpack.Unpacker, whole: bytes) -> bytes:
    """The next value, packed."""
    at = unpacker.tell()
    unpacker.skip()
    return whole[at : unpacker.tell()]


def text(whole: bytes, at: int) -> tuple[bytes, int]:
    """The bytes of the text there, and where it ends. Raises `ValueError` where none begins."""
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
    """A value unpacked; raises `ValueError` for a large one, and what msgpack raises."""
    if len(packed) > _MOST_BYTES:
        raise ValueError(f"a value of {len(packed)} bytes, more than the {_MOST_BYTES} allowed")
    found: object = msgpack.unpackb(packed, **how, **_HOW)
    return found


def whole(note: Note, warnings: list[ReadWarning]) -> object:
    """The msgpack value; raises `ReadError` where it is cut off, or no msgpack."""
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
    # TypeError: a list or a map for a key.
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        raise ReadError(str(error) or type(error).__name__) from error
    finally:
        if repeated:
            twice = f"{str(repeated[0])[:200]!r} stands more than once in one map; the last counts"
            warnings.append(ReadWarning(f"damaged metadata: {twice}", offset=note.offset))
