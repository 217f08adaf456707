"""The tables of an ELF file as linkers write them, by struct.

pyelftools takes two milliseconds for each code object, of which a library has hundreds, and longer
to import than a small report takes; this takes 20 µs. Whatever is unusual is left to it, and a test
holds both to the same answer on every file there is.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct

from kernelinfo.reading.code_object.elf.container import Header, Section, Segment, Tables, string_at

_IDENT = b"\x7fELF\x02\x01\x01"
_HEADER = Struct("<7s9xHHIQQQI")
_COUNTS = Struct("<HHHHHH")
_SECTION = Struct("<IIQQQQIIQQ")
_SEGMENT = Struct("<IIQQQQQQ")

_TYPES = {1: "ET_REL", 2: "ET_EXEC", 3: "ET_DYN"}
_MACHINES = {62: "EM_X86_64", 224: "EM_AMDGPU"}
_SECTION_TYPES = {
    0: "SHT_NULL",
    1: "SHT_PROGBITS",
    2: "SHT_SYMTAB",
    3: "SHT_STRTAB",
    4: "SHT_RELA",
    5: "SHT_HASH",
    6: "SHT_DYNAMIC",
    7: "SHT_NOTE",
    8: "SHT_NOBITS",
    11: "SHT_DYNSYM",
    14: "SHT_INIT_ARRAY",
    15: "SHT_FINI_ARRAY",
    17: "SHT_GROUP",
    0x6FFFFFF6: "SHT_GNU_HASH",
    0x6FFFFFFD: "SHT_GNU_verdef",
    0x6FFFFFFE: "SHT_GNU_verneed",
    0x6FFFFFFF: "SHT_GNU_versym",
}
_SEGMENT_TYPES = {
    1: "PT_LOAD",
    2: "PT_DYNAMIC",
    3: "PT_INTERP",
    4: "PT_NOTE",
    6: "PT_PHDR",
    7: "PT_TLS",
    0x6474E550: "PT_GNU_EH_FRAME",
    0x6474E551: "PT_GNU_STACK",
    0x6474E552: "PT_GNU_RELRO",
    0x6474E553: "PT_GNU_PROPERTY",
}
"""pyelftools' words for them."""


def read_tables(data: memoryview) -> Tables | None:
    """The header and both tables; None where the reference reader must decide."""
    if len(data) < _HEADER.size + _COUNTS.size:
        return None
    ident, kind, machine, version, *fields, flags = _HEADER.unpack_from(data)
    _entry, segments_at, sections_at = fields
    _size, segment_size, segment_count, section_size, section_count, names_at = _COUNTS.unpack_from(
        data, _HEADER.size
    )
    if ident != _IDENT or version != 1:
        return None
    try:
        header = Header(_TYPES[kind], _MACHINES[machine], flags)
        segments: tuple[Segment, ...] = ()
        if segments_at:
            rows = _rows(data, _SEGMENT, segments_at, segment_size, segment_count)
            segments = tuple(
                [
                    Segment(_SEGMENT_TYPES[kind], address, offset, size)
                    for kind, _, offset, address, _, size, _, _ in rows
                ]
            )
        sections: tuple[Section, ...] = ()
        if sections_at:
            rows = _rows(data, _SECTION, sections_at, section_size, section_count)
            names = _names(_strings(data, rows[names_at]), tuple([row[0] for row in rows]))
            sections = tuple(
                [
                    Section(name, _SECTION_TYPES[kind], address, offset, size, link, entry_size)
                    for name, (_, kind, _, address, offset, size, link, _, _, entry_size) in zip(
                        names, rows, strict=True
                    )
                ]
            )
    except (KeyError, IndexError, ValueError):
        return None
    return Tables(header, sections, segments)


def _rows(
    data: memoryview, layout: Struct, offset: int, size: int, count: int
) -> list[tuple[int, ...]]:
    """Raises `ValueError` where they are none of this layout, or not in the file."""
    if size != layout.size or not count or offset + size * count > len(data):
        raise ValueError
    return list(layout.iter_unpack(data[offset : offset + size * count]))


@lru_cache(maxsize=1 << 8)  # one linker names the sections of all its files alike
def _names(strings: bytes, places: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([string_at(strings, place) or "" for place in places])


def _strings(data: memoryview, row: tuple[int, ...]) -> bytes:
    """Raises `ValueError` where there are none."""
    offset, size = row[4], row[5]
    if not size or offset + size > len(data):
        raise ValueError
    return bytes(data[offset : offset + size])
