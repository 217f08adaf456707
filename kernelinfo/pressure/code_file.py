"""A code object that holds the code of some functions and nothing else, for a disassembler.

No symbol of the original file, no data and no damaged table can change how it is read. Layout: the
System V gABI; `e_ident` and `e_flags`: LLVM's AMDGPUUsage, "ELF Code Object".
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from kernelinfo.reading.elf import EM_AMDGPU, SHT_PROGBITS

_IDENT = b"\x7fELF\x02\x01\x01\x40\x02" + bytes(7)  # 64 bits, little endian, HSA, version 4
_HEADER = Struct("<16sHHIQQQIHHHHHH")
_SECTION = Struct("<IIQQQQIIQQ")
_ET_DYN, _SHT_STRTAB = 3, 3
_ALLOCATED_AND_EXECUTABLE = 6  # SHF_ALLOC | SHF_EXECINSTR


class MachineCode(NamedTuple):
    """The machine code of one function."""

    name: str
    address: int  # of its first byte, as the symbols of its file count
    data: bytes
    labels: tuple[tuple[int, str], ...] = ()  # addresses and names of the symbols in it


def code_file(codes: Sequence[MachineCode], mach: int) -> bytes:
    """A code object for the processor `mach` (EF_AMDGPU_MACH) with a section for each function, in
    their order: `.f0`, `.f1` …"""
    names, headers, contents = b"\0", [bytes(_SECTION.size)], b""
    start = _HEADER.size
    for position, code in enumerate(codes):
        kind = (len(names), SHT_PROGBITS, _ALLOCATED_AND_EXECUTABLE)
        place = (code.address, start + len(contents), len(code.data))
        headers.append(_SECTION.pack(*kind, *place, 0, 0, 4, 0))
        names += b".f%d\0" % position
        contents += code.data
    place = (0, start + len(contents), len(names))
    headers.append(_SECTION.pack(0, _SHT_STRTAB, 0, *place, 0, 0, 1, 0))
    end = start + len(contents) + len(names)
    counts = (_HEADER.size, 0, 0, _SECTION.size, len(headers), len(headers) - 1)
    header = _HEADER.pack(_IDENT, _ET_DYN, EM_AMDGPU, 1, 0, 0, end, mach, *counts)
    return header + contents + names + b"".join(headers)
