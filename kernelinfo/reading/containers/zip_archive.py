"""Reads the regular files of zips and wheels. PKWARE, APPNOTE.TXT 6.3.10, section 4.3."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from struct import unpack_from
from typing import TYPE_CHECKING

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.parts import (
    Room,
    left_out,
    may_hold_code,
    part,
    problem,
    stored_file,
)
from kernelinfo.reading.containers.streams import ReadableView, held
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say

if TYPE_CHECKING:
    from zipfile import ZipInfo

_STORED = 0
_METHODS: dict[int, magic.Method] = {8: "deflate", 12: "bzip2", 93: "zstd"}


def read(blob: Blob) -> Iterator[Found]:
    """The members that may hold code."""
    try:
        limit = max(bounds.ZIP_DIRECTORY_BYTES, len(blob.data) // 8)
        members = zipfile.ZipFile(ReadableView(blob.data, limit)).infolist()
    except Exception as error:  # a damaged directory makes zipfile raise any kind of error
        raise ReadError(say("zip-damaged", error=error)) from error
    room = Room(len(blob.data))
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.filename.endswith("/") or kind not in (0, stat.S_IFREG):
            continue
        if not room.take(info.compress_size):
            raise ReadError(say("zip-bytes-repeated"))
        try:
            yield from _member(blob, info)
        except ReadError as error:
            offset: int | None = info.header_offset
            if info.header_offset not in range(len(blob.data)):  # the directory is damaged
                offset = None
            yield problem(blob, error.message, member=info.filename, offset=offset)


def _member(blob: Blob, info: ZipInfo) -> Iterator[Found]:
    offset = info.header_offset
    start = bytes(blob.data.read(offset, 30)) if offset >= 0 else b""
    if len(start) < 30 or not start.startswith(magic.ZIP):
        raise ReadError(say("zip-member-missing"))
    offset += 30 + sum(unpack_from("<HH", start, 26))
    data = blob.data.part(offset, info.compress_size)
    if len(data) < info.compress_size:
        raise ReadError(say("zip-member-cut-off", size=len(data), stated=info.compress_size))
    if info.flag_bits & 1:
        raise ReadError(say("zip-encrypted"))
    if info.compress_type == _STORED:
        yield from stored_file(blob, "zip", info.filename, offset, len(data))
        return
    method = _METHODS.get(info.compress_type)
    if method is None:
        raise ReadError(say("zip-method", method=info.compress_type))
    member = part(blob, "zip", blob.data, member=info.filename, offset=None, one_of_many=True)
    head = held(method, blob, data).read(magic.HEAD_BYTES)
    if may_hold_code(blob, head, info.filename, info.file_size):
        yield member._replace(data=Data.of(held(method, blob, data).read_all()))
    else:
        yield left_out(member)
