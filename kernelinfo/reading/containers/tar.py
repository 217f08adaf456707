"""Tar archives: their regular files. POSIX.1-2001, section pax; GNU tar, "Basic Tar Format"."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.light_typing import TYPE_CHECKING
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers import magic
from kernelinfo.reading.containers.parts import left_out, may_hold_code, part, problem
from kernelinfo.reading.containers.streams import Decompressed, View

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

_BLOCK = 1 << 20


def read(blob: Blob) -> Iterator[Blob | Problem | Note]:
    """The members that may hold code."""
    yield from unpack(blob, View(blob.data))


def unpack(blob: Blob, file: View | Decompressed) -> Iterator[Blob | Problem | Note]:
    """The members in the tar that `file` reads; those of a `View` are slices of `blob`.

    Raises `ReadError` where the file does.
    """
    import tarfile

    try:
        # As a stream, which cannot go back: damaged sizes would lead in circles.
        with tarfile.open(
            fileobj=file, mode="r|", bufsize=_BLOCK, encoding="utf-8", errors="backslashreplace"
        ) as tar:
            while info := tar.next():
                tar.members.clear()  # type: ignore[attr-defined]  # it would keep every header
                if info.isreg() and info.size:
                    yield from _member(blob, tar, info, stored=isinstance(file, View))
            follows = blob.data[tar.offset : tar.offset + 512]
            if isinstance(file, View) and any(follows):
                yield problem(blob, "no tar header where one should follow", at=tar.offset)
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
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
                message = f"{info.size} bytes claimed of which {len(data)} are there"
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
