"""ELF header, sections and segments of a file for an AMD GPU or its host (64-bit little-endian).

A damaged table costs only itself. pyelftools lays the rows out, but its own walk is not used: one
damaged table ends it, and it takes 2.6 ms for a code object of 23 sections; this takes 0.03 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from struct import Struct, calcsize
from typing import Any, NamedTuple

from elftools.elf.structs import ELFStructs

from kernelinfo.errors import ReadError
from kernelinfo.reading.data import Data
from kernelinfo.reading.facts import ReadWarning
from kernelinfo.reading.messages import say

ET_REL = 1
EM_AMDGPU = 224
SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 1, 2, 4, 7, 8, 11
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4  # numbers of the gABI, and of LLVM's BinaryFormat/ELF.h

_COMPRESSED = 0x800  # SHF_COMPRESSED
_IDENT = b"\x7fELF\x02\x01"
LONGEST_NAME = 1 << 16
"""Bytes; the longest mangled names of template libraries have some tens of thousands."""


def lay_out(row: Any, *fields: str) -> Struct:
    """The layout of some fields of a pyelftools table `row`, in the order of the row."""
    parts = ["<"]
    for field in row.subcons:
        form = _format(field)
        parts.append(form if field.name in fields else f"{calcsize(f'<{form}')}x")
    return Struct("".join(parts))


def _format(field: Any) -> str:
    """`struct` format of a field of pyelftools; empty for a computed value without bytes."""
    while not hasattr(field, "packer"):
        if hasattr(field, "subcons"):
            return f"{field.sizeof()}x"
        if not hasattr(field, "subcon"):
            return ""
        field = field.subcon
    return str(field.packer.format).removeprefix("<")


STRUCTS = ELFStructs(little_endian=True, elfclass=64)
"""pyelftools' layouts, made once: making them takes as long as reading a code object."""
STRUCTS.create_basic_structs()
STRUCTS.create_advanced_structs()

_HEADER = lay_out(
    STRUCTS.Elf_Ehdr,
    *("e_type", "e_machine", "e_phoff", "e_shoff", "e_flags"),
    *("e_phentsize", "e_phnum", "e_shentsize", "e_shnum", "e_shstrndx"),
)
_SECTION = lay_out(
    STRUCTS.Elf_Shdr,
    *("sh_name", "sh_type", "sh_flags", "sh_addr", "sh_offset", "sh_size"),
    *("sh_link", "sh_info", "sh_entsize"),
)
_SEGMENT = lay_out(STRUCTS.Elf_Phdr, "p_type", "p_offset", "p_vaddr", "p_filesz")


class Section(NamedTuple):
    """One section header; address, offset and sizes in bytes."""

    name: str
    """Empty if the names cannot be read."""
    type: int
    address: int
    offset: int
    size: int
    link: int
    """Index of the section with a symbol table's strings or a relocation table's symbols."""
    info: int
    """Index of the section to which a relocation table applies."""
    entry_size: int
    """Bytes of one row of a table; 0 for other sections."""
    is_compressed: bool


class Segment(NamedTuple):
    """One program header; address, offset and size in bytes."""

    type: int
    offset: int
    address: int
    size: int  # in the file; in memory zeros may follow


class Elf(NamedTuple):
    """One ELF file; a table that cannot be read is empty."""

    data: Data
    type: int
    machine: int
    os_abi: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    loaded: tuple[Segment | Section, ...]  # with an address and with bytes in the file
    spans: tuple[tuple[int, int, int], ...]
    """(begin, end, file offset minus address) of each loaded part."""

    def bytes_at(self, offset: int, size: int) -> memoryview | None:
        """`size` bytes from `offset` on; None if the file ends earlier."""
        if offset < 0 or size < 0 or offset + size > len(self.data):
            return None
        return self.data.read(offset, size)

    def bytes_of(self, section: Section) -> memoryview | None:
        """The bytes of a section; None if the file does not contain them."""
        if section.type == SHT_NOBITS:
            return None
        return self.bytes_at(section.offset, section.size)

    def data_of(self, section: Section) -> Data | None:
        """A section as data, not read yet; None if the file does not contain its bytes."""
        if section.type == SHT_NOBITS or section.offset + section.size > len(self.data):
            return None
        return self.data.part(section.offset, section.size)

    def offset_of(self, address: int) -> int | None:
        """File offset of a loaded address, in bytes; None if the file has no byte for it.

        Looked up in the load segments, or in the sections of a file without segments.
        """
        for begin, end, shift in self.spans:
            if begin <= address < end:
                return address + shift if address + shift < len(self.data) else None
        return None

    def has_overlaps(self) -> bool:
        """True if two load segments overlap in addresses."""
        loads = sorted((s.address, s.address + s.size) for s in self.segments if s.type == PT_LOAD)
        return any(start < end for (_, end), (start, _) in pairwise(loads))


