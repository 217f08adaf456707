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
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import md5
from queue import Queue
from struct import Struct
from threading import Thread
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.parts import Room, after_zeros, fields, part, problem, rest
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

# Reads CCOB, clang's compressed offload bundles: one plain bundle as a zlib or zstd stream.
#
#     4 bytes   CCOB
#     u16       version: 1, 2 or 3
#     u16       method: 0 zlib, 1 zstd
#     u32, u64  length with the header; only in versions 2 (u32) and 3 (u64)
#     u32, u64  size of the plain bundle: u64 in version 3
#     8 bytes   start of its MD5 sum; zeros without a checksum
#
# clang/lib/Driver/OffloadBundler.cpp, CompressedOffloadBundle; llvm/lib/Object/OffloadBundle.cpp.

_START = Struct("<4sHH")
_METHODS: tuple[magic.Method, ...] = ("zlib", "zstd")
_CCOB_CUT_OFF = say("ccob-cut-off")
_LARGE_BYTES = 1 << 20
_MOST_WAITING = 16  # decompressed pieces in the checksum's queue
_LAYOUTS = {1: Struct("<8xI8s"), 2: Struct("<8xII8s"), 3: Struct("<8xQQ8s")}


class _CcobHeader(NamedTuple):
    size: int  # bytes of the header itself
    method: magic.Method
    length: int | None  # bytes with the header; None in version 1: the stream's end decides
    content: int  # bytes of the plain bundle
    checksum: bytes


