"""Reads PE images and COFF objects of x86-64 Windows: their sections with code for the device.

An image begins with MZ. At 60 it has the offset of "PE\\0\\0", and behind that an object's header:

    u16       machine
    u16       number of sections
    u32 u32   time, offset of the symbol table
    u32       number of symbols, 18 bytes each; the table of long names follows them
    u16 u16   size of the optional header behind this one, flags
    then the optional header, and for each section, 40 bytes
    8 bytes   name, or / and the decimal offset of a longer one
    u32 u32   size in memory, address
    u32 u32   size and offset of its bytes in the file

Microsoft, PE Format.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import calcsize, unpack
from struct import error as StructError
from typing import Any

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Found
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.host_binary import HostSection, parts
from kernelinfo.reading.data import Data

_SIGNATURE = b"PE\0\0"


def read(blob: Blob) -> Iterator[Found]:
    """The sections with device code, not yet unpacked. Raises `ReadError` if headers are cut
    off."""
    try:
        header = 0
        if blob.data.read(0, 2) == magic.PE:
            (header,) = _unpack("<I", blob.data, 60)
            if header + 4 > len(blob.data):
                raise StructError
            if blob.data.read(header, 4) != _SIGNATURE:  # a program for DOS
                return
            header += 4
        yield from parts(blob, list(_sections(blob.data, header)))
    except StructError:
        raise ReadError("PE or COFF file cut off within its headers; build it again") from None


def _sections(data: Data, header: int) -> Iterator[HostSection]:
    count, symbols, symbol_count, optional = _unpack("<2xH4xIIH", data, header)
    names = symbols + 18 * symbol_count
    table = header + 20 + optional
    for at in range(table, table + 40 * count, 40):
        short, in_memory, padded, offset = _unpack("<8sI4xII", data, at)
        # An image pads each section to its file alignment.
        size = min(padded, in_memory) if in_memory else padded
        if not size:
            continue
        there = offset + size <= len(data)
        name = _name(data, names, short.rstrip(b"\0"))
        bytes_of = data.part(offset, size) if there else None
        yield HostSection(name, offset, bytes_of, offset + padded)


def _unpack(layout: str, data: Data, at: int) -> tuple[Any, ...]:
    """The fields of `layout` at an offset. Raises `struct.error` if the data end before."""
    return unpack(layout, data.read(at, calcsize(layout)))


def _name(data: Data, names: int, short: bytes) -> str:
    if short[:1] == b"/" and short[1:].isdigit():
        at = names + int(short[1:])
        short = bytes(data.read(at, bounds.LONGEST_NAME)).partition(b"\0")[0]
    return short.decode("utf-8", "backslashreplace")