def read_elf(data: Data, warnings: list[ReadWarning]) -> Elf:
    """Header, sections and segments of an ELF file; a damaged table adds to `warnings`.

    Raises `ReadError` if the header is not that of a 64-bit little-endian ELF file.
    """
    start = data.read(0, _HEADER.size)
    ident = bytes(start[: len(_IDENT)])
    if ident != _IDENT[: len(ident)]:
        raise ReadError(say("elf-not-64-bit"))
    if len(data) < _HEADER.size:
        raise ReadError(say("elf-cut-off", size=len(data)))
    kind, machine, segments_at, sections_at, flags, *counts = _HEADER.unpack(start)
    segment_size, segment_count, section_size, section_count, names_at = counts
    sections = _sections(data, sections_at, section_size, section_count, names_at, warnings)
    rows = _rows(data, _SEGMENT, segments_at, segment_size, segment_count, warnings)
    segments = tuple([Segment(*row) for row in rows])
    loaded: list[Segment | Section] = [s for s in segments if s.type == PT_LOAD]
    if not segments:
        loaded = [s for s in sections if s.address and s.type != SHT_NOBITS]
    os_abi, abi, loads = start[7], start[8], tuple(loaded)
    spans = tuple([(s.address, s.address + s.size, s.offset - s.address) for s in loads])
    return Elf(data, kind, machine, os_abi, abi, flags, sections, segments, loads, spans)


def _rows(
    data: Data, row: Struct, offset: int, size: int, count: int, warnings: list[ReadWarning]
) -> list[tuple[int, ...]]:
    """Rows of a header table; empty without a table. Empty, with a warning, if the table is not
    whole or its rows have another size."""
    if not offset:
        return []
    if size != row.size or offset + size * count > len(data):
        message = say("elf-headers-outside", count=count, size=size, at=offset, file_size=len(data))
        warnings.append(ReadWarning(message, offset=offset))
        return []
    return list(row.iter_unpack(data.read(offset, size * count)))


def _sections(
    data: Data, offset: int, size: int, count: int, names_at: int, warnings: list[ReadWarning]
) -> tuple[Section, ...]:
    if not count:
        # More sections than 16 bits can count: the unused first header holds both numbers.
        for row in _rows(data, _SECTION, offset, size, 1, warnings):
            count, names_at = row[5], row[6]  # sh_size and sh_link
    rows = _rows(data, _SECTION, offset, size, count, warnings)
    strings = b""
    for row in rows[names_at : names_at + 1]:
        _, _, _, _, start, strings_size, *_ = row
        if start + strings_size <= len(data):
            strings = bytes(data.read(start, strings_size))
    if rows and not strings:
        warnings.append(ReadWarning(say("elf-names-unreadable"), offset=offset))
    sections = []
    for name_at, kind, flags, address, start, size, link, info, row_size in rows:
        name = string_at(strings, name_at) or ""
        is_compressed = bool(flags & _COMPRESSED)
        fields = name, kind, address, start, size, link, info, row_size, is_compressed
        sections.append(Section(*fields))
    return tuple(sections)


def string_at(strings: bytes, start: int) -> str | None:
    """NUL-terminated string from `start` on; None without a NUL in the next 64 KiB."""
    end = strings.find(b"\0", start, start + LONGEST_NAME)
    return None if end < 0 else strings[start:end].decode("utf-8", "backslashreplace")


# Debug sections of objects before linking; every section gets its own addresses. LLVM's
# AMDGPUUsage, "Relocation Records"; debug information needs two kinds of them.

RELA = Struct("<QQq")
_SYMBOL_SECTION_AND_VALUE = Struct("<6xHQ")
SYMBOL_BYTES = 24
_RELOCATED_BYTES = {3: 8, 6: 4}
"""Relocation type (R_AMDGPU_ABS64, R_AMDGPU_ABS32) → bytes that it fills in."""
_SECTION_SHIFT = 32


def section_address(elf: Elf, section: int, value: int) -> int:
    """Address of offset `value` in the section with number `section`.

    In a linked object, `value` itself. Debug sections begin at 0, so that offsets in them stay
    unchanged.
    """
    if elf.type != ET_REL or not 0 < section < len(elf.sections):
        return value
    is_debug = elf.sections[section].name.startswith(".debug")
    return value if is_debug else (section << _SECTION_SHIFT) + value


def relocated(elf: Elf) -> bytes:
    """Bytes of the file with relocated debug sections; of a linked file, unchanged."""
    if elf.type != ET_REL:
        return bytes(elf.data)
    data = bytearray(elf.data.read())
    for section in elf.sections:
        if section.type == SHT_RELA and section.name.startswith(".rela.debug"):
            for offset, size, value in _relocations(elf, section):
                data[offset : offset + size] = value.to_bytes(8, "little")[:size]
    return bytes(data)


def _relocations(elf: Elf, section: Section) -> Iterator[tuple[int, int, int]]:
    """(offset in the file, bytes, value) of each relocation in a section."""
    table, target = elf.bytes_of(section), elf.sections[section.info]
    symbols = elf.bytes_of(elf.sections[section.link])
    if table is None or symbols is None or target.type == SHT_RELA:
        return
    for offset, info, addend in RELA.iter_unpack(table[: len(table) // RELA.size * RELA.size]):
        size, symbol = _RELOCATED_BYTES.get(info & 0xFFFFFFFF, 0), (info >> 32) * SYMBOL_BYTES
        if offset + size <= target.size and symbol + SYMBOL_BYTES <= len(symbols):
            number, value = _SYMBOL_SECTION_AND_VALUE.unpack_from(symbols, symbol)
            address = section_address(elf, number, value) + addend
            yield target.offset + offset, size, address % (1 << 64)