@contextmanager
def _in_thread(update: Callable[[bytes], object]) -> Iterator[Callable[[bytes], object]]:
    """A function that passes pieces to `update` in a thread of its own.

    The checksum takes as long as decompression, and neither needs the interpreter."""
    pieces: Queue[bytes] = Queue(_MOST_WAITING)

    def work() -> None:
        for piece in iter(pieces.get, b""):
            update(piece)

    thread = Thread(target=work, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        yield update
        return
    try:
        yield pieces.put
    finally:
        pieces.put(b"")
        thread.join()


def length_of_ccob(blob: Blob) -> int:
    """Bytes of the compressed bundle with its header. Raises `ReadError` if the length cannot be
    found."""
    header = _header(blob.data)
    if header.length is not None:
        return header.length
    stream = held(header.method, blob, blob.data.part(header.size), header.content)
    while stream.read():
        pass
    return header.size + stream.consumed


def unpack(blob: Blob) -> Generator[Blob | Problem, None, int]:
    """Yields the plain bundle and problems; returns the compressed length in bytes.

    Raises `ReadError` if the length cannot be found."""
    header = _header(blob.data)
    packed = blob.data.part(header.size, (header.length or len(blob.data)) - header.size)
    stream = held(header.method, blob, packed, header.content)
    has_checksum = any(header.checksum)
    is_cut_off = header.length is not None and header.length > len(blob.data)
    if is_cut_off:
        yield problem(blob, say("ccob-incomplete", length=header.length, size=len(blob.data)))
    summed, is_large = md5(usedforsecurity=False), header.content >= _LARGE_BYTES
    try:
        with _in_thread(summed.update) if is_large else nullcontext(summed.update) as update:
            content = stream.read_all(update if has_checksum else None)
    except ReadError as error:
        if header.length is None:
            raise
        if not is_cut_off:
            yield problem(blob, say("ccob-damaged", reason=error.message))
        return header.length
    end = header.length or header.size + stream.consumed
    if not has_checksum:
        yield problem(blob, say("ccob-without-checksum"))
    elif not summed.digest().startswith(header.checksum):
        yield problem(blob, say("ccob-checksum"))
        return end
    if len(content) < header.content:
        yield problem(blob, say("ccob-short", size=len(content), stated=header.content))
    yield part(blob, "ccob", Data.of(content), offset=None)
    return end


def _header(data: Data) -> _CcobHeader:
    _, version, method = fields(_START, data, _CCOB_CUT_OFF)
    layout = _LAYOUTS.get(version)
    if layout is None:
        raise ReadError(say("ccob-version", version=version))
    *length, content, checksum = fields(layout, data, _CCOB_CUT_OFF)
    if method >= len(_METHODS):
        raise ReadError(say("ccob-method", method=method))
    if length and length[0] <= layout.size:
        raise ReadError(say("ccob-length", length=length[0]))
    whole = length[0] if length else None
    return _CcobHeader(layout.size, _METHODS[method], whole, content, checksum)


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
    All of them share one room, as one that claims the bytes after it would else repeat them."""
    offset: int | None = 0
    damaged = 0
    room = Room(len(blob.data))
    while offset is not None:
        following = rest(blob, offset)
        head = bytes(following.data.read(0, magic.HEAD_BYTES))
        try:
            if head.startswith(magic.COMPRESSED_BUNDLE):
                length = yield from unpack(following)
            elif magic.is_bundle(head):
                length = yield from _unbundle(following, room)
            else:
                length = _start(blob.data, offset) - offset
                yield problem(following, say("bundle-followed", length=length))
        except ReadError as error:
            yield problem(following, error.message)
            damaged += 1
            if damaged == bounds.MOST_DAMAGED:
                return
            length = len(following.data) + 1
        if length > len(following.data):
            length = _start(blob.data, offset + 1) - offset
        offset = after_zeros(blob.data, offset + length)


def _start(data: Data, offset: int) -> int:
    """Offset of the next bundle from `offset` on, or the end of the data."""
    start = data.search(START, offset)
    return len(data) if start is None else start


def is_for_amd(id: str) -> bool:
    """True if the entry with this id is, or may be, for AMD GPUs."""
    return _NOT_FOR_AMD.match(id) is None


def length_of(blob: Blob) -> int:
    """Bytes of the first bundle. Raises `ReadError` if it is damaged."""
    if blob.data.read(0, 4) == magic.COMPRESSED_BUNDLE:
        return length_of_ccob(blob)
    return _entries(blob)[2]


def _unbundle(blob: Blob, room: Room) -> Generator[Blob | Problem, None, int]:
    """Yields the entries for the device; returns the bundle's length in bytes."""
    entries, header, length = _entries(blob)
    size = min(length, len(blob.data))
    if not entries:
        yield problem(blob, say("bundle-empty"))
    if repeated := len(entries) - len({id for id, _, _ in entries}):
        yield problem(blob, say("bundle-id-repeated", repeated=repeated))
    for id, offset, entry_size in entries:
        if not is_for_amd(id) or not entry_size:
            continue
        inside = blob.data.part(offset, min(entry_size, size - offset) if offset >= header else 0)
        if len(inside) < entry_size:
            yield problem(blob, say("bundle-entry-outside", size=size), offset=offset, member=id)
        if not room.take(len(inside)):
            yield problem(blob, say("bundle-bytes-repeated"), offset=offset, member=id)
            break
        if inside:
            yield part(blob, "bundle", inside, offset=offset, member=id)
    return length


def _entries(blob: Blob) -> tuple[list[tuple[str, int, int]], int, int]:
    """([(id, offset, bytes) of each entry], bytes of the header, bytes of the bundle).

    Raises `ReadError` if it is damaged."""
    data = blob.data
    (count,) = fields(_COUNT, data, _CUT_OFF)
    if count > blob.bounds.entries:
        damaged = say("bundle-damaged", count=count)
        raise ReadError(damaged if _ENTRY.size * count > len(data) else blob.bounds.too_many(count))
    position = _COUNT.size
    entries = []
    for _ in range(count):
        offset, size, id_size = fields(_ENTRY, data, _CUT_OFF, position)
        position += _ENTRY.size + id_size
        if id_size > bounds.LONGEST_NAME or position > len(data):
            raise ReadError(say("bundle-id-long", size=id_size))
        id = decode(bytes(data.read(position - id_size, id_size)))
        entries.append((id, offset, size))
    return entries, position, max([position, *(offset + size for _, offset, size in entries)])
