"""Reads the regular files of tars. POSIX.1-2001, section pax; GNU tar, "Basic Tar Format"."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from typing import Any

from kernelinfo.errors import KernelinfoError
from kernelinfo.reading.blob import Blob, Found
from kernelinfo.reading.containers import bounds
from kernelinfo.reading.containers.parts import problem, stored_file, streamed_file
from kernelinfo.reading.containers.streams import Decompressed, ReadableView
from kernelinfo.reading.messages import say

_BLOCK = 1 << 20
_MANY_DIGITS = re.compile(rb"[0-9]{65}")


class _Forward(io.RawIOBase):
    """A file object for `tarfile`. A second read past the end raises `EOFError`: `tarfile` would
    go on skipping bytes that a damaged header claims."""

    def __init__(self, file: ReadableView | Decompressed) -> None:
        self._file = file
        self._has_ended = False

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        if not piece and self._has_ended:
            raise EOFError(say("tar-cut-off"))
        self._has_ended = not piece
        return piece


class _Unread:
    """A stream with a piece pushed back: the next read returns that."""

    def __init__(self, stream: Any, piece: bytes) -> None:
        self._stream = stream
        self._piece = piece

    def read(self, size: int) -> bytes:
        piece, self._piece = self._piece, b""
        again: bytes = piece or self._stream.read(size)
        return again

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def read(blob: Blob) -> Iterator[Found]:
    """Members of the tar that may hold code, as blobs; damage as problems."""
    yield from unpack(blob, ReadableView(blob.data))


def unpack(blob: Blob, file: ReadableView | Decompressed) -> Iterator[Found]:
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
            """Check a pax header before `tarfile` parses it: before Python 3.11.10 its time grows
            with the square of a number's digits (CVE-2024-6232)."""
            if self.size > bounds.PAX_BYTES:
                raise ValueError(say("tar-header-large", size=self.size))
            stream, body = tar.fileobj, tar.fileobj.read(-(-self.size // 512) * 512)
            if _MANY_DIGITS.search(body):
                raise ValueError(say("tar-header-number"))
            tar.fileobj = _Unread(stream, body)
            try:
                return super()._proc_pax(tar)  # type: ignore[misc]
            finally:
                tar.fileobj = stream

    try:
        # As a stream: it cannot seek back, so that damaged sizes cannot lead in circles.
        with tarfile.open(
            fileobj=_Forward(file),
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
                    yield problem(blob, say("tar-sparse"), member=info.name, offset=None)
                elif is_stored:
                    yield from stored_file(blob, "tar", info.name, info.offset_data, info.size)
                else:
                    read = tar.fileobject(tar, info).read
                    yield streamed_file(blob, "tar", info.name, read, info.size)
            if any(header):  # tarfile stops at a bad header as at the zeros of a real end
                offset = tar.offset if is_stored else None
                yield problem(blob, say("tar-header-missing"), offset=offset)
    except KernelinfoError:
        raise
    except RecursionError:
        yield problem(blob, say("tar-headers-many"))
    except Exception as error:  # a damaged header makes tarfile raise any kind of error
        yield problem(blob, say("tar-damaged", error=error))
