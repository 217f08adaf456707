"""Reads the symbols of kernels: descriptors, code and resource symbols."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from struct import Struct, unpack
from struct import error as StructError
from typing import NamedTuple

from kernelinfo.reading.elf import (
    LONGEST_NAME,
    PT_DYNAMIC,
    SHT_DYNSYM,
    SHT_SYMTAB,
    STRUCTS,
    Elf,
    RowLayout,
    string_at,
)
from kernelinfo.reading.facts import ReadWarning
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import SYMBOLS

STT_NOTYPE = 0
STT_OBJECT = 1
STT_FUNC = 2
STT_AMDGPU_HSA_KERNEL = 10
"""Code object v2: an amd_kernel_code_t with the kernel's code after it."""
DESCRIBED = frozenset({STT_OBJECT, STT_AMDGPU_HSA_KERNEL})
"""Types of the symbols of descriptors and v2 kernels."""
_ALL = DESCRIBED | {STT_FUNC, STT_NOTYPE}

_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_GNU_HASH = 4, 5, 6, 10, 0x6FFFFEF5
_SHN_ABS = 0xFFF1
_DYNAMIC = RowLayout(STRUCTS.Elf_Dyn, "d_tag", "d_val")
_SYMBOL = Struct("<IBxHQQ")
_BUT_NAME = Struct("<4x20s")
_KIND = Struct("<BxH16x")
SymbolRow = tuple[int, int, int, int]
"""The fields of a `Symbol`. A library has half a million: making nouns of them takes as long again.
"""


class Symbol(NamedTuple):
    """An ELF symbol; value and size in bytes."""

    type: int
    section: int
    value: int
    """Address; in a relocatable object, offset in the section."""
    size: int


class KernelSymbols(NamedTuple):
    """The symbols of kernels and functions in all symbol tables."""

    descriptors: dict[str, SymbolRow]
    """Kernel → row of its `.kd` object; of a v2 kernel, which begins with its descriptor, its own.
    """
    functions: dict[str, SymbolRow]
    """Name → row of every function and v2 kernel."""
    resources: dict[str, dict[str, int]]
    """Function → suffix of a resource symbol's name → value."""

    @property
    def code(self) -> dict[str, Symbol]:
        """Name → symbol of every function and v2 kernel."""
        return {name: Symbol(*row) for name, row in self.functions.items()}


def kernel_symbols(
    elf: Elf, warnings: list[ReadWarning], types: Container[int] = _ALL
) -> KernelSymbols:
    """The symbols of kernels and functions; the first table with a name is used.

    A dynamic table without a section is found by its segment. Damaged tables become warnings.
    """
    descriptors: dict[str, SymbolRow] = {}
    functions: dict[str, SymbolRow] = {}
    resources: dict[str, dict[str, int]] = {}
    read: list[memoryview] = []
    for table, in_file in _tables(elf, warnings):
        whole = table[: len(table) - len(table) % _SYMBOL.size]
        if read and not _adds_kernels(whole, read, types):
            continue  # as in every object that is not stripped
        read.append(whole)
        strings = bytes(in_file)
        # Bounds symbols that share one long string; real tables stay far below.
        budget = 16 * len(strings)
        nameless = 0
        for name_at, info, section, value, size in _SYMBOL.iter_unpack(whole):
            kind = info & 15
            if not section or kind not in types or (not kind and section != _SHN_ABS):
                continue
            end = strings.find(b"\0", name_at, name_at + LONGEST_NAME) if budget > 0 else -1
            if end < 0:
                nameless += 1
                continue
            budget -= end - name_at
            if kind == STT_OBJECT:
                if strings.endswith(b".kd", name_at, end):
                    name = strings[name_at : end - 3].decode("utf-8", "backslashreplace")
                    descriptors.setdefault(name, (kind, section, value, size))
                continue
            name = strings[name_at:end].decode("utf-8", "backslashreplace")
            if kind != STT_NOTYPE:
                functions.setdefault(name, (kind, section, value, size))
            else:
                function, _, suffix = name.rpartition(".")
                if suffix in SYMBOLS:
                    resources.setdefault(function, {})[suffix] = value
        if nameless:
            warnings.append(ReadWarning(say("symbols-without-name", count=nameless)))
    for name, row in functions.items():
        if row[0] == STT_AMDGPU_HSA_KERNEL:
            descriptors.setdefault(name, row)
    return KernelSymbols(descriptors, functions, resources)


