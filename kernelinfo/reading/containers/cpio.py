"""Reads the regular files of cpio archives of the form "newc".

    6 bytes    070701, or 070702 with a checksum
    13 times   8 hexadecimal digits: inode, mode, owner, group, links, time, size, two numbers of
               the device and two of a device file, length of the name with its NUL, checksum
    name       and zeros to a multiple of 4 from the header
    data       and zeros to a multiple of 4; an archive ends with the name TRAILER!!!

cpio(5). A file with several names has its data only at the last one.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found, Note
from kernelinfo.reading.containers import bounds
from kernelinfo.reading.containers.parts import problem, stored_file, streamed_file
from kernelinfo.reading.containers.streams import Decompressed, ReadableView
from kernelinfo.reading.data import decode
from kernelinfo.reading.messages import say

_HEADER = re.compile(rb"07070[12]((?:[0-9a-fA-F]{8}){13})")
_HEADER_BYTES = 110
STRIPPED = b"07070X"
"""Magic of a member without name and size: they are in the header of the RPM package."""
_END = "TRAILER!!!"


def read(blob: Blob) -> Iterator[Found]:
    """Members of the archive that may hold code, as blobs; damage as problems."""
    yield from unpack(blob, ReadableView(blob.data))


def unpack(blob: Blob, file: ReadableView | Decompressed) -> Iterator[Found]:
    """Members and problems of the archive that `file` reads; members of a `ReadableView` are slices
    of `blob`. Raises `ReadError` if `file` does."""
    is_stored = isinstance(file, ReadableView)
    offset = 0
    names: set[str] = set()
    while True:
        try:
            name, mode, size, length = _header(file)
        except ReadError as error:
            yield problem(blob, error.message, offset=offset if is_stored else None)
            return
        if name == _END:
            return
        offset += length
        if stat.S_ISREG(mode) and size:
            items: Iterable[Found] = stored_file(blob, "cpio", name, offset, size)
            if not is_stored:
                items = [streamed_file(blob, "cpio", name, file.read, size)]
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
            yield problem(blob, message, member=name, offset=None)


def _header(file: ReadableView | Decompressed) -> tuple[str, int, int, int]:
    """(name, mode, bytes of the file, bytes of the header) of the next member.

    Raises `ReadError` if the archive ends or is damaged there."""
    header = file.read(_HEADER_BYTES)
    if not header:
        raise ReadError(say("cpio-without-end"))
    if header.startswith(STRIPPED):
        raise ReadError(say("cpio-stripped"))
    digits = _HEADER.fullmatch(header)
    if not digits:
        raise ReadError(say("cpio-damaged"))
    numbers = [int(digits[1][start : start + 8], 16) for start in range(0, 13 * 8, 8)]
    mode, size, length = numbers[1], numbers[6], numbers[11]
    if not 0 < length <= bounds.LONGEST_NAME:
        raise ReadError(say("cpio-name-long", length=length))
    padded = _padded(_HEADER_BYTES + length)
    name = file.read(padded - _HEADER_BYTES)[:length].rstrip(b"\0")
    return decode(name), mode, size, padded


def _padded(size: int) -> int:
    return (size + 3) & ~3
