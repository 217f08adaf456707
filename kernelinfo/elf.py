"""The ELF container: header, sections and segments, each table read on its own.

pyelftools knows the layouts. Its `ELFFile` gives a file up when one table is damaged; here every
table that lies within the file is read, so that segments stand in for sections and the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from elftools.construct import ConstructError
from elftools.elf.structs import ELFStructs

from kernelinfo.errors import ReadError
from kernelinfo.model import Remark

# The only kind there is for AMD GPUs and for the hosts that drive them: 64 bits, little endian.
_IDENT = b"\x7fELF\x02\x01"
# Bytes; the longest mangled names of template libraries have some tens of thousands.
_LONGEST_NAME = 1 << 16


class Section(NamedTuple):
    """One section header; offset and size in bytes."""

    name: str
    """Empty where the names cannot be read."""
    type: str | int
    """pyelftools' word for it, such as `SHT_NOTE`, or the number where it has none."""
    address: int
    offset: int
    size: int
    link: int
    """Index of the section with the strings, for a symbol table."""


class Segment(NamedTuple):
    """One program header; offset and size in bytes."""

    type: str | int
    """As for sections: `PT_LOAD`."""
    address: int
    offset: int
    size: int
    """In the file; more in memory is zeros."""


@dataclass(frozen=True, slots=True)
class Elf:
    """One ELF file; a table that cannot be read is empty."""

    data: memoryview
    type: str | int
    """`ET_DYN`, `ET_REL`, `ET_EXEC`, or a number."""
    machine: str | int
    """`EM_AMDGPU` for code objects, else the host's."""
    os_abi: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    loaded: tuple[Segment | Section, ...]
    """Those that have addresses, and bytes in the file."""

    def bytes_at(self, offset: int, size: int) -> memoryview | None:
        """`size` bytes, or None where the file has not so many there."""
        if offset < 0 or size < 0 or offset + size > len(self.data):
            return None
        return self.data[offset : offset + size]

    def bytes_of(self, section: Section) -> memoryview | None:
        """A section's bytes; None where it has none in this file."""
        if section.type == "SHT_NOBITS":
            return None
        return self.bytes_at(section.offset, section.size)

    def offset_of(self, address: int) -> int | None:
        """Where a loaded address lies in the file; None where nothing of the file is loaded there.

        By the segments, and by the sections where there are none.
        """
        for part in self.loaded:
            if part.address <= address < part.address + part.size:
                offset = part.offset + address - part.address
                return offset if offset < len(self.data) else None
        return None


def read_elf(data: memoryview, remarks: list[Remark]) -> Elf:
    """The header and both tables; what is wrong with a table is added to `remarks`.

    Raises `ReadError` where not even the header is one of a 64-bit little-endian ELF file.
    """
    layouts = _layouts()
    ident = bytes(data[: len(_IDENT)])
    if ident != _IDENT[: len(ident)]:
        raise ReadError("not a 64-bit little-endian ELF file; AMD GPU code comes in no other")
    if len(data) < layouts.Elf_Ehdr.sizeof():
        raise ReadError(f"ELF file cut off after {len(data)} bytes, within its header; rebuild it")
    try:
        header = layouts.Elf_Ehdr.parse(bytes(data[: layouts.Elf_Ehdr.sizeof()]))
    except ConstructError as error:
        raise ReadError(f"damaged ELF header ({error}); rebuild the file") from error
    sections = _sections(data, header, remarks)
    segments = _segments(data, header, remarks)
    loaded: Iterator[Segment | Section] = (s for s in segments if s.type == "PT_LOAD")
    if not segments:
        loaded = (s for s in sections if s.address and s.type != "SHT_NOBITS")
    return Elf(
        data=data,
        type=header.e_type,
        machine=header.e_machine,
        os_abi=data[7],
        abi_version=data[8],
        flags=header.e_flags,
        sections=sections,
        segments=segments,
        loaded=tuple(loaded),
    )


@cache
def _layouts() -> Any:
    layouts = ELFStructs(little_endian=True, elfclass=64)
    layouts.create_basic_structs()
    layouts.create_advanced_structs()
    return layouts


def _rows(
    data: memoryview, layout: Any, offset: int, size: int, count: int, remarks: list[Remark]
) -> list[Any]:
    """The rows of a header table; none where it does not lie within the file."""
    if size != layout.sizeof() or offset + size * count > len(data):
        message = f"{count} headers of {size} bytes at {offset}, in a file of {len(data)} bytes"
        remarks.append(Remark(f"{message}: not read", offset=offset))
        return []
    starts = range(offset, offset + size * count, size)
    return [layout.parse(bytes(data[start : start + size])) for start in starts]


def _segments(data: memoryview, header: Any, remarks: list[Remark]) -> tuple[Segment, ...]:
    offset, size, count = header.e_phoff, header.e_phentsize, header.e_phnum
    if not offset:
        return ()
    rows = _rows(data, _layouts().Elf_Phdr, offset, size, count, remarks)
    return tuple(Segment(row.p_type, row.p_vaddr, row.p_offset, row.p_filesz) for row in rows)


def _sections(data: memoryview, header: Any, remarks: list[Remark]) -> tuple[Section, ...]:
    offset, count, names_at = header.e_shoff, header.e_shnum, header.e_shstrndx
    if not offset:
        return ()
    layout, size = _layouts().Elf_Shdr, header.e_shentsize
    if not count:
        # More sections than 16 bits can count: the first, which is none, holds the numbers.
        for row in _rows(data, layout, offset, size, 1, remarks):
            count, names_at = row.sh_size, row.sh_link
    headers = _rows(data, layout, offset, size, count, remarks)
    names = b""
    for row in headers[names_at : names_at + 1]:
        if row.sh_offset + row.sh_size <= len(data):
            names = bytes(data[row.sh_offset : row.sh_offset + row.sh_size])
    if headers and not names:
        remarks.append(Remark("section names cannot be read", offset=offset))
    return tuple(
        Section(
            name=string_at(names, row.sh_name) or "",
            type=row.sh_type,
            address=row.sh_addr,
            offset=row.sh_offset,
            size=row.sh_size,
            link=row.sh_link,
        )
        for row in headers
    )


def string_at(strings: bytes, start: int) -> str | None:
    """The NUL-terminated string that starts there; None where none of sane length does."""
    end = strings.find(b"\0", start, start + _LONGEST_NAME)
    return None if end < 0 else strings[start:end].decode("utf-8", "backslashreplace")
