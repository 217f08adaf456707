"""clang's compressed offload bundles, CCOB: one plain bundle as a zlib or zstd stream.

    4 bytes   CCOB
    u16       version: 1, 2 or 3
    u16       method: 0 zlib, 1 zstd
    u32, u64  length of all this with the header; only in versions 2 (u32) and 3 (u64)
    u32, u64  size of the plain bundle: u64 in version 3
    8 bytes   the first of its MD5 sum; zeros where nobody made it

clang/lib/Driver/OffloadBundler.cpp, CompressedOffloadBundle; llvm/lib/Object/OffloadBundle.cpp.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, suppress
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import TYPE_CHECKING, NamedTuple
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import magic
from kernelinfo.reading.containers.parts import part, problem
from kernelinfo.reading.containers.streams import Decompressed, Method, held

if TYPE_CHECKING:
    from threading import Thread

_START = Struct("<4sHH")
_METHODS: tuple[Method, ...] = ("zlib", "zstd")
_CUT_OFF = "a compressed bundle cut off within its header; build it again"
_NO_CHECKSUM = bytes(8)
_LARGE_BYTES = 1 << 20
_MOST_WAITING = 16  # pieces that are decompressed and not yet summed up
_LAYOUTS = {1: Struct("<8xI8s"), 2: Struct("<8xII8s"), 3: Struct("<8xQQ8s")}


class _Header(NamedTuple):
    size: int  # of the header itself
    method: Method
    length: int | None  # with the header; None in version 1, where the end of the stream decides
    content: int  # bytes of the plain bundle
    checksum: bytes


class _Md5:
    """The checksum of all pieces that it is given before it is closed. That of a large content is
    made by a thread: it takes as long as to decompress, and neither needs the interpreter."""

    def __init__(self, size: int) -> None:
        # Imported here, as is a thread's: that takes longer than to read an assembly text.
        from hashlib import md5

        self._sum = md5(usedforsecurity=False)
        self._thread: Thread | None = None
        if size >= _LARGE_BYTES:
            self._start()

    def _start(self) -> None:
        from queue import Queue
        from threading import Thread

        self._pieces: Queue[bytes] = Queue(_MOST_WAITING)
        thread = Thread(target=self._work, daemon=True)
        with suppress(RuntimeError):  # the system has no more to give
            thread.start()
            self._thread = thread

    def hear(self, piece: bytes) -> None:
        if self._thread:
            self._pieces.put(piece)
        else:
            self._sum.update(piece)

    def close(self) -> None:
        if self._thread:
            self._pieces.put(b"")
            self._thread.join()

    def begins_with(self, digest: bytes) -> bool:
        return self._sum.digest().startswith(digest)

    def _work(self) -> None:
        for piece in iter(self._pieces.get, b""):
            self._sum.update(piece)


def is_header(head: bytes) -> bool:
    """Whether these bytes, found by chance, begin one."""
    if not head.startswith(magic.COMPRESSED_BUNDLE) or len(head) < _START.size:
        return False
    _, version, method = _START.unpack_from(head)
    return version in _LAYOUTS and method < len(_METHODS)


def length_of(blob: Blob) -> int:
    """Bytes up to its end; raises `ReadError` where nothing tells."""
    header = _header(blob.data)
    if header.length is not None:
        return header.length
    packed = blob.data[header.size :]
    limit = min(header.content, blob.bounds.held_bytes(len(packed)))
    stream = Decompressed(header.method, packed, limit, blob.budget)
    while stream.read():
        pass
    return header.size + stream.consumed


def unpack(blob: Blob) -> Generator[Blob | Problem, None, int]:
    """The bundle in it; returns its compressed length. Raises `ReadError` where nothing tells
    that."""
    header = _header(blob.data)
    packed = blob.data[header.size : header.length]
    stream = held(header.method, blob, packed, header.content)
    has_checksum = header.checksum != _NO_CHECKSUM
    is_cut_off = header.length is not None and header.length > len(blob.data)
    if is_cut_off:
        message = f"compressed bundle of {header.length} bytes of which {len(blob.data)} are there"
        yield problem(blob, message)
    try:
        with closing(_Md5(header.content)) as md5:
            content = stream.read_all(md5.hear if has_checksum else None)
    except ReadError as error:
        if header.length is None:
            raise
        if not is_cut_off:
            yield problem(blob, f"compressed bundle: {error}")
        return header.length
    if not has_checksum:
        yield problem(blob, "compressed bundle without a checksum: damage would not be seen")
    elif not md5.begins_with(header.checksum):
        yield problem(blob, "damaged compressed bundle: its checksum is another; build it again")
        return header.length or header.size + stream.consumed
    if len(content) < header.content:
        message = f"{len(content)} bytes, but its header says {header.content}"
        yield problem(blob, f"compressed bundle: {message}")
    yield part(blob, "ccob", content, at=None)
    return header.length or header.size + stream.consumed


def _header(data: memoryview) -> _Header:
    if len(data) < _START.size:
        raise ReadError(_CUT_OFF)
    _, version, method = _START.unpack_from(data)
    layout = _LAYOUTS.get(version)
    if layout is None:
        raise ReadError(f"compressed bundle of version {version}; versions 1 to 3 are known")
    if len(data) < layout.size:
        raise ReadError(_CUT_OFF)
    if method >= len(_METHODS):
        raise ReadError(f"compressed bundle of method {method}; 0, zlib, and 1, zstd, are known")
    *length, content, checksum = layout.unpack_from(data)
    if length and length[0] <= layout.size:
        raise ReadError(f"damaged compressed bundle: it claims {length[0]} bytes in all")
    whole = length[0] if length else None
    return _Header(layout.size, _METHODS[method], whole, content, checksum)
