"""Reads clang's offload bundles (one code object per target) and the runs of bundles in
`.hip_fatbin`.

    24 bytes  __CLANG_OFFLOAD_BUNDLE__
    u64       number of entries
    and for each entry
    u64 u64   offset from the magic, and size, of its bytes
    u64       length of its id, which follows: hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+

clang/lib/Driver/OffloadBundler.cpp, BinaryFileHandler.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import bounds, ccob, magic
from kernelinfo.reading.containers.parts import Room, after_zeros, fields, part, problem, rest
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

MAGICS = (magic.BUNDLE, magic.COMPRESSED_BUNDLE + rb"[\1-\3]\0[\0\1]\0")
"""Patterns of a plain bundle, and of a compressed one with an existing version and method."""
START = re.compile(b"|".join(MAGICS))
_COUNT = Struct("<24xQ")
_ENTRY = Struct("<QQQ")
_CUT_OFF = say("bundle-cut-off")
_NOT_FOR_AMD = re.compile(r"host|[^-]*-nvptx|sycl-(?!.*amd)")


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """Entries and problems of one bundle, or of several with zeros between them.

    A bundle states its own length. Behind a damaged one the reader searches for the next magic.
    All of them share one room, as one that claims the bytes behind it would else repeat them."""
    at: int | None = 0
    damaged = 0
    room = Room(len(blob.data))
    while at is not None:
        following = rest(blob, at)
        head = bytes(following.data.read(0, magic.HEAD_BYTES))
        try:
            if head.startswith(magic.COMPRESSED_BUNDLE):
                length = yield from ccob.unpack(following)
            elif magic.is_bundle(head):
                length = yield from _unbundle(following, room)
            else:
                length = _start(blob.data, at) - at
                message = say("bundle-followed", length=length)
                yield problem(following, message)
        except ReadError as error:
            yield problem(following, error.message)
            damaged += 1
            if damaged == bounds.MOST_DAMAGED:
                return
            length = len(following.data) + 1
        if length > len(following.data):
            length = _start(blob.data, at + 1) - at
        at = after_zeros(blob.data, at + length)


def _start(data: Data, at: int) -> int:
    """Offset of the next bundle from `at` on, or the end of the data."""
    found = data.search(START, at)
    return len(data) if found is None else found


def is_for_amd(id: str) -> bool:
    """True if the entry with this id is, or may be, for AMD GPUs."""
    return _NOT_FOR_AMD.match(id) is None


def length_of(blob: Blob) -> int:
    """Bytes of the first bundle. Raises `ReadError` if it is damaged."""
    if blob.data.read(0, 4) == magic.COMPRESSED_BUNDLE:
        return ccob.length_of(blob)
    return _entries(blob)[2]


def _unbundle(blob: Blob, room: Room) -> Generator[Blob | Problem, None, int]:
    """Yields the entries for the device; returns the bundle's length in bytes."""
    entries, header, length = _entries(blob)
    size = min(length, len(blob.data))
    if not entries:
        yield problem(blob, say("bundle-empty"))
    if repeated := len(entries) - len({id for id, _, _ in entries}):
        yield problem(blob, say("bundle-id-repeated", repeated=repeated))
    for id, at, entry_size in entries:
        if not is_for_amd(id) or not entry_size:
            continue
        inside = blob.data.part(at, min(entry_size, size - at) if at >= header else 0)
        if len(inside) < entry_size:
            message = say("bundle-entry-outside", size=size)
            yield problem(blob, message, at=at, member=id)
        if not room.take(len(inside)):
            message = say("bundle-bytes-repeated")
            yield problem(blob, message, at=at, member=id)
            break
        if inside:
            yield part(blob, "bundle", inside, at=at, member=id)
    return length


def _entries(blob: Blob) -> tuple[list[tuple[str, int, int]], int, int]:
    """([(id, offset, bytes) of each entry], bytes of the header, bytes of the bundle).

    Raises `ReadError` if it is damaged."""
    data = blob.data
    (count,) = fields(_COUNT, data, _CUT_OFF)
    if count > blob.bounds.entries:
        damaged = say("bundle-damaged", count=count)
        raise ReadError(damaged if _ENTRY.size * count > len(data) else blob.bounds.too_many(count))
    at = _COUNT.size
    entries = []
    for _ in range(count):
        offset, size, id_size = fields(_ENTRY, data, _CUT_OFF, at)
        at += _ENTRY.size + id_size
        if id_size > bounds.LONGEST_NAME or at > len(data):
            raise ReadError(say("bundle-id-long", size=id_size))
        id = decode(bytes(data.read(at - id_size, id_size)))
        entries.append((id, offset, size))
    return entries, at, max([at, *(offset + size for _, offset, size in entries)])
