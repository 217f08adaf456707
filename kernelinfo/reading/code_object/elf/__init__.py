"""The ELF container: 64 bits, little endian; damaged tables do not hide the others."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.errors import ReadError
from kernelinfo.reading.code_object.elf import plain
from kernelinfo.reading.code_object.elf.container import Elf, Section, Segment, string_at
from kernelinfo.reading.facts import Remark

__all__ = ["Elf", "Section", "Segment", "read_elf", "string_at"]

# The only kind there is for AMD GPUs and for the hosts that drive them.
_IDENT = b"\x7fELF\x02\x01"


def read_elf(data: memoryview, remarks: list[Remark]) -> Elf:
    """The header and both tables; what is wrong with a table is added to `remarks`.

    Raises `ReadError` where not even the header is one of a 64-bit little-endian ELF file.
    """
    ident = bytes(data[: len(_IDENT)])
    if ident != _IDENT[: len(ident)]:
        raise ReadError("not a 64-bit little-endian ELF file; AMD GPU code comes in no other")
    tables = plain.read_tables(data)
    if tables is None:
        from kernelinfo.reading.code_object.elf import reference

        tables = reference.read_tables(data, remarks)
    header, sections, segments = tables
    loaded: Iterator[Segment | Section] = (s for s in segments if s.type == "PT_LOAD")
    if not segments:
        loaded = (s for s in sections if s.address and s.type != "SHT_NOBITS")
    return Elf(
        data=data,
        type=header.type,
        machine=header.machine,
        os_abi=data[7],
        abi_version=data[8],
        flags=header.flags,
        sections=sections,
        segments=segments,
        loaded=tuple(loaded),
    )
