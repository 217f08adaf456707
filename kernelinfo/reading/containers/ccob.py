"""Reads CCOB, clang's compressed offload bundles: one plain bundle as a zlib or zstd stream.

    4 bytes   CCOB
    u16       version: 1, 2 or 3
    u16       method: 0 zlib, 1 zstd
    u32, u64  length with the header; only in versions 2 (u32) and 3 (u64)
    u32, u64  size of the plain bundle: u64 in version 3
    8 bytes   start of its MD5 sum; zeros without a checksum

clang/lib/Driver/OffloadBundler.cpp, CompressedOffloadBundle; llvm/lib/Object/OffloadBundle.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import md5
from queue import Queue
from struct import Struct
from threading import Thread
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import magic
from kernelinfo.reading.containers.parts import fields, part, problem
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data
from kernelinfo.reading.messages import say

_START = Struct("<4sHH")
_METHODS: tuple[magic.Method, ...] = ("zlib", "zstd")
_CUT_OFF = say("ccob-cut-off")
_LARGE_BYTES = 1 << 20
_MOST_WAITING = 16  # decompressed pieces in the checksum's queue
_LAYOUTS = {1: Struct("<8xI8s"), 2: Struct("<8xII8s"), 3: Struct("<8xQQ8s")}


class _CcobHeader(NamedTuple):
    size: int  # bytes of the header itself
    method: magic.Method
    length: int | None  # bytes with the header; None in version 1: the stream's end decides
    content: int  # bytes of the plain bundle
    checksum: bytes


@contextmanager
def _in_thread(update: Callable[[bytes], object]) -> Iterator[Callable[[bytes], object]]:
    """A function that passes pieces to `update` in a thread of its own.

    The checksum takes as long as decompression, and neither needs the interpreter."""
    pieces: Queue[bytes] = Queue(_MOST_WAITING)

    def work() -> None:
        for piece in iter(pieces.get, b""):
            update(piece)

    thread = Thread(target=work, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        yield update
        return
    try:
        yield pieces.put
    finally:
        pieces.put(b"")
        thread.join()


def length_of(blob: Blob) -> int:
    """Bytes of the compressed bundle with its header. Raises `ReadError` if the length cannot be
    found."""
    header = _header(blob.data)
    if header.length is not None:
        return header.length
    stream = held(header.method, blob, blob.data.part(header.size), header.content)
    while stream.read():
        pass
    return header.size + stream.consumed


def unpack(blob: Blob) -> Generator[Blob | Problem, None, int]:
    """Yields the plain bundle and problems; returns the compressed length in bytes.

    Raises `ReadError` if the length cannot be found."""
    header = _header(blob.data)
    packed = blob.data.part(header.size, (header.length or len(blob.data)) - header.size)
    stream = held(header.method, blob, packed, header.content)
    has_checksum = any(header.checksum)
    is_cut_off = header.length is not None and header.length > len(blob.data)
    if is_cut_off:
        message = say("ccob-incomplete", length=header.length, size=len(blob.data))
        yield problem(blob, message)
    summed, is_large = md5(usedforsecurity=False), header.content >= _LARGE_BYTES
    try:
        with _in_thread(summed.update) if is_large else nullcontext(summed.update) as update:
            content = stream.read_all(update if has_checksum else None)
    except ReadError as error:
        if header.length is None:
            raise
        if not is_cut_off:
            yield problem(blob, say("ccob-damaged", reason=error.message))
        return header.length
    end = header.length or header.size + stream.consumed
    if not has_checksum:
        yield problem(blob, say("ccob-without-checksum"))
    elif not summed.digest().startswith(header.checksum):
        yield problem(blob, say("ccob-checksum"))
        return end
    if len(content) < header.content:
        yield problem(blob, say("ccob-short", size=len(content), stated=header.content))
    yield part(blob, "ccob", Data.of(content), at=None)
    return end


def _header(data: Data) -> _CcobHeader:
    _, version, method = fields(_START, data, _CUT_OFF)
    layout = _LAYOUTS.get(version)
    if layout is None:
        raise ReadError(say("ccob-version", version=version))
    *length, content, checksum = fields(layout, data, _CUT_OFF)
    if method >= len(_METHODS):
        raise ReadError(say("ccob-method", method=method))
    if length and length[0] <= layout.size:
        raise ReadError(say("ccob-length", length=length[0]))
    whole = length[0] if length else None
    return _CcobHeader(layout.size, _METHODS[method], whole, content, checksum)
