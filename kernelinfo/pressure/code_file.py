"""A minimal code object with the machine code of some functions, as input of a disassembler.

It has no symbols, data or tables of the original file, so these cannot change how the code is read.
Layout: the System V gABI; `e_ident` and `e_flags`: LLVM's AMDGPUUsage, "ELF Code Object".
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
    address: int  # of its first byte, as symbols of the file count
    data: bytes
    labels: tuple[tuple[int, str], ...] = ()  # address and name of each symbol inside it


def code_file(codes: Sequence[MachineCode], mach: int) -> bytes:
    """The bytes of a code object with one section for each function: `.f0`, `.f1` …

    `mach` is the processor (EF_AMDGPU_MACH).
    """
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
