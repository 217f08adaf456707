"""Tar archives: their regular files. POSIX.1-2001, section pax; GNU tar, "Basic Tar Format"."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from kernelinfo.errors import KernelinfoError
from kernelinfo.light_typing import TYPE_CHECKING, Any
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.parts import left_out, may_hold_code, part, problem
from kernelinfo.reading.containers.streams import Decompressed, View

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

_BLOCK = 1 << 20
_MANY_DIGITS = re.compile(rb"[0-9]{65}")


class _Forward(io.RawIOBase):
    """A file for `tarfile`, which steps over sizes that headers claim, however far. Reading on
    behind the end raises `EOFError`."""

    def __init__(self, file: View | Decompressed) -> None:
        self._file = file
        self._has_ended = False

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        if not piece and self._has_ended:
            raise EOFError("cut off")
        self._has_ended = not piece
        return piece


class _Unread:
    """A stream whose last piece is read again."""

    def __init__(self, stream: Any, piece: bytes) -> None:
        self._stream = stream
        self._piece = piece

    def read(self, size: int) -> bytes:
        piece, self._piece = self._piece, b""
        again: bytes = piece or self._stream.read(size)
        return again

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def read(blob: Blob) -> Iterator[Blob | Problem | Note]:
    """The members that may hold code."""
    yield from unpack(blob, View(blob.data))


def unpack(blob: Blob, file: View | Decompressed) -> Iterator[Blob | Problem | Note]:
    """The members in the tar that `file` reads; those of a `View` are slices of `blob`. Raises
    `ReadError` where the file does."""
    import tarfile

    header = b""

    class Header(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Header:
            nonlocal header
            header = bytes(buf)
            return super().frombuf(buf, encoding, errors)

        def _proc_pax(self, tar: Any) -> Any:
            """Before it is parsed: tarfile of Python before 3.11.10 takes the square of a number's
            digits to find that it is none of a record (CVE-2024-6232)."""
            if self.size > bounds.PAX_BYTES:
                raise ValueError(f"a header of {self.size} bytes")
            stream, body = tar.fileobj, tar.fileobj.read(-(-self.size // 512) * 512)
            if _MANY_DIGITS.search(body):
                raise ValueError("a header with a number of more than 64 digits")
            tar.fileobj = _Unread(stream, body)
            try:
                return super()._proc_pax(tar)  # type: ignore[misc]
            finally:
                tar.fileobj = stream

    try:
        # As a stream, which cannot go back: damaged sizes would lead in circles.
        with tarfile.open(
            fileobj=_Forward(file),
            mode="r|",
            bufsize=_BLOCK,
            encoding="utf-8",
            errors="backslashreplace",
            tarinfo=Header,
        ) as tar:
            while info := tar.next():
                tar.members.clear()  # type: ignore[attr-defined]  # it would keep every header
                if info.isreg() and info.size:
                    yield from _member(blob, tar, info, stored=isinstance(file, View))
                else:
                    blob.budget.spend_member()
            if any(header):  # tarfile ends at it as at the zeros of an honest end
                at = tar.offset if isinstance(file, View) else None
                yield problem(blob, "no tar header where one should follow", at=at)
    except KernelinfoError:
        raise
    except RecursionError:
        yield problem(blob, "damaged tar (hundreds of headers for one member); not read")
    except Exception as error:  # whatever tarfile raises for a damaged header
        yield problem(blob, f"damaged tar ({error}); not read from there on")


def _member(
    blob: Blob, tar: TarFile, info: TarInfo, *, stored: bool
) -> Iterator[Blob | Problem | Note]:
    name, at, end = info.name, info.offset_data, info.offset_data + info.size
    if info.issparse():
        yield problem(blob, "sparse file in a tar; unpack it", member=name, at=None)
    elif stored:
        data = blob.data[at:end]
        if not may_hold_code(blob, bytes(data[: magic.HEAD_BYTES]), name, info.size):
            yield left_out(part(blob, "tar", data, member=name, at=at))
        else:
            if len(data) < info.size:
                claimed = str(info.size) if info.size < 1 << 64 else "more than 2^64"
                message = f"{claimed} bytes claimed of which {len(data)} are there"
                yield problem(blob, message, member=name, at=at)
            yield part(blob, "tar", data, member=name, at=at, one_of_many=True)
    elif file := tar.extractfile(info):
        head = file.read(magic.HEAD_BYTES)
        if not may_hold_code(blob, head, name, info.size):
            yield left_out(part(blob, "tar", blob.data, member=name, at=None))
            return
        limit = blob.bounds.held_bytes(len(blob.data))
        if info.size > limit:
            message = f"a member of more than {limit} bytes; unpack it, or see --bound"
            yield problem(blob, message, member=name)
            return
        whole = bytearray(head)
        while piece := file.read(_BLOCK):
            whole += piece
        content = memoryview(whole).toreadonly()
        yield part(blob, "tar", content, member=name, at=None, one_of_many=True)
