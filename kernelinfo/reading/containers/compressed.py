"""Reads gzip, zstd, xz and bzip2 files. A compressed tar is unpacked member by member."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.reading.blob import Blob, Found
from kernelinfo.reading.containers import magic, tar
from kernelinfo.reading.containers.parts import after_zeros, part, problem
from kernelinfo.reading.containers.streams import Decompressed, held
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say


def read(blob: Blob) -> Iterator[Found]:
    """The decompressed file, or the members of a compressed tar; a problem for bytes after it."""
    head = bytes(blob.data.read(0, magic.HEAD_BYTES))
    method = next(name for name, start in magic.COMPRESSED.items() if head.startswith(start))
    limit, size = blob.bounds.streamed_bytes(len(blob.data)), len(blob.data)
    stream = Decompressed(method, blob.data, limit, blob.budget)
    if magic.is_tar(stream.read(magic.HEAD_BYTES)):
        stream = Decompressed(method, blob.data, limit, blob.budget)
        yield from tar.unpack(part(blob, method, blob.data, offset=None), stream)
    else:
        stream = held(method, blob, blob.data)
        yield part(blob, method, Data.of(stream.read_all()), offset=None)
    following = after_zeros(blob.data, stream.consumed) if stream.consumed else None
    if following is not None:
        message = say("compressed-followed", size=size - following, method=method)
        yield problem(blob, message, offset=following)
