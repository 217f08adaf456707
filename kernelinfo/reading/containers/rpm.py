"""Reads the files of RPM packages; the payload is a cpio archive that may be compressed.

    96 bytes  lead, not used
    header    the signature, and zeros to a multiple of 8
    header    the package
    payload   to the end

and each header

    4 bytes   8e ad e8 01
    4 bytes   reserved
    u32 u32   number of entries, 16 bytes each, and bytes of their values, which follow

Big endian. rpm, docs/manual/format_v4.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found
from kernelinfo.reading.containers import bounds, cpio, magic
from kernelinfo.reading.containers.parts import fields, part, rest
from kernelinfo.reading.containers.streams import Decompressed, ReadableView
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say

_LEAD_BYTES = 96
_HEADER = Struct(">4s4xII")
_HEADER_MAGIC = b"\x8e\xad\xe8\x01"
_ENTRY_BYTES = 16
_LZMA_ALONE = b"\x5d\0\0"


def read(blob: Blob) -> Iterator[Found]:
    """The files that may hold code."""
    signature = _header_end(blob.data, _LEAD_BYTES)
    start = _header_end(blob.data, signature + -signature % 8)
    yield from _payload(part(rest(blob, start), "rpm", blob.data.part(start), offset=0))


def _header_end(data: Data, offset: int) -> int:
    """End of the header at an `offset`. Raises `ReadError` if no sound header is there."""
    start, entries, store = fields(_HEADER, data, say("rpm-cut-off"), offset)
    size = _ENTRY_BYTES * entries + store
    end = offset + _HEADER.size + size
    if start != _HEADER_MAGIC or size > bounds.RPM_HEADER_BYTES or end > len(data):
        raise ReadError(say("rpm-damaged", size=size, at=offset))
    return int(end)


def _payload(blob: Blob) -> Iterator[Found]:
    """The files of the payload. Raises `ReadError` if it is missing or no cpio archive."""
    head = bytes(blob.data.read(0, magic.HEAD_BYTES))
    if not head:
        raise ReadError(say("rpm-without-payload"))
    if magic.is_cpio(head) or head.startswith(cpio.STRIPPED):
        yield from cpio.unpack(blob, ReadableView(blob.data))
        return
    starts = magic.COMPRESSED.items()
    method = next((name for name, start in starts if head.startswith(start)), None)
    if head.startswith(_LZMA_ALONE):
        method = "xz"
    if method is None:
        raise ReadError(say("rpm-payload-unknown"))
    limit = blob.bounds.streamed_bytes(len(blob.data))
    stream = Decompressed(method, blob.data, limit, blob.budget)
    yield from cpio.unpack(part(blob, method, blob.data, offset=None), stream)
