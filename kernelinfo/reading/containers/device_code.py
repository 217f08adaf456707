"""Reads packs of code for devices: clang's bundles, LLVM's OffloadBinary, AOTriton's AKS2; reports
bitcode and SPIR-V, which have no registers yet.

Bundles, one code object per target, alone or in the runs of `.hip_fatbin`:

    24 bytes  __CLANG_OFFLOAD_BUNDLE__
    u64       number of entries
    and for each entry
    u64 u64   offset from the magic, and size, of its bytes
    u64       length of its id, which follows: hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+

clang/lib/Driver/OffloadBundler.cpp, BinaryFileHandler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import md5
from queue import Queue
from struct import Struct
from threading import Thread
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, FileBudget, Problem, SpirV
from kernelinfo.reading.containers import formats
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.messages import say

# Reads CCOB, clang's compressed offload bundles: one plain bundle as a zlib or zstd stream.
#
#     4 bytes   CCOB
#     u16       version: 1, 2 or 3
#     u16       method: 0 zlib, 1 zstd
#     u32, u64  length with the header; only in versions 2 (u32) and 3 (u64)
#     u32, u64  size of the plain bundle: u64 in version 3
#     8 bytes   start of its MD5 sum; zeros without a checksum
#
# clang/lib/Driver/OffloadBundler.cpp, CompressedOffloadBundle; llvm/lib/Object/OffloadBundle.cpp.

_CCOB_START = Struct("<4sHH")
_CCOB_METHODS: tuple[formats.Method, ...] = ("zlib", "zstd")
_CCOB_CUT_OFF = say("ccob-cut-off")
_LARGE_BYTES = 1 << 20
_MOST_WAITING = 16  # decompressed pieces in the checksum's queue
_CCOB_LAYOUTS = {1: Struct("<8xI8s"), 2: Struct("<8xII8s"), 3: Struct("<8xQQ8s")}


class _CcobHeader(NamedTuple):
    size: int  # bytes of the header itself
    method: formats.Method
    length: int | None  # bytes with the header; None in version 1: the stream's end decides
    content: int  # bytes of the plain bundle
    checksum: bytes


@contextmanager
def _in_thread(update: Callable[[bytes], object]) -> Iterator[Callable[[bytes], object]]:
    """A function that passes pieces to `update` in a thread of its own.

    The checksum takes as long as decompression, and neither needs the interpreter lock."""
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


def _length_of_ccob(blob: Blob) -> int:
    """The size of the compressed bundle in bytes, header included. Raises `ReadError` if the length
    cannot be found."""
    header = _ccob_header(blob.data)
    if header.length is not None:
        return header.length
    stream = held(header.method, blob, blob.data.part(header.size), header.content)
    while stream.read():
        pass
    return header.size + stream.consumed


def _unpack_ccob(blob: Blob) -> Generator[Blob | Problem, None, int]:
    """Yields the plain bundle and problems; returns the compressed length in bytes.

    Raises `ReadError` if the length cannot be found."""
    header = _ccob_header(blob.data)
    packed = blob.data.part(header.size, (header.length or len(blob.data)) - header.size)
    stream = held(header.method, blob, packed, header.content)
    has_checksum = any(header.checksum)
    is_cut_off = header.length is not None and header.length > len(blob.data)
    if is_cut_off:
        yield formats.problem(
            blob, say("ccob-incomplete", length=header.length, size=len(blob.data))
        )
    summed, is_large = md5(usedforsecurity=False), header.content >= _LARGE_BYTES
    try:
        with _in_thread(summed.update) if is_large else nullcontext(summed.update) as update:
            content = stream.read_all(update if has_checksum else None)
    except ReadError as error:
        if header.length is None:
            raise
        if not is_cut_off:
            yield formats.problem(blob, say("ccob-damaged", reason=error.message))
        return header.length
    end = header.length or header.size + stream.consumed
    if not has_checksum:
        yield formats.problem(blob, say("ccob-without-checksum"))
    elif not summed.digest().startswith(header.checksum):
        yield formats.problem(blob, say("ccob-checksum"))
        return end
    if len(content) < header.content:
        yield formats.problem(blob, say("ccob-short", size=len(content), stated=header.content))
    yield formats.part(blob, "ccob", Data.of(content), offset=None)
    return end


def _ccob_header(data: Data) -> _CcobHeader:
    _, version, method = formats.fields(_CCOB_START, data, _CCOB_CUT_OFF)
    layout = _CCOB_LAYOUTS.get(version)
    if layout is None:
        raise ReadError(say("ccob-version", version=version))
    *length, content, checksum = formats.fields(layout, data, _CCOB_CUT_OFF)
    if method >= len(_CCOB_METHODS):
        raise ReadError(say("ccob-method", method=method))
    if length and length[0] <= layout.size:
        raise ReadError(say("ccob-length", length=length[0]))
    whole = length[0] if length else None
    return _CcobHeader(layout.size, _CCOB_METHODS[method], whole, content, checksum)


BUNDLE_MAGICS = (formats.BUNDLE, formats.COMPRESSED_BUNDLE + rb"[\1-\3]\0[\0\1]\0")
"""Patterns of a plain bundle, and of a compressed one with an existing version and method."""
BUNDLE_START = re.compile(b"|".join(BUNDLE_MAGICS))
_BUNDLE_COUNT = Struct("<24xQ")
_BUNDLE_ENTRY = Struct("<QQQ")
_BUNDLE_CUT_OFF = say("bundle-cut-off")
_NOT_FOR_AMD = re.compile(r"host|[^-]*-nvptx|sycl-(?!.*amd)")


def read_bundle(blob: Blob) -> Iterator[Blob | Problem]:
    """Entries and problems of one bundle, or of several with zeros between them.

    A bundle states its own length. After a damaged one the reader searches for the next magic. All
    plain bundles share one budget of bytes: otherwise a bundle that claims the bytes after it would
    repeat them."""
    offset: int | None = 0
    damaged = 0
    room = formats.contents_budget(len(blob.data))
    while offset is not None:
        following = formats.rest(blob, offset)
        head = bytes(following.data.read(0, formats.HEAD_BYTES))
        try:
            if head.startswith(formats.COMPRESSED_BUNDLE):
                length = yield from _unpack_ccob(following)
            elif formats.is_bundle(head):
                length = yield from _unbundle(following, room)
            else:
                length = _next_bundle(blob.data, offset) - offset
                yield formats.problem(following, say("bundle-followed", length=length))
        except ReadError as error:
            yield formats.problem(following, error.message)
            damaged += 1
            if damaged == formats.MOST_DAMAGED:
                return
            length = len(following.data) + 1
        if length > len(following.data):
            length = _next_bundle(blob.data, offset + 1) - offset
        offset = formats.after_zeros(blob.data, offset + length)


def _next_bundle(data: Data, offset: int) -> int:
    """Offset of the next bundle from `offset` on, or the end of the data."""
    start = data.search(BUNDLE_START, offset)
    return len(data) if start is None else start


def is_for_amd(id: str) -> bool:
    """True if the entry with this id is, or may be, for AMD GPUs."""
    return _NOT_FOR_AMD.match(id) is None


def length_of_bundle(blob: Blob) -> int:
    """The size of the first bundle in bytes. Raises `ReadError` if it is damaged."""
    if blob.data.read(0, 4) == formats.COMPRESSED_BUNDLE:
        return _length_of_ccob(blob)
    return _bundle_entries(blob)[2]


def _unbundle(blob: Blob, room: FileBudget) -> Generator[Blob | Problem, None, int]:
    """Yields the entries for the device; returns the bundle's length in bytes."""
    entries, header, length = _bundle_entries(blob)
    size = min(length, len(blob.data))
    if not entries:
        yield formats.problem(blob, say("bundle-empty"))
    if repeated := len(entries) - len({id for id, _, _ in entries}):
        yield formats.problem(blob, say("bundle-id-repeated", repeated=repeated))
    for id, offset, entry_size in entries:
        if not is_for_amd(id) or not entry_size:
            continue
        inside = blob.data.part(offset, min(entry_size, size - offset) if offset >= header else 0)
        if len(inside) < entry_size:
            yield formats.problem(
                blob, say("bundle-entry-outside", size=size), offset=offset, member=id
            )
        if not room.take_bytes(len(inside)):
            yield formats.problem(blob, say("bundle-bytes-repeated"), offset=offset, member=id)
            break
        if inside:
            yield formats.part(blob, "bundle", inside, offset=offset, member=id)
    return length


