"""Reads packages: zips and wheels, RPMs, and cpio archives, which RPMs contain.

Only the regular files of a zip are read. Source: PKWARE, APPNOTE.TXT 6.3.10, section 4.3.
"""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterable, Iterator
from struct import Struct, unpack_from

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found, Note
from kernelinfo.reading.containers import formats
from kernelinfo.reading.containers.streams import Decompressed, ReadableView, held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

_ZIP_STORED = 0
_ZIP_METHODS: dict[int, formats.Method] = {8: "deflate", 12: "bzip2", 93: "zstd"}


def read_zip(blob: Blob) -> Iterator[Found]:
    """The members that may hold code."""
    try:
        limit = max(formats.ZIP_DIRECTORY_BYTES, len(blob.data) // 8)
        members = zipfile.ZipFile(ReadableView(blob.data, limit)).infolist()
    except Exception as error:  # a damaged directory makes zipfile raise any kind of error
        raise ReadError(say("zip-damaged", error=error)) from error
    room = formats.contents_budget(len(blob.data))
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.filename.endswith("/") or kind not in (0, stat.S_IFREG):
            continue
        if not room.take_bytes(info.compress_size):
            raise ReadError(say("zip-bytes-repeated"))
        try:
            yield from _zip_member(blob, info)
        except ReadError as error:
            offset: int | None = info.header_offset
            if info.header_offset not in range(len(blob.data)):  # the directory is damaged
                offset = None
            yield formats.problem(blob, error.message, member=info.filename, offset=offset)


def _zip_member(blob: Blob, info: zipfile.ZipInfo) -> Iterator[Found]:
    offset = info.header_offset
    start = bytes(blob.data.read(offset, 30)) if offset >= 0 else b""
    if len(start) < 30 or not start.startswith(formats.ZIP):
        raise ReadError(say("zip-member-missing"))
    offset += 30 + sum(unpack_from("<HH", start, 26))
    data = blob.data.part(offset, info.compress_size)
    if len(data) < info.compress_size:
        raise ReadError(say("zip-member-cut-off", size=len(data), stated=info.compress_size))
    if info.flag_bits & 1:
        raise ReadError(say("zip-encrypted"))
    if info.compress_type == _ZIP_STORED:
        yield from formats.stored_file(blob, "zip", info.filename, offset, len(data))
        return
    method = _ZIP_METHODS.get(info.compress_type)
    if method is None:
        raise ReadError(say("zip-method", method=info.compress_type))
    member = formats.part(
        blob, "zip", blob.data, member=info.filename, offset=None, one_of_many=True
    )
    head = held(method, blob, data).read(formats.HEAD_BYTES)
    if formats.may_hold_code(blob, head, info.filename, info.file_size):
        yield member._replace(data=Data.of(held(method, blob, data).read_all()))
    else:
        yield formats.left_out(member)


# Reads the files of RPM packages; the payload is a cpio archive that may be compressed.
#
#     96 bytes  lead, not used
#     header    the signature, and zeros to a multiple of 8
#     header    the package
#     payload   to the end
#
# and each header
#
#     4 bytes   8e ad e8 01
#     4 bytes   reserved
#     u32 u32   number of entries, 16 bytes each, and bytes of their values, which follow
#
# Big endian. rpm, docs/manual/format_v4.md.

_LEAD_BYTES = 96
_RPM_HEADER = Struct(">4s4xII")
_HEADER_MAGIC = b"\x8e\xad\xe8\x01"
_ENTRY_BYTES = 16
_LZMA_ALONE = b"\x5d\0\0"


def read_rpm(blob: Blob) -> Iterator[Found]:
    """The files that may hold code."""
    signature = _header_end(blob.data, _LEAD_BYTES)
    start = _header_end(blob.data, signature + -signature % 8)
    yield from _payload(
        formats.part(formats.rest(blob, start), "rpm", blob.data.part(start), offset=0)
    )


def _header_end(data: Data, offset: int) -> int:
    """End of the header at an `offset`. Raises `ReadError` if there is no intact header."""
    start, entries, store = formats.fields(_RPM_HEADER, data, say("rpm-cut-off"), offset)
    size = _ENTRY_BYTES * entries + store
    end = offset + _RPM_HEADER.size + size
    if start != _HEADER_MAGIC or size > formats.RPM_HEADER_BYTES or end > len(data):
        raise ReadError(say("rpm-damaged", size=size, at=offset))
    return int(end)


def _payload(blob: Blob) -> Iterator[Found]:
    """The files of the payload. Raises `ReadError` if it is missing or not a cpio archive."""
    head = bytes(blob.data.read(0, formats.HEAD_BYTES))
    if not head:
        raise ReadError(say("rpm-without-payload"))
    if formats.is_cpio(head) or head.startswith(_STRIPPED):
        yield from unpack_cpio(blob, ReadableView(blob.data))
        return
    starts = formats.COMPRESSED.items()
    method = next((name for name, start in starts if head.startswith(start)), None)
    if head.startswith(_LZMA_ALONE):
        method = "xz"
    if method is None:
        raise ReadError(say("rpm-payload-unknown"))
    limit = blob.bounds.streamed_bytes(len(blob.data))
    stream = Decompressed(method, blob.data, limit, blob.budget)
    yield from unpack_cpio(formats.part(blob, method, blob.data, offset=None), stream)


# Reads the regular files of cpio archives of the form "newc".
#
#     6 bytes    070701, or 070702 with a checksum
#     13 times   8 hexadecimal digits: inode, mode, owner, group, links, time, size, two numbers of
#                the device and two of a device file, length of the name with its NUL, checksum
#     name       and zeros to a multiple of 4 from the header
#     data       and zeros to a multiple of 4; an archive ends with the name TRAILER!!!
#
# cpio(5). A file with several names has its data only at the last one.

_CPIO_HEADER = re.compile(rb"07070[12]((?:[0-9a-fA-F]{8}){13})")
_CPIO_HEADER_BYTES = 110
_STRIPPED = b"07070X"
"""Magic of a member without name and size: they are in the header of the RPM package."""
_END = "TRAILER!!!"


def read_cpio(blob: Blob) -> Iterator[Found]:
    """Members of the archive that may hold code, as blobs; damage as problems."""
    yield from unpack_cpio(blob, ReadableView(blob.data))


def unpack_cpio(blob: Blob, file: ReadableView | Decompressed) -> Iterator[Found]:
    """Members and problems of the archive that `file` reads; members of a `ReadableView` are slices
    of `blob`. Raises `ReadError` if `file` does."""
    is_stored = isinstance(file, ReadableView)
    offset = 0
    names: set[str] = set()
    while True:
        try:
            name, mode, size, length = _cpio_header(file)
        except ReadError as error:
            yield formats.problem(blob, error.message, offset=offset if is_stored else None)
            return
        if name == _END:
            return
        offset += length
        if stat.S_ISREG(mode) and size:
            items: Iterable[Found] = formats.stored_file(blob, "cpio", name, offset, size)
            if not is_stored:
                items = [formats.streamed_file(blob, "cpio", name, file.read, size)]
            for item in items:
                if isinstance(item, Blob) and name in names:
                    yield Note(blob.path, say("cpio-name-repeated"), item.member)
                yield item
            names.add(name)
        else:
            blob.budget.spend_member()
        offset += _padded(size)
        if missing := offset - file.seek(offset):
            message = say("member-cut-off", claimed=size, size=size - missing)
            yield formats.problem(blob, message, member=name, offset=None)


def _cpio_header(file: ReadableView | Decompressed) -> tuple[str, int, int, int]:
    """(name, mode, bytes of the file, bytes of the header) of the next member.

    Raises `ReadError` if the archive ends or is damaged there."""
    header = file.read(_CPIO_HEADER_BYTES)
    if not header:
        raise ReadError(say("cpio-without-end"))
    if header.startswith(_STRIPPED):
        raise ReadError(say("cpio-stripped"))
    digits = _CPIO_HEADER.fullmatch(header)
    if not digits:
        raise ReadError(say("cpio-damaged"))
    numbers = [int(digits[1][start : start + 8], 16) for start in range(0, 13 * 8, 8)]
    mode, size, length = numbers[1], numbers[6], numbers[11]
    if not 0 < length <= formats.LONGEST_NAME:
        raise ReadError(say("cpio-name-long", length=length))
    padded = _padded(_CPIO_HEADER_BYTES + length)
    name = file.read(padded - _CPIO_HEADER_BYTES)[:length].rstrip(b"\0")
    return decode(name), mode, size, padded


def _padded(size: int) -> int:
    return (size + 3) & ~3
