"""Reads archives of `ar`, tars and compressed files.

Archives of `ar` are GNU, BSD and thin ones. Members of a thin archive are separate files.

    8 bytes   !<arch>\\n or !<thin>\\n
    and for each member, at even offsets
    16 bytes  name
    32 bytes  time, owner, group, mode
    10 bytes  size in decimal
    2 bytes   `\\n
    and its bytes

Names: `foo.o/`, or `/123` into the member `//` (GNU), or `#1/9` before the bytes (BSD).
Symbol tables: `/`, `/SYM64/`, `__.SYMDEF`. llvm/lib/Object/Archive.cpp.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Iterator
from typing import Any

from kernelinfo.errors import KernelinfoError
from kernelinfo.reading.blob import Blob, Found, Problem
from kernelinfo.reading.containers import files, formats
from kernelinfo.reading.containers.streams import Decompressed, ReadableView, held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

_AR_HEADER_BYTES = 60
_AR_SIZE = re.compile(rb"(\d{1,10}) *")
_LONG_NAMES = "//"
_TABLES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", _LONG_NAMES)
_DAMAGED = say("archive-damaged")
_LEADS_NOWHERE = say("archive-member-unnamed")


def read_ar(blob: Blob) -> Iterator[Blob | Problem]:
    """The members that may hold code."""
    thin: dict[str, None] = {}
    for short, name, offset, size in _ar_members(blob.data):
        content = blob.data.part(offset, size)
        if short is None:
            yield formats.problem(blob, _DAMAGED, offset=offset)
            return
        if _is_elsewhere(blob.data, short):
            if name:
                thin[name] = None
            else:
                yield formats.problem(blob, _LEADS_NOWHERE, offset=offset, member=short)
            continue
        if len(content) < size:
            message = say("archive-member-cut-off", size=len(content), stated=size)
            yield formats.problem(blob, message, offset=offset, member=short)
        if short not in _TABLES:
            yield from _ar_member(blob, short, name, content, offset)
    yield from _thin_files(blob, list(thin))


def thin_members(data: Data) -> list[str]:
    """Names of a thin archive's files, up to the first damage; empty for any other archive."""
    members = _ar_members(data)
    return list({name: None for short, name, *_ in members if short and _is_elsewhere(data, short)})


def _ar_members(data: Data) -> Iterator[tuple[str | None, str, int, int]]:
    """(name in the header, resolved GNU name, offset, bytes) of each member.

    At a damaged header the iteration ends with an item whose name is None."""
    offset, long_names = len(formats.ARCHIVE), b""
    while offset < len(data):
        header = bytes(data.read(offset, _AR_HEADER_BYTES))
        size = _AR_SIZE.fullmatch(header[48:58])
        if len(header) < _AR_HEADER_BYTES or header[58:] != b"`\n" or not size:
            yield None, "", offset, 0
            return
        short = decode(header[:16].rstrip(b" "))
        offset, length = offset + _AR_HEADER_BYTES, int(size[1])
        yield short, _gnu_name(short, long_names), offset, length
        if short == _LONG_NAMES:
            long_names = bytes(data.read(offset, length))
        if not _is_elsewhere(data, short):
            offset += length + length % 2


def _is_elsewhere(data: Data, name: str) -> bool:
    """True if the archive is thin and the member is a separate file."""
    return name not in _TABLES and data.read(0, len(formats.ARCHIVE)) == formats.THIN_ARCHIVE


def _ar_member(
    blob: Blob, short: str, name: str, content: Data, offset: int
) -> Iterator[Blob | Problem]:
    skipped = 0
    if short.startswith("#1/") and short[3:].isdecimal():
        skipped = int(short[3:])
        stated = bytes(content.read(0, min(skipped, formats.LONGEST_NAME)))
        name = decode(stated.rstrip(b"\0"))
    if skipped > len(content):
        yield formats.problem(blob, say("archive-name-long"), offset=offset)
    elif not name:
        yield formats.problem(blob, _LEADS_NOWHERE, offset=offset, member=short)
    content = content.part(skipped)
    if formats.may_hold_code(blob, content.read(0, formats.HEAD_BYTES), name, len(content)):
        member, offset = name or short, offset + skipped
        yield formats.part(blob, "archive", content, offset=offset, member=member, one_of_many=True)


def _gnu_name(short: str, long_names: bytes) -> str:
    if short[:1] == "/" and short[1:].isdecimal():
        start = int(short[1:])
        short = decode(long_names[start : start + formats.LONGEST_NAME].partition(b"\n")[0])
    return short.removesuffix("/")


def _thin_files(blob: Blob, names: list[str]) -> Iterator[Blob | Problem]:
    """Contents of the files that a thin archive names; only regular files in its folder or below
    are read."""
    if names and (blob.containers or not os.path.isfile(blob.path)):
        yield formats.problem(blob, say("archive-thin-inside"))
        return
    folder = os.path.dirname(os.path.realpath(blob.path))
    absent: list[str] = []
    for name in names:
        path = os.path.realpath(os.path.join(folder, name.replace("\0", "\\0")))
        if os.path.commonpath((folder, path)) != folder:
            yield formats.problem(blob, say("archive-member-outside"), offset=None, member=name)
            continue
        if not os.path.lexists(path):
            blob.budget.spend_member()
            absent.append(name)
            continue
        file = files.load(path, blob.bounds)
        if isinstance(file, Problem):
            message = say("archive-member-unreadable", reason=file.message)
            yield formats.problem(blob, message, offset=None, member=name)
        elif formats.may_hold_code(
            blob, file.data.read(0, formats.HEAD_BYTES), name, len(file.data)
        ):
            host = blob._replace(budget=file.budget)
            yield formats.part(
                host, "archive", file.data, offset=None, member=name, one_of_many=True
            )
    if absent:
        further = say("archive-nor-more", count=len(absent) - 1) if len(absent) > 1 else ""
        message = say("archive-member-missing", more=further)
        yield formats.problem(blob, message, offset=None, member=absent[0])


