"""Reads the section `.amdgpu.info` of objects for a later device link. Entries:

    u8 u8     kind, and bytes of the payload; kinds that are not known are skipped
    1         u64, relocated: the function that the following entries describe
    2         u32: flags; 1 VCC, 2 flat scratch, 4 dynamic stack
    3 4 5 6   u32: SGPRs, VGPRs, AGPRs, bytes of scratch, of this function alone
    7         u64, relocated: an LDS variable that it uses
    8         u64, relocated: a function that it calls
    9         u32: the type of functions that it calls by a pointer

llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, as LLVM 24git writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kernelinfo.errors import ReadError
from kernelinfo.reading.elf import ET_REL, SHT_RELA, SHT_SYMTAB, Elf, Section, string_at
from kernelinfo.reading.facts import ReadWarning
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import LinkedFunction

# Relocates the debug sections of objects before linking; every section gets its own addresses.
#
# Relocations: LLVM's AMDGPUUsage, "Relocation Records"; debug information needs two kinds of them.

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
            for offset, size, value in _values(elf, section):
                data[offset : offset + size] = value.to_bytes(8, "little")[:size]
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
            number, value = _SYMBOL_SECTION_AND_VALUE.unpack_from(symbols, symbol)
            yield target.offset + offset, size, (address(elf, number, value) + addend) % (1 << 64)


_RELOCATIONS = ".rela.amdgpu.info"
_SYMBOL = Struct("<I12xQ")
_FUNCTION, _FLAGS, _SGPRS, _VGPRS, _AGPRS, _SCRATCH, _USE, _CALL, _INDIRECT = range(1, 10)
_NUMBERS = {_FLAGS: "flags", _SGPRS: "sgprs", _VGPRS: "vgprs", _AGPRS: "agprs", _SCRATCH: "scratch"}
_POINTERS = (_FUNCTION, _USE, _CALL)


def functions(elf: Elf, section: Section, warnings: list[ReadWarning]) -> dict[str, LinkedFunction]:
    """Function's name → resources of the function alone, without callees.

    Reading stops at a damaged entry; its function is marked open (`LinkedFunction.is_open`)."""
    data = elf.bytes_of(section)
    if data is None:
        warnings.append(
            ReadWarning(say("linking-info-outside", section=section.name), offset=section.offset)
        )
        return {}
    symbols = _symbols_at(elf)
    by_name: dict[str, LinkedFunction] = {}
    function: LinkedFunction | None = None
    try:
        for kind, offset, payload in _entries(bytes(data)):
            symbol = symbols.get(offset)
            if kind == _FUNCTION:
                function = LinkedFunction()
                if symbol is not None:
                    by_name[symbol[0]] = function
            elif function is None:
                raise ReadError(say("linking-info-numbers"))
            else:
                _add(function, kind, payload, symbol)
    except ReadError as error:
        message = say("linking-info-damaged", section=section.name, error=error)
        warnings.append(ReadWarning(message, offset=section.offset))
        if function is not None:
            function.is_open = True
    return by_name


def _symbols_at(elf: Elf) -> dict[int, tuple[str, int]]:
    """Offset in the section → (name, size in bytes) of the symbol that a relocation fills in."""
    relocations = next((s for s in elf.sections if s.name == _RELOCATIONS), None)
    table = next((s for s in elf.sections if s.type == SHT_SYMTAB), None)
    if relocations is None or table is None or table.link >= len(elf.sections):
        return {}
    rows, symbols = elf.bytes_of(relocations), elf.bytes_of(table)
    strings = bytes(elf.bytes_of(elf.sections[table.link]) or b"")
    by_offset: dict[int, tuple[str, int]] = {}
    if rows is None or symbols is None:
        return by_offset
    for offset, info, _ in _RELA.iter_unpack(rows[: len(rows) - len(rows) % _RELA.size]):
        start = (info >> 32) * _SYMBOL_BYTES
        if start + _SYMBOL_BYTES <= len(symbols):
            name_at, size = _SYMBOL.unpack_from(symbols, start)
            by_offset[offset] = string_at(strings, name_at) or "", size
    return by_offset


def _entries(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(kind, offset, bytes) of each payload. Raises `ReadError` at a damaged entry."""
    offset = 0
    while offset + 2 <= len(data):
        kind, size = data[offset], data[offset + 1]
        payload = data[offset + 2 : offset + 2 + size]
        expected = 8 if kind in _POINTERS else 4
        if len(payload) < size or (kind <= _INDIRECT and size != expected):
            raise ReadError(say("linking-info-entry", kind=kind, size=size, at=offset))
        yield kind, offset + 2, payload
        offset += 2 + size


def _add(
    function: LinkedFunction, kind: int, payload: bytes, symbol: tuple[str, int] | None
) -> None:
    name, size = symbol or ("", 0)
    if kind in _NUMBERS:
        setattr(function, _NUMBERS[kind], int.from_bytes(payload, "little"))
    elif kind == _USE and symbol is not None:
        function.uses[name] = size
    elif kind == _CALL and symbol is not None:
        function.calls.append(name)
    elif kind in (_USE, _CALL, _INDIRECT):
        function.is_open = True
