"""Reads LLVM's OffloadBinary: images with strings that name their device.

    4 bytes   10 ff 10 ad
    u32       version: 1 or 2
    u64       size of the OffloadBinary; another one may follow
    u64       offset of the entries
    u64       size of the one entry (version 1) or number of entries (version 2)
    and each entry
    u16 u16   image kind, offload kind
    u32       flags
    u64 u64   offset and number of its strings
    u64 u64   offset and size of its image
    and each string
    u64 u64   offsets of key and value, which end with NUL; version 2 adds the value's size

llvm/include/llvm/Object/OffloadBinary.h; version 2 came with LLVM 23. The kinds are not reliable:
HIP's number changed after LLVM 19, and the image kind is 0 for unknown file name endings.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.parts import Room, after_zeros, fields, part, problem, rest
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

_HEADER = Struct("<4xIQQQ")
_ENTRY = Struct("<8xQQQQ")
_CUT_OFF = say("offload-binary-cut-off")
_STRINGS = {1: Struct("<QQ"), 2: Struct("<QQ8x")}


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """Images and problems of one OffloadBinary, or of several in a row."""
    offset: int | None = 0
    while offset is not None:
        following = rest(blob, offset)
        try:
            length = yield from _unpack(following)
        except ReadError as error:
            yield problem(following, error.message)
            return
        offset = after_zeros(blob.data, offset + length)


def _unpack(blob: Blob) -> Generator[Blob | Problem, None, int]:
    if not magic.is_offload_binary(bytes(blob.data.read(0, 4))):
        raise ReadError(say("offload-binary-followed", size=len(blob.data)))
    version, length, table, count = fields(_HEADER, blob.data, _CUT_OFF)
    if version not in _STRINGS:
        raise ReadError(say("offload-binary-version", version=version))
    if version == 1:
        count = 1
    if not _HEADER.size <= length <= len(blob.data) or 40 * count > length:
        size = len(blob.data)
        raise ReadError(say("offload-binary-damaged", length=length, size=size, count=count))
    if count > blob.bounds.entries:
        raise ReadError(blob.bounds.too_many(count))
    data = blob.data.part(0, length)
    room = Room(length)
    for index in range(count):
        row = table + index * _ENTRY.size
        strings_at, strings, offset, size = fields(_ENTRY, data, _CUT_OFF, row)
        try:
            strings_of = dict(_strings(data, version, strings_at, strings))
        except ReadError:
            yield problem(blob, say("offload-binary-strings-outside"), offset=strings_at)
            strings_of = {}
        triple = strings_of.get("triple", "")
        if triple and "amd" not in triple:
            continue
        member = "--".join(word for word in (triple, strings_of.get("arch", "")) if word) or None
        image = data.part(offset, size)
        if len(image) < size:
            message = say("offload-binary-image-outside", size=size, length=length)
            yield problem(blob, message, offset=offset, member=member)
        if not room.take(len(image)):
            yield problem(blob, say("offload-binary-bytes-repeated"), offset=offset, member=member)
            break
        if image:
            yield part(blob, "offload-binary", image, offset=offset, member=member)
    return int(length)


def _strings(data: Data, version: int, table: int, count: int) -> Iterator[tuple[str, str]]:
    if count > bounds.MOST_STRINGS:
        raise ReadError(say("offload-binary-strings-many", count=count))
    layout = _STRINGS[version]
    for index in range(count):
        key, value = fields(layout, data, _CUT_OFF, table + index * layout.size)
        yield _string(data, key), _string(data, value)


def _string(data: Data, offset: int) -> str:
    text, end, _ = bytes(data.read(offset, bounds.LONGEST_NAME)).partition(b"\0")
    if not end:
        raise ReadError(say("offload-binary-string-endless"))
    return decode(text)