# Reads the regular files of tars. POSIX.1-2001, section pax; GNU tar, "Basic Tar Format".

_BLOCK = 1 << 20
_MANY_DIGITS = re.compile(rb"[0-9]{65}")


class _TarStream:
    """A stream for `tarfile`: first a piece that was pushed back, then the bytes of a file or of
    another stream.

    A second read past the end raises `EOFError`; otherwise `tarfile` would go on skipping bytes
    that a damaged header claims.
    """

    def __init__(self, file: Any, piece: bytes = b"") -> None:
        self._file = file
        self._piece = piece
        self._has_ended = False

    def read(self, size: int) -> bytes:
        piece, self._piece = self._piece, b""
        piece = piece or self._file.read(size)
        if not piece and self._has_ended:
            raise EOFError(say("tar-cut-off"))
        self._has_ended = not piece
        return piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def read_tar(blob: Blob) -> Iterator[Found]:
    """Members of the tar that may hold code, as blobs; damage as problems."""
    yield from unpack_tar(blob, ReadableView(blob.data))


def unpack_tar(blob: Blob, file: ReadableView | Decompressed) -> Iterator[Found]:
    """Members and problems of the tar that `file` reads; members of a `ReadableView` are slices of
    `blob`. Raises `ReadError` if `file` does."""
    is_stored = isinstance(file, ReadableView)
    header = b""

    class TarHeader(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> TarHeader:
            nonlocal header
            header = bytes(buf)
            return super().frombuf(buf, encoding, errors)

        def _proc_pax(self, tar: Any) -> Any:
            """Check a pax header before `tarfile` parses it: before Python 3.11.10 parsing takes
            time quadratic in a number's digits (CVE-2024-6232)."""
            if self.size > formats.PAX_BYTES:
                raise ValueError(say("tar-header-large", size=self.size))
            stream, body = tar.fileobj, tar.fileobj.read(-(-self.size // 512) * 512)
            if _MANY_DIGITS.search(body):
                raise ValueError(say("tar-header-number"))
            tar.fileobj = _TarStream(stream, body)
            try:
                return super()._proc_pax(tar)  # type: ignore[misc]
            finally:
                tar.fileobj = stream

    try:
        # As a stream: it cannot seek back, so that damaged sizes cannot lead in circles.
        with tarfile.open(
            fileobj=_TarStream(file),
            mode="r|",
            bufsize=_BLOCK,
            encoding="utf-8",
            errors="backslashreplace",
            tarinfo=TarHeader,
        ) as tar:
            while info := tar.next():
                tar.members.clear()  # type: ignore[attr-defined]  # or it keeps every header
                if not (info.isreg() and info.size):
                    blob.budget.spend_member()
                elif info.issparse():
                    yield formats.problem(blob, say("tar-sparse"), member=info.name, offset=None)
                elif is_stored:
                    yield from formats.stored_file(
                        blob, "tar", info.name, info.offset_data, info.size
                    )
                else:
                    read = tar.fileobject(tar, info).read
                    yield formats.streamed_file(blob, "tar", info.name, read, info.size)
            if any(header):  # tarfile stops at a bad header as at the zeros of a real end
                offset = tar.offset if is_stored else None
                yield formats.problem(blob, say("tar-header-missing"), offset=offset)
    except KernelinfoError:
        raise
    except RecursionError:
        yield formats.problem(blob, say("tar-headers-many"))
    except Exception as error:  # a damaged header makes tarfile raise any kind of error
        yield formats.problem(blob, say("tar-damaged", error=error))


# Reads gzip, zstd, xz and bzip2 files. A compressed tar is unpacked member by member.


def read_compressed(blob: Blob) -> Iterator[Found]:
    """The decompressed file, or the members of a compressed tar; a problem if other bytes follow
    the compressed ones."""
    head = bytes(blob.data.read(0, formats.HEAD_BYTES))
    method = next(name for name, start in formats.COMPRESSED.items() if head.startswith(start))
    limit, size = blob.bounds.streamed_bytes(len(blob.data)), len(blob.data)
    stream = Decompressed(method, blob.data, limit, blob.budget)
    if formats.is_tar(stream.read(formats.HEAD_BYTES)):
        stream = Decompressed(method, blob.data, limit, blob.budget)
        yield from unpack_tar(formats.part(blob, method, blob.data, offset=None), stream)
    else:
        stream = held(method, blob, blob.data)
        yield formats.part(blob, method, Data.of(stream.read_all()), offset=None)
    following = formats.after_zeros(blob.data, stream.consumed) if stream.consumed else None
    if following is not None:
        message = say("compressed-followed", size=size - following, method=method)
        yield formats.problem(blob, message, offset=following)
