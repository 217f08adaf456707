"""clang's offload bundles: one code object a target, and runs of bundles in `.hip_fatbin`.

    24 bytes  __CLANG_OFFLOAD_BUNDLE__
    u64       number of entries
    and for each entry
    u64 u64   offset from the magic, and size, of its bytes
    u64       length of its id, which follows: hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+

clang/lib/Driver/OffloadBundler.cpp, BinaryFileHandler and CompressedOffloadBundle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import error as StructError
from struct import unpack_from
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.model import Blob, Problem

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"

# Real bundles have a few dozen entries with ids of less than 100 bytes.
_MOST_ENTRIES = 4096
_LONGEST_ID = 4096
_NOT_ZERO = re.compile(rb"[^\0]")


class Entry(NamedTuple):
    """One target's bytes in a bundle."""

    id: str
    offset: int
    """From the magic."""
    size: int


def accepts(head: bytes) -> bool:
    """By either magic: both kinds occur in one run."""
    return head.startswith((MAGIC, COMPRESSED))


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """The entries of one bundle, or of several that follow each other, zeros between them.

    Each bundle says how long it is. The magics are never searched for: they occur by chance.
    """
    start: int | None = 0
    while start is not None:
        data = blob.data[start:]
        offset = None if blob.offset is None else blob.offset + start
        try:
            if data[: len(COMPRESSED)] == COMPRESSED:
                length = _compressed_length(data)
                message = "compressed bundle (CCOB): not read yet"
                yield Problem(blob.path, message, blob.member, offset)
            elif data[: len(MAGIC)] == MAGIC:
                entries, header = _entries(data)
                length = max(header, *(entry.offset + entry.size for entry in entries), 0)
                bundle = Blob(blob.path, data[:length], blob.containers, blob.member, offset)
                yield from _unbundle(bundle, entries, header)
            else:
                raise ReadError(f"{len(data)} bytes that are no bundle follow a bundle; not read")
        except ReadError as error:
            yield Problem(blob.path, str(error), blob.member, offset)
            return
        following = _NOT_ZERO.search(blob.data, start + min(length, len(data)))
        start = following and following.start()


def _unbundle(bundle: Blob, entries: list[Entry], header: int) -> Iterator[Blob | Problem]:
    """The bytes of every entry that is for the device."""
    if not entries:
        yield Problem(bundle.path, "a bundle without entries", bundle.member, bundle.offset)
    # Entries that share their bytes could multiply them without end.
    budget = 2 * len(bundle.data)
    for entry in entries:
        if entry.id.startswith("host") or not entry.size:
            continue
        budget -= entry.size
        offset = None if bundle.offset is None else bundle.offset + entry.offset
        if entry.offset < header or entry.offset + entry.size > len(bundle.data):
            message = f"a bundle entry that lies outside its bundle of {len(bundle.data)} bytes"
            yield Problem(bundle.path, message, entry.id, offset)
        elif budget < 0:
            message = "bundle entries repeat the same bytes; not read from here on"
            yield Problem(bundle.path, message, entry.id, offset)
            return
        else:
            data = bundle.data[entry.offset : entry.offset + entry.size]
            yield Blob(bundle.path, data, (*bundle.containers, "bundle"), entry.id, offset)


def _entries(data: memoryview) -> tuple[list[Entry], int]:
    """The table of a bundle, and its length; raises `ReadError` where it is damaged."""
    try:
        (count,) = unpack_from("<Q", data, len(MAGIC))
        if count > _MOST_ENTRIES:
            raise ReadError(f"damaged bundle: it claims {count} entries")
        at = len(MAGIC) + 8
        entries = []
        for _ in range(count):
            offset, size, id_size = unpack_from("<QQQ", data, at)
            at += 24 + id_size
            if id_size > _LONGEST_ID or at > len(data):
                raise ReadError(f"damaged bundle: it claims an id of {id_size} bytes")
            id = bytes(data[at - id_size : at]).decode("utf-8", "backslashreplace")
            entries.append(Entry(id, offset, size))
    except StructError as error:
        raise ReadError("a bundle cut off within its header; build it again") from error
    return entries, at


def _compressed_length(data: memoryview) -> int:
    """Bytes with the header; raises `ReadError` where the header does not say."""
    try:
        version, _method = unpack_from("<HH", data, len(COMPRESSED))
        (length,) = {2: unpack_from("<I", data, 8), 3: unpack_from("<Q", data, 8)}[version]
    except (StructError, KeyError) as error:
        raise ReadError("compressed bundle (CCOB): not read yet") from error
    return max(int(length), 24)
