"""Reads AKS2, AOTriton's packs of compiled kernels.

    4 bytes  AKS2
    u32      bytes after the header, decompressed
    u32      number of kernels
    u32      bytes of the directory, decompressed
    and one xz stream of the directory and the images; the directory has for each kernel
    u32 u32  LDS in bytes, threads per workgroup
    u32 u32  offset of its image after the directory, and size: 0 if it did not compile
    u32      length of its name with the final NUL, and the name

All LDS is sized at launch, so that the code object does not state it. LDS and threads come from
Triton's JSON file; both are 0 if that was missing. aotriton, python/aks2.py,
v3src/packed_kernel_common.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import bounds
from kernelinfo.reading.containers.parts import Room, fields, part, problem
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.messages import say

_HEADER = Struct("<4xIII")
_ENTRY = Struct("<IIIII")


def read(blob: Blob) -> Iterator[Blob | Problem]:
    """The image of each compiled kernel, with LDS and threads of its launch."""
    size, count, directory = fields(_HEADER, blob.data, say("aks2-cut-off"))
    try:
        content = held("xz", blob, blob.data.part(_HEADER.size), size).read_all()
        if len(content) != size:
            raise ReadError(say("aks2-size", size=len(content), stated=size))
        entries = _entries(content, count, directory)
    except ReadError as error:
        raise ReadError(say("aks2-damaged", error=error)) from error
    room = Room(len(content))
    for lds_bytes, threads, offset, image_size, name in entries:
        start = directory + offset
        image = content[start : start + image_size]
        if not room.take(len(image)) or len(image) < image_size:
            yield problem(blob, say("aks2-image-outside"), offset=None, member=name)
        elif image:
            workgroup = (threads, 1, 1) if threads else None
            launch = Numbers(dynamic_lds_bytes=lds_bytes, required_workgroup=workgroup)
            if not (lds_bytes or threads):
                launch = Numbers(dynamic_lds=True)
            kernel = part(blob, "aks2", Data.of(image), offset=None, member=name)
            yield kernel._replace(launch=launch)


def _entries(content: memoryview, count: int, size: int) -> list[tuple[int, int, int, int, str]]:
    """(LDS in bytes, threads, offset after the directory, bytes, name) of each image.

    Raises `ReadError` if the entries do not fill the directory exactly."""
    if size > min(len(content), bounds.AKS2_DIRECTORY_BYTES) or count * _ENTRY.size > size:
        raise ReadError(say("aks2-directory-small", count=count, size=size))
    entries, position = [], 0
    for _ in range(count):
        if position + _ENTRY.size > size:
            raise ReadError(say("aks2-directory-short"))
        lds_bytes, threads, offset, image, length = _ENTRY.unpack_from(content, position)
        position += _ENTRY.size + length
        name = decode(bytes(content[position - length : position]).rstrip(b"\0"))
        entries.append((lds_bytes, threads, offset, image, name))
    if position != size:
        raise ReadError(say("aks2-directory-long", at=position, size=size))
    return entries
