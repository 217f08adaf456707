"""The machine code of functions in a code object, and what disassembles it.

Its disassembler gets a minimal code object, whose symbols, data and tables cannot change how the
code is read. Layout: the System V gABI; `e_ident` and `e_flags`: LLVM's AMDGPUUsage, "ELF Code
Object".
"""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from kernelinfo.compile.processes import on_path
from kernelinfo.errors import ReadError
from kernelinfo.pressure.messages import say
from kernelinfo.reading.code_object import (
    STT_AMDGPU_HSA_KERNEL,
    Symbol,
    kernel_symbols,
    symbols_without_type,
)
from kernelinfo.reading.code_object.descriptor import SIZE_V2
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import EM_AMDGPU, SHT_NOBITS, SHT_PROGBITS, Elf, Section, read_elf

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


_MOST_BYTES = 1 << 23  # of one function; compilers make several times less
_MOST_COPIES = 16  # times the file's bytes: linkers fold equal functions into one


def function_code(data: Data, names: Iterable[str]) -> Iterator[MachineCode]:
    """The machine code of each named function whose bytes are in the file.

    The size of its symbol says where a function ends. A function without a size is empty if a
    symbol with a size begins at the same address: a kernel without instructions. Otherwise it ends
    at the next function or at the end of its section, and trailing zeros are cut off. Functions of
    more than `_MOST_BYTES` are left out. Raises `ReadError` if functions overlap so much that their
    code exceeds `_MOST_COPIES` times the file.
    """
    elf = read_elf(data, [])
    names = list(names)
    labels = symbols_without_type(elf)
    named = set(names)
    functions = {name: label_symbol for name, label_symbol in labels if name in named}
    functions |= kernel_symbols(elf, []).code
    inside = sorted(
        {(label_symbol.section, label_symbol.value): name for name, label_symbol in labels}.items()
    )
    begins = sorted(
        {(label_symbol.section, label_symbol.value) for label_symbol in functions.values()}
    )
    sized = {
        (label_symbol.section, label_symbol.value)
        for label_symbol in functions.values()
        if label_symbol.size
    }
    left = _MOST_COPIES * len(data)
    for name in names:
        symbol = functions.get(name)
        if symbol is None:
            continue
        place = symbol.section, symbol.value
        start = symbol.value + (SIZE_V2 if symbol.type == STT_AMDGPU_HSA_KERNEL else 0)
        code: bytes | None = b""
        if symbol.size:
            code = _bytes(elf, symbol.section, start, symbol.value + symbol.size)
        elif place not in sized:
            end = _next_function(begins, symbol)
            code = _without_zeros(_bytes(elf, symbol.section, start, end))
        if code is None or len(code) > _MOST_BYTES:
            continue
        left -= len(code)
        if left < 0:
            raise ReadError(say("symbols-overlap"))
        first = bisect_right(inside, (place, chr(0x10FFFF)))
        last = bisect_right(inside, ((symbol.section, start + len(code)), ""))
        labels_inside = tuple((address, label) for (_, address), label in inside[first:last])
        yield MachineCode(name, start, code, labels_inside)


def _next_function(begins: Sequence[tuple[int, int]], symbol: Symbol) -> int | None:
    """The address of the next function in the symbol's section; None after the last one."""
    position = bisect_right(begins, (symbol.section, symbol.value))
    if position == len(begins) or begins[position][0] != symbol.section:
        return None
    return begins[position][1]


def _bytes(elf: Elf, section: int, start: int, end: int | None) -> bytes | None:
    """Bytes of a section between two addresses, or to its end; None if the file lacks them.

    They are read from the segments if the file has no sections, or if the symbol's section number
    is wrong: objcopy does not renumber sections in `.dynsym`.
    """
    for part in (*elf.sections[section : section + 1], *elf.loaded):
        if isinstance(part, Section) and part.type == SHT_NOBITS:
            return None
        limit = part.address + part.size
        if part.address <= start <= limit and (end is None or end <= limit):
            offset = part.offset + start - part.address
            data = elf.bytes_at(offset, (limit if end is None else end) - start)
            return None if data is None else bytes(data)
    return None


def _without_zeros(code: bytes | None) -> bytes | None:
    """The code without the zero words after its last instruction."""
    if code is None:
        return None
    length = len(code.rstrip(b"\0"))
    return code[: -(-length // 4) * 4]


_NAME = re.compile(r"llvm-objdump(?:-(\d{1,3}))?$")
_VERSION = re.compile(r"LLVM version (\d{1,3})\.")
_ROCM = "opt/rocm*/llvm/bin"  # relative to the root; each version of ROCm has its own folder
_SECONDS = 10


def programs() -> list[str]:
    """Paths of llvm-objdump: first the one in `LLVM_OBJDUMP`, then the installed ones, newest
    first.

    Searches `ROCM_PATH`, PATH and `/opt/rocm*`. Relative folders of PATH are skipped, so that no
    program in the current folder runs. Raises `ReadError` if `LLVM_OBJDUMP` names no program.
    """
    preferred = os.environ.get("LLVM_OBJDUMP", "")
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    first = on_path(preferred)
    if preferred and first is None:
        raise ReadError(say("objdump-no-program", program=preferred))
    installed = {os.path.realpath(path): path for path in reversed(_installed(folders))}
    paths = list(reversed(installed.values()))
    if len(paths) > 1:
        paths.sort(key=version, reverse=True)
    return list(dict.fromkeys([first, *paths] if first else paths))


def _installed(folders: list[str]) -> list[str]:
    """Paths of the installed programs. A link with a version in its name precedes the file that it
    points to."""
    root = os.environ.get("ROCM_PATH", "")
    rocm = [os.path.join(root, "llvm", "bin")] if os.path.isabs(root) else []
    of_rocm = map(str, Path("/").glob(_ROCM))
    paths = [
        os.path.join(folder, name)
        for folder in [*rocm, *folders, *of_rocm]
        if os.path.isdir(folder)
        for name in sorted(os.listdir(folder), reverse=True)
        if _NAME.match(name)
    ]
    return [path for path in dict.fromkeys(paths) if _is_program(path)]


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


@cache  # asking starts a program
def version(path: str) -> int:
    """The LLVM version of a program, from its name or from the output of `--version`; 0 if
    unknown."""
    named = _NAME.search(path)
    if named and named[1]:
        return int(named[1])
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = _VERSION.search(done.stdout.decode("utf-8", "replace"))
    return int(match[1]) if match else 0