def _bundle_entries(blob: Blob) -> tuple[list[tuple[str, int, int]], int, int]:
    """([(id, offset, bytes) of each entry], bytes of the header, bytes of the bundle).

    Raises `ReadError` if it is damaged."""
    data = blob.data
    (count,) = formats.fields(_BUNDLE_COUNT, data, _BUNDLE_CUT_OFF)
    if count > blob.bounds.entries:
        damaged = say("bundle-damaged", count=count)
        raise ReadError(
            damaged if _BUNDLE_ENTRY.size * count > len(data) else blob.bounds.too_many(count)
        )
    position = _BUNDLE_COUNT.size
    entries = []
    for _ in range(count):
        offset, size, id_size = formats.fields(_BUNDLE_ENTRY, data, _BUNDLE_CUT_OFF, position)
        position += _BUNDLE_ENTRY.size + id_size
        if id_size > formats.LONGEST_NAME or position > len(data):
            raise ReadError(say("bundle-id-long", size=id_size))
        id = decode(bytes(data.read(position - id_size, id_size)))
        entries.append((id, offset, size))
    return entries, position, max([position, *(offset + size for _, offset, size in entries)])


# Reads LLVM's OffloadBinary: images with strings that name their device.
#
#     4 bytes   10 ff 10 ad
#     u32       version: 1 or 2
#     u64       size of the OffloadBinary; another one may follow
#     u64       offset of the entries
#     u64       size of the one entry (version 1) or number of entries (version 2)
#     and each entry
#     u16 u16   image kind, offload kind
#     u32       flags
#     u64 u64   offset and number of its strings
#     u64 u64   offset and size of its image
#     and each string
#     u64 u64   offsets of key and value, which end with NUL; version 2 adds the value's size
#
# llvm/include/llvm/Object/OffloadBinary.h; version 2 came with LLVM 23. The kinds are not reliable:
# HIP's number changed after LLVM 19, and the image kind is 0 for unknown file name endings.

