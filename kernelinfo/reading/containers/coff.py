"""Reads PE images and COFF objects of x86-64 Windows: their sections with code for the device.

An image begins with MZ. At 60 it has the offset of "PE\\0\\0", and after that an object's header:

    u16       machine
    u16       number of sections
    u32 u32   time, offset of the symbol table
    u32       number of symbols, 18 bytes each; the table of long names follows them
    u16 u16   size of the optional header after this one, flags
    then the optional header, and for each section, 40 bytes
    8 bytes   name, or / and the decimal offset of a longer one
    u32 u32   size in memory, address
    u32 u32   size and offset of its bytes in the file

Microsoft, PE Format.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kernelinfo.reading.blob import Blob, Found
from kernelinfo.reading.containers import bounds, magic
from kernelinfo.reading.containers.host_binary import HostSection, parts
from kernelinfo.reading.containers.parts import fields
from kernelinfo.reading.data import Data, decode
from kernelinfo.reading.messages import say

_SIGNATURE = b"PE\0\0"
_OFFSET, _MAGIC = Struct("<I"), Struct("4s")
_HEADER = Struct("<2xH4xIIH")
_SECTION = Struct("<8sI4xII")
_CUT_OFF = say("coff-cut-off")


def read(blob: Blob) -> Iterator[Found]:
    """The sections with device code, not yet unpacked. Raises `ReadError` if headers are cut
    off."""
    header = 0
    if blob.data.read(0, 2) == magic.PE:
        (start,) = fields(_OFFSET, blob.data, _CUT_OFF, 60)
        (signature,) = fields(_MAGIC, blob.data, _CUT_OFF, start)
        if signature != _SIGNATURE:  # a program for DOS
            return
        header = start + len(signature)
    yield from parts(blob, _sections(blob.data, header))


def _sections(data: Data, header: int) -> Iterator[HostSection]:
    count, symbols, symbol_count, optional = fields(_HEADER, data, _CUT_OFF, header)
    names = symbols + 18 * symbol_count
    table = header + 20 + optional
    for row in range(table, table + 40 * count, 40):
        short, in_memory, padded, offset = fields(_SECTION, data, _CUT_OFF, row)
        # An image pads each section to its file alignment.
        size = min(padded, in_memory) if in_memory else padded
        if not size:
            continue
        there = offset + size <= len(data)
        name = _name(data, names, short.rstrip(b"\0"))
        bytes_of = data.part(offset, size) if there else None
        yield HostSection(name, offset, bytes_of, offset + padded)


def _name(data: Data, names: int, short: bytes) -> str:
    if short[:1] == b"/" and short[1:].isdigit():
        start = names + int(short[1:])
        short = bytes(data.read(start, bounds.LONGEST_NAME)).partition(b"\0")[0]
    return decode(short)
