"""Extents of a code object: each byte of the file belongs to one, and each has an owner."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Literal, NamedTuple

from kernelinfo.reading.code_object import (
    STT_AMDGPU_HSA_KERNEL,
    SymbolRow,
    descriptor,
    kernel_symbols,
)
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import (
    ET_REL,
    SHT_DYNSYM,
    SHT_NOBITS,
    SHT_NOTE,
    SHT_RELA,
    SHT_SYMTAB,
    Elf,
    Section,
)
from kernelinfo.reading.facts import ReadWarning

Owner = Literal[
    "kernel code",
    "other functions",
    "constants",
    "descriptors",
    "notes",
    "symbols and strings",
    "debug information",
    "headers",
    "padding",
    "SPIR-V",
    "containers",
    "compression",
    "other",
]
"""What bytes are for. kernel code, other functions: instructions. constants: also variables.
descriptors: kernel descriptors. notes: metadata, compiler stamps. symbols and strings: also
relocations and hash tables. padding: zeros, and the filler between functions. containers: what is
around code objects, and code for other devices. compression: the bytes that compression adds,
negative if it saves bytes. other: bytes of no known kind."""

_SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_REL, _SHT_GNU_HASH = 3, 5, 6, 9, 0x6FFFFFF6
_LINKING = (
    *(SHT_SYMTAB, SHT_DYNSYM, SHT_RELA),
    *(_SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_REL, _SHT_GNU_HASH),
)
_NOTES = (".comment", ".llvm_addrsig", ".AMDGPU.csdata", ".AMDGPU.gpr_maximums", ".amdgpu.info")
_HEADER = Struct("<32xQQ6xHHH")
"""e_phoff, e_shoff, e_phentsize, e_phnum and e_shentsize (gABI, "ELF Header")."""
_HEADER_BYTES = 64
_FILLER = rb"(?:\0{4}|\0\0\x80\xbf|\0\0\x9f\xbf)*"
"""Words between functions: zeros, s_nop 0, s_code_end (AMDGPUAsmBackend::writeNopData and
AMDGPUTargetELFStreamer::EmitCodeEnd)."""


class OwnedRange(NamedTuple):
    """The bytes of a file from `begin` up to `end`, with their owner."""

    begin: int
    end: int
    owner: Owner
    symbol: str = ""
    """Mangled name of a kernel or function; empty for other bytes."""


def extents(elf: Elf, warnings: list[ReadWarning]) -> Iterator[OwnedRange]:
    """The extents of a code object, ascending: from 0 to its size without gap or overlap."""
    functions = sorted(_functions(elf, warnings))
    sections = [s for s in elf.sections if s.size and s.type != SHT_NOBITS]
    claims: list[tuple[int, int, Section | None]] = [
        *((begin, end, None) for begin, end in _headers(elf)),
        *((s.offset, s.offset + s.size, s) for s in sections),
    ]
    claims.sort(key=lambda claim: claim[:2])
    begins = [function.begin for function in functions]
    position, size = 0, len(elf.data)
    for begin, end, section in claims:
        begin, end = max(begin, position), min(end, size)
        if begin >= end:
            continue
        yield from _gap(elf.data, position, begin)
        if section:
            inside = functions[bisect_left(begins, begin) : bisect_left(begins, end)]
            yield from _of_section(elf.data, section, begin, end, inside)
        else:
            yield OwnedRange(begin, end, "headers")
        position = end
    if sections:
        yield from _gap(elf.data, position, size)
    else:  # section headers were stripped: symbols alone tell
        inside = functions[bisect_left(begins, position) :]
        yield from _filled(elf.data, position, size, inside, "other")


def _headers(elf: Elf) -> Iterator[tuple[int, int]]:
    segments, sections, segment_size, segment_count, section_size = _HEADER.unpack(
        elf.data.read(0, _HEADER.size)
    )
    yield 0, _HEADER_BYTES
    yield segments, segments + segment_size * segment_count
    yield sections, sections + section_size * len(elf.sections)


def _functions(elf: Elf, warnings: list[ReadWarning]) -> Iterator[OwnedRange]:
    """Extents of descriptors, kernels and other functions, by their symbols; they may overlap."""
    symbols = kernel_symbols(elf, warnings)
    for name, row in symbols.descriptors.items():
        if (begin := _offset(elf, row)) is not None:
            is_v2 = row[0] == STT_AMDGPU_HSA_KERNEL
            size = descriptor.SIZE_V2 if is_v2 else descriptor.SIZE
            yield OwnedRange(begin, begin + size, "descriptors", name)
    for name, row in symbols.functions.items():
        if (begin := _offset(elf, row)) is None:
            continue
        end = begin + row[3]
        if row[0] == STT_AMDGPU_HSA_KERNEL:
            begin += descriptor.SIZE_V2
        is_kernel = name in symbols.descriptors
        yield OwnedRange(begin, end, "kernel code" if is_kernel else "other functions", name)


def _offset(elf: Elf, row: SymbolRow) -> int | None:
    """Byte offset of a symbol in the file; None if its bytes are not in the file."""
    _, section, value, _ = row
    if elf.type != ET_REL:
        return elf.offset_of(value)
    sections = elf.sections[section : section + 1]
    return sections[0].offset + value if sections else None


def _of_section(
    data: Data, section: Section, begin: int, end: int, functions: Iterable[OwnedRange]
) -> Iterator[OwnedRange]:
    if section.type in _LINKING:
        yield OwnedRange(begin, end, "symbols and strings")
    elif section.type == SHT_NOTE or section.name in _NOTES:
        yield OwnedRange(begin, end, "notes")
    elif section.name.startswith(".debug_"):
        yield OwnedRange(begin, end, "debug information")
    else:
        is_code = section.name.startswith(".text")
        yield from _filled(
            data, begin, end, functions, "other functions" if is_code else "constants"
        )


def _filled(
    data: Data, begin: int, end: int, functions: Iterable[OwnedRange], owner: Owner
) -> Iterator[OwnedRange]:
    """The functions in a range; a byte of several functions goes to the first. Bytes between
    functions go to `owner`, except filler in code and zeros in data of unknown kind."""
    position = begin
    for function in functions:
        start, stop = max(function.begin, position), min(function.end, end)
        if start < stop:
            yield from _between(data, position, start, owner)
            yield function._replace(begin=start, end=stop)
            position = stop
    yield from _between(data, position, end, owner)


def _between(data: Data, begin: int, end: int, owner: Owner) -> Iterator[OwnedRange]:
    if begin >= end:
        return
    if owner == "other functions":
        filler = re.match(_FILLER, data.read(begin, end - begin))
        start = begin + (filler.end() if filler else 0)
        yield from [OwnedRange(begin, start, "padding")] * (begin < start)
        yield from [OwnedRange(start, end, owner)] * (start < end)
    elif owner == "other":
        yield from _gap(data, begin, end)
    else:
        yield OwnedRange(begin, end, owner)


def _gap(data: Data, begin: int, end: int) -> Iterator[OwnedRange]:
    """Bytes between sections: padding if all are zero."""
    if begin < end:
        is_zero = data.part(begin, end - begin).search(re.compile(rb"[^\0]")) is None
        yield OwnedRange(begin, end, "padding" if is_zero else "other")