_OFFLOAD_HEADER = Struct("<4xIQQQ")
_OFFLOAD_ENTRY = Struct("<8xQQQQ")
_OFFLOAD_CUT_OFF = say("offload-binary-cut-off")
_OFFLOAD_STRINGS = {1: Struct("<QQ"), 2: Struct("<QQ8x")}


def read_offload_binary(blob: Blob) -> Iterator[Blob | Problem]:
    """Images and problems of one OffloadBinary, or of several in a row."""
    offset: int | None = 0
    while offset is not None:
        following = formats.rest(blob, offset)
        try:
            length = yield from _unpack_offload_binary(following)
        except ReadError as error:
            yield formats.problem(following, error.message)
            return
        offset = formats.after_zeros(blob.data, offset + length)


def _unpack_offload_binary(blob: Blob) -> Generator[Blob | Problem, None, int]:
    if not formats.is_offload_binary(bytes(blob.data.read(0, 4))):
        raise ReadError(say("offload-binary-followed", size=len(blob.data)))
    version, length, table, count = formats.fields(_OFFLOAD_HEADER, blob.data, _OFFLOAD_CUT_OFF)
    if version not in _OFFLOAD_STRINGS:
        raise ReadError(say("offload-binary-version", version=version))
    if version == 1:
        count = 1
    if not _OFFLOAD_HEADER.size <= length <= len(blob.data) or 40 * count > length:
        size = len(blob.data)
        raise ReadError(say("offload-binary-damaged", length=length, size=size, count=count))
    if count > blob.bounds.entries:
        raise ReadError(blob.bounds.too_many(count))
    data = blob.data.part(0, length)
    room = formats.contents_budget(length)
    for index in range(count):
        row = table + index * _OFFLOAD_ENTRY.size
        strings_at, strings, offset, size = formats.fields(
            _OFFLOAD_ENTRY, data, _OFFLOAD_CUT_OFF, row
        )
        try:
            strings_of = dict(_strings(data, version, strings_at, strings))
        except ReadError:
            yield formats.problem(blob, say("offload-binary-strings-outside"), offset=strings_at)
            strings_of = {}
        triple = strings_of.get("triple", "")
        if triple and "amd" not in triple:
            continue
        member = "--".join(word for word in (triple, strings_of.get("arch", "")) if word) or None
        image = data.part(offset, size)
        if len(image) < size:
            message = say("offload-binary-image-outside", size=size, length=length)
            yield formats.problem(blob, message, offset=offset, member=member)
        if not room.take_bytes(len(image)):
            yield formats.problem(
                blob, say("offload-binary-bytes-repeated"), offset=offset, member=member
            )
            break
        if image:
            yield formats.part(blob, "offload-binary", image, offset=offset, member=member)
    return int(length)


