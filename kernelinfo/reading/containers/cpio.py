"""cpio archives of the form "newc": their regular files.

    6 bytes    070701, or 070702 with a checksum
    13 times   8 hexadecimal digits: inode, mode, owner, group, links, time, size, two numbers of
               the device and two of a device file, length of the name with its NUL, checksum
    name       and zeros to a multiple of 4 from the header
    data       and zeros to a multiple of 4; an archive ends with the name TRAILER!!!

cpio(5). Of several names of one file all but the last have no data.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.parts import left_out, may_hold_code, part, problem
from kernelinfo.reading.containers.streams import Decompressed, View

_HEADER = re.compile(rb"07070[12]((?:[0-9a-fA-F]{8}){13})")
_HEADER_BYTES = 110
STRIPPED = b"07070X"
"""The first bytes of a member whose name and size are in the header of an RPM package."""
_MODE, _SIZE, _NAME_SIZE = 1, 6, 11
_END = "TRAILER!!!"
_PIECE = 1 << 20


class _Member(NamedTuple):
    name: str
    mode: int
    size: int


def read(blob: Blob) -> Iterator[Blob | Problem | Note]:
    """The members that may hold code."""
    yield from unpack(blob, View(blob.data))


def unpack(blob: Blob, file: View | Decompressed) -> Iterator[Blob | Problem | Note]:
    """The members of the archive that `file` reads; those of a `View` are slices of `blob`. Raises
    `ReadError` where the file does."""
    at = 0
    names: set[str] = set()
    while True:
        try:
            member, length = _member(file)
        except ReadError as error:
            yield problem(blob, str(error), at=at if isinstance(file, View) else None)
            return
        if member is None:
            return
        at += length
        for item in _content(blob, file, member, at):
            if isinstance(item, Blob) and member.name in names:
                yield Note(blob.path, "several members have this name: all are read", item.member)
            names.add(member.name)
            yield item
        at += _padded(member.size)
        if isinstance(file, View):
            file.seek(at)


def _member(file: View | Decompressed) -> tuple[_Member | None, int]:
    """The next member, None at the end, and the length of its header; raises `ReadError`."""
    header = file.read(_HEADER_BYTES)
    if not header:
        raise ReadError("a cpio archive without an end: members may be missing")
    if header.startswith(STRIPPED):
        raise ReadError("RPM's cpio archive for files beyond 4 GB; unpack it by rpm2archive")
    found = _HEADER.fullmatch(header)
    if not found:
        raise ReadError("damaged cpio: no member header where one should be; not read from here")
    numbers = [int(found[1][start : start + 8], 16) for start in range(0, 13 * 8, 8)]
    length = numbers[_NAME_SIZE]
    if not 0 < length <= bounds.LONGEST_NAME:
        raise ReadError(f"damaged cpio: a name of {length} bytes; not read from here")
    padded = _padded(_HEADER_BYTES + length) - _HEADER_BYTES
    name = file.read(padded)[:length].rstrip(b"\0").decode("utf-8", "backslashreplace")
    if name == _END:
        return None, 0
    return _Member(name, numbers[_MODE], numbers[_SIZE]), _HEADER_BYTES + padded


def _padded(size: int) -> int:
    return (size + 3) & ~3


def _content(
    blob: Blob, file: View | Decompressed, member: _Member, at: int
) -> Iterator[Blob | Problem | Note]:
    """The bytes of one member, which `file` has passed then if it is a stream."""
    name, mode, size = member
    wanted = stat.S_ISREG(mode) and size > 0
    if not wanted:
        blob.budget.spend_member()
    if isinstance(file, View):
        data = blob.data[at : at + size]
        if len(data) < size:
            message = f"{size} bytes claimed of which {len(data)} are there"
            yield problem(blob, message, member=name, at=at)
        if wanted:
            yield _found(blob, data, member, at)
        return
    head = file.read(min(size, magic.HEAD_BYTES))
    limit = blob.bounds.held_bytes(len(blob.data))
    whole = bytearray(head)
    is_held = wanted and size <= limit and may_hold_code(blob, head, name, size)
    left = _padded(size) - len(head)
    while left and (piece := file.read(min(left, _PIECE))):
        left -= len(piece)
        if is_held:
            whole += piece
    if left:
        message = f"{size} bytes claimed of which {size - left} are there"
        yield problem(blob, message, member=name, at=None)
    if wanted and size > limit:
        message = f"a member of more than {limit} bytes; unpack it, or see --bound"
        yield problem(blob, message, member=name, at=None)
    elif wanted:
        content = memoryview(whole).toreadonly()[:size]
        yield _found(blob, content, member, None) if is_held else left_out(blob)


def _found(blob: Blob, data: memoryview, member: _Member, at: int | None) -> Blob | Note:
    found = part(blob, "cpio", data, at=at, member=member.name, one_of_many=True)
    head = bytes(data[: magic.HEAD_BYTES])
    return found if may_hold_code(blob, head, member.name, member.size) else left_out(found)
