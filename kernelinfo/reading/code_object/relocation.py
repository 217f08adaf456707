"""Relocates the debug sections of objects before linking; every section gets its own addresses.

Relocations: LLVM's AMDGPUUsage, "Relocation Records"; debug information needs two kinds of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kernelinfo.reading.elf import ET_REL, SHT_RELA, Elf, Section

_RELA = Struct("<QQq")
_SYMBOL_SECTION_AND_VALUE = Struct("<6xHQ")
_SYMBOL_BYTES = 24
_BYTES = {3: 8, 6: 4}
"""Relocation type (R_AMDGPU_ABS64, R_AMDGPU_ABS32) → bytes that it fills in."""
_SHIFT = 32


def address(elf: Elf, section: int, value: int) -> int:
    """Address of offset `value` in the section with number `section`.

    In a linked object, `value` itself. Debug sections begin at 0, so that offsets in them stay
    unchanged.
    """
    if elf.type != ET_REL or not 0 < section < len(elf.sections):
        return value
    return value if elf.sections[section].name.startswith(".debug") else (section << _SHIFT) + value


def relocated(elf: Elf) -> bytes:
    """Bytes of the file with relocated debug sections; of a linked file, unchanged."""
    if elf.type != ET_REL:
        return bytes(elf.data)
    data = bytearray(elf.data.read())
    for section in elf.sections:
        if section.type == SHT_RELA and section.name.startswith(".rela.debug"):
            for at, size, value in _values(elf, section):
                data[at : at + size] = value.to_bytes(8, "little")[:size]
    return bytes(data)


def _values(elf: Elf, section: Section) -> Iterator[tuple[int, int, int]]:
    """(offset in the file, bytes, value) of each relocation in a section."""
    table, target = elf.bytes_of(section), elf.sections[section.info]
    symbols = elf.bytes_of(elf.sections[section.link])
    if table is None or symbols is None or target.type == SHT_RELA:
        return
    for offset, info, addend in _RELA.iter_unpack(table[: len(table) // _RELA.size * _RELA.size]):
        size, symbol = _BYTES.get(info & 0xFFFFFFFF, 0), (info >> 32) * _SYMBOL_BYTES
        if offset + size <= target.size and symbol + _SYMBOL_BYTES <= len(symbols):
            of, value = _SYMBOL_SECTION_AND_VALUE.unpack_from(symbols, symbol)
            yield target.offset + offset, size, (address(elf, of, value) + addend) % (1 << 64)