def _adds_kernels(table: memoryview, read: Iterable[memoryview], types: Container[int]) -> bool:
    """True if a symbol of these types is in a table and in none of those that are read."""
    read_rows = {row for earlier in read for row in _BUT_NAME.iter_unpack(earlier)}
    new = {*_BUT_NAME.iter_unpack(table)} - read_rows
    return any(
        section and info & 15 in types and (info & 15 or section == _SHN_ABS)
        for info, section in (_KIND.unpack(row) for (row,) in new)
    )


def symbols_without_type(elf: Elf) -> list[tuple[str, Symbol]]:
    """(name, symbol) of each symbol of type NOTYPE in a section, such as hand-written labels."""
    symbols: dict[tuple[str, Symbol], None] = {}
    for table, in_file in _tables(elf, []):
        strings = bytes(in_file)
        budget = 16 * len(strings)
        whole = len(table) - len(table) % _SYMBOL.size
        for name_at, info, section, value, size in _SYMBOL.iter_unpack(table[:whole]):
            if info & 15 == STT_NOTYPE and 0 < section < _SHN_ABS and budget > 0:
                name = string_at(strings, name_at)
                budget -= len(name or "")
                if name:
                    symbols[name, Symbol(STT_NOTYPE, section, value, size)] = None
    return list(symbols)


def _tables(elf: Elf, warnings: list[ReadWarning]) -> Iterator[tuple[memoryview, memoryview]]:
    """(symbol table, string table) pairs, the dynamic table first; ELF allows one of each kind."""
    read = set()
    first = {section.type: section for section in reversed(elf.sections)}
    for kind in (SHT_DYNSYM, SHT_SYMTAB):
        section = first.get(kind)
        if section is None:
            continue
        table = elf.bytes_of(section)
        linked = elf.sections[section.link : section.link + 1]
        strings = elf.bytes_of(linked[0]) if linked else None
        if table is None or strings is None:
            message = say("symbol-table-damaged", name=section.name)
            warnings.append(ReadWarning(message, offset=section.offset))
        else:
            if (size := section.entry_size) != _SYMBOL.size:
                read_as, table_name = _SYMBOL.size, section.name
                message = say("symbol-table-entries", name=table_name, size=size, read_as=read_as)
                warnings.append(ReadWarning(message, offset=section.offset))
            read.add(section.offset)
            yield table, strings
    segment = next((s for s in elf.segments if s.type == PT_DYNAMIC), None)
    if segment is None:
        return
    dynamic = elf.bytes_at(segment.offset, segment.size - segment.size % _DYNAMIC.size)
    tags = {row[0]: row[1] for row in _DYNAMIC.rows(dynamic or b"")}
    start = elf.offset_of(tags.get(_DT_SYMTAB, -1))
    if not tags or start in read:
        return
    strings_at = elf.offset_of(tags.get(_DT_STRTAB, -1))
    strings = None if strings_at is None else elf.bytes_at(strings_at, tags.get(_DT_STRSZ, -1))
    table = None if start is None else elf.bytes_at(start, _count(elf, tags) * _SYMBOL.size)
    if table is None or strings is None:
        warnings.append(ReadWarning(say("symbol-table-dynamic-damaged"), offset=segment.offset))
    else:
        yield table, strings


def _count(elf: Elf, tags: dict[int, int]) -> int:
    """Number of dynamic symbols, from a hash table: nothing else states it. 0 if none is readable.

    Source: gABI, "Hash Table"; for GNU's hash table LLVM's ELF.h, `GnuHashHeader`.
    """
    try:
        offset = elf.offset_of(tags.get(_DT_HASH, -1))
        if offset is not None:
            _buckets, chains = _numbers(elf, offset, 2)
            return int(chains)
        offset = elf.offset_of(tags.get(_DT_GNU_HASH, -1))
        if offset is None:
            return 0
        buckets, hashed, bloom, _shift = _numbers(elf, offset, 4)
        offset += 16 + 8 * bloom
        last = max(_numbers(elf, offset, buckets), default=0)
        offset += 4 * buckets
        if last < hashed:
            return int(hashed)
        # A chain ends with an odd hash.
        while not _numbers(elf, offset + 4 * (last - hashed), 1)[0] & 1:
            last += 1
        return int(last) + 1
    except StructError:
        return 0


def _numbers(elf: Elf, offset: int, count: int) -> tuple[int, ...]:
    """`count` 32-bit numbers at a file offset. Raises `struct.error` if the file ends before."""
    return unpack(f"<{count}I", elf.data.read(offset, 4 * count))