def _strings(data: Data, version: int, table: int, count: int) -> Iterator[tuple[str, str]]:
    if count > formats.MOST_STRINGS:
        raise ReadError(say("offload-binary-strings-many", count=count))
    layout = _OFFLOAD_STRINGS[version]
    for index in range(count):
        key, value = formats.fields(layout, data, _OFFLOAD_CUT_OFF, table + index * layout.size)
        yield _string(data, key), _string(data, value)


def _string(data: Data, offset: int) -> str:
    text, end, _ = bytes(data.read(offset, formats.LONGEST_NAME)).partition(b"\0")
    if not end:
        raise ReadError(say("offload-binary-string-endless"))
    return decode(text)


# Reads AKS2, AOTriton's packs of compiled kernels.
#
#     4 bytes  AKS2
#     u32      bytes after the header, decompressed
#     u32      number of kernels
#     u32      bytes of the directory, decompressed
#     and one xz stream of the directory and the images; the directory has for each kernel
#     u32 u32  LDS in bytes, threads per workgroup
#     u32 u32  offset of its image after the directory, and size: 0 if it did not compile
#     u32      length of its name with the final NUL, and the name
#
# All LDS is sized at launch, so that the code object does not state it. LDS and threads come from
# Triton's JSON file; both are 0 if that was missing. aotriton, python/aks2.py,
# v3src/packed_kernel_common.cc.

_AKS2_HEADER = Struct("<4xIII")
_AKS2_ENTRY = Struct("<IIIII")


def read_aks2(blob: Blob) -> Iterator[Blob | Problem]:
    """The image of each compiled kernel, with the LDS and the threads of its launch."""
    size, count, directory = formats.fields(_AKS2_HEADER, blob.data, say("aks2-cut-off"))
    try:
        content = held("xz", blob, blob.data.part(_AKS2_HEADER.size), size).read_all()
        if len(content) != size:
            raise ReadError(say("aks2-size", size=len(content), stated=size))
        entries = _aks2_entries(content, count, directory)
    except ReadError as error:
        raise ReadError(say("aks2-damaged", error=error)) from error
    room = formats.contents_budget(len(content))
    for lds_bytes, threads, offset, image_size, name in entries:
        start = directory + offset
        image = content[start : start + image_size]
        if not room.take_bytes(len(image)) or len(image) < image_size:
            yield formats.problem(blob, say("aks2-image-outside"), offset=None, member=name)
        elif image:
            workgroup = (threads, 1, 1) if threads else None
            launch = Numbers(dynamic_lds_bytes=lds_bytes, required_workgroup=workgroup)
            if not (lds_bytes or threads):
                launch = Numbers(dynamic_lds=True)
            kernel = formats.part(blob, "aks2", Data.of(image), offset=None, member=name)
            yield kernel._replace(launch=launch)


def _aks2_entries(
    content: memoryview, count: int, size: int
) -> list[tuple[int, int, int, int, str]]:
    """(LDS in bytes, threads, offset after the directory, bytes, name) of each image.

    Raises `ReadError` if the entries do not fill the directory exactly."""
    if size > min(len(content), formats.AKS2_DIRECTORY_BYTES) or count * _AKS2_ENTRY.size > size:
        raise ReadError(say("aks2-directory-small", count=count, size=size))
    entries, position = [], 0
    for _ in range(count):
        if position + _AKS2_ENTRY.size > size:
            raise ReadError(say("aks2-directory-short"))
        lds_bytes, threads, offset, image, length = _AKS2_ENTRY.unpack_from(content, position)
        position += _AKS2_ENTRY.size + length
        name = decode(bytes(content[position - length : position]).rstrip(b"\0"))
        entries.append((lds_bytes, threads, offset, image, name))
    if position != size:
        raise ReadError(say("aks2-directory-long", at=position, size=size))
    return entries


# Reports LLVM bitcode and SPIR-V: code without registers yet.


def read_bitcode(blob: Blob) -> Iterator[Problem | SpirV]:
    """The SPIR-V; for other bitcode, a problem that says what it is and which file to give
    instead."""
    if blob.data.read(0, len(formats.SPIRV)) == formats.SPIRV:
        yield SpirV(blob.path, blob.member, blob.containers, blob)
        return
    mend = "" if blob.containers else say("bitcode-mend")
    yield formats.problem(blob, say("bitcode", mend=mend))
