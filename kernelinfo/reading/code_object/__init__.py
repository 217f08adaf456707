"""Reads code objects: the ELF files that the driver loads, and relocatable objects."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from struct import Struct, unpack
from struct import error as StructError
from typing import NamedTuple

from kernelinfo.errors import Message, ReadError, bug
from kernelinfo.hardware import targets
from kernelinfo.reading.blob import UNBOUNDED, FileBudget
from kernelinfo.reading.code_object import descriptor
from kernelinfo.reading.code_object.descriptor import (
    code_object_version,
    features,
    processor,
    with_settled_vgprs,
)
from kernelinfo.reading.code_object.note_metadata import NoteMetadata, shown_kernels
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import (
    EM_AMDGPU,
    ET_REL,
    LONGEST_NAME,
    PT_DYNAMIC,
    SHT_DYNSYM,
    SHT_NOBITS,
    SHT_SYMTAB,
    STRUCTS,
    Elf,
    lay_out,
    read_elf,
    string_at,
)
from kernelinfo.reading.facts import (
    BEGIN,
    NOTHING,
    Features,
    KernelFacts,
    Module,
    Place,
    ReadWarning,
    StatedNumbers,
)
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import NOT_LINKED, SYMBOLS, symbol_numbers, with_callees
from kernelinfo.reading.target_id import distinct

_COMMENT_BYTES = 1 << 16


def read(
    data: Data,
    *,
    arch: str | None = None,
    budget: FileBudget = UNBOUNDED,
    is_target: Callable[[str], bool] | None = None,
    is_chosen: Callable[[str], bool] | None = None,
    positions: bool = True,
) -> Module:
    """One code object as a module: first the metadata's kernels in its order, then the kernels that
    have only a descriptor.

    `arch` is the target of an object that does not name its own. `is_target` says whether the run
    asks for a processor, `is_chosen` whether it asks for a kernel's symbol; None asks for all. The
    other kernels are listed in `Module.passed_over`, unless the numbers of all kernels depend on
    them. Without `positions` the kernels have no `places`. Damage becomes a warning. Raises
    `ReadError` if nothing can be read.
    """
    warnings: list[ReadWarning] = []
    elf = read_elf(data, warnings)
    if elf.machine != EM_AMDGPU:
        raise ReadError(say("elf-of-host", machine=elf.machine))
    hardware = targets.by_elf_mach(elf.flags & 0xFF)
    if is_target and hardware and not is_target(hardware.name):
        return _passed_over(elf, hardware.name, kernel_symbols(elf, [], DESCRIBED))
    if not hardware or hardware.vgprs[0].early_encoding_granule:
        is_chosen = None
    symbol_warnings: list[ReadWarning] = []
    symbols = kernel_symbols(elf, symbol_warnings)
    described, code, resources = symbols
    is_sound = described and not warnings and not symbol_warnings
    if is_chosen and hardware and is_sound and not any(map(is_chosen, described)):
        return _passed_over(elf, hardware.name, symbols)
    metadata = NoteMetadata(elf, warnings, budget, is_chosen)
    warnings += symbol_warnings
    if not metadata.found:
        if warnings and not described:
            damage = "; ".join(dict.fromkeys(warning.message for warning in warnings))
            raise ReadError(say("object-damaged", damage=damage))
        if not described:
            warnings.append(ReadWarning(say("object-without-kernels")))
        elif metadata.present:
            warnings.append(ReadWarning(say("object-without-metadata")))
    name, target = processor(elf, metadata.target_id, metadata.isa, arch, warnings)
    version = code_object_version(elf)
    if version is None and metadata.kernels:
        message = say("object-abi-unknown", os_abi=elf.os_abi, version=elf.abi_version)
        warnings.append(ReadWarning(message, offset=7))

    unlisted = [symbol for symbol in described if symbol not in metadata.kernels]
    unlisted.sort(key=lambda symbol: described[symbol][2])
    if unlisted and metadata.found and not warnings:
        warnings.append(ReadWarning(say("kernel-unlisted", kernels=shown_kernels(unlisted))))
    budget.spend_kernels(len(metadata.kernels) + len(unlisted))
    if elf.has_overlaps():
        warnings.append(ReadWarning(say("object-segments-overlap")))
    kernels, passed_over = [], []
    without: dict[Message, list[str]] = {}
    file_bytes = len(elf.data)
    read_descriptor = _descriptor_reader(elf, described)
    target_name = target and target.name
    for symbol, (numbers, note) in (metadata.kernels | dict.fromkeys(unlisted, _UNLISTED)).items():
        if is_chosen and not is_chosen(symbol):
            passed_over.append(symbol)
            continue
        stated: list[StatedNumbers] = []
        places: list[Place] = []
        try:
            offset, statement = read_descriptor(symbol)
            stated.append(("descriptor", descriptor.numbers(statement, target_name, version)))
            if positions:
                places.append(Place("descriptor", offset, descriptor.within(statement, target)))
        except Exception as error:
            reason = error.message if isinstance(error, ReadError) else bug(error)
            without.setdefault(reason, []).append(symbol)
        if numbers != NOTHING:
            stated.append(("metadata", numbers))
            if positions:
                places.append(Place("metadata", note, BEGIN))
        if symbol in resources:
            stated.append(("symbol", symbol_numbers(resources[symbol])))
        code_bytes = _code_bytes(code[symbol], file_bytes) if symbol in code else None
        kernels.append(KernelFacts(symbol, tuple(stated), tuple(places), code_bytes))
    settings = features(elf, version, metadata.isa)
    notes: tuple[Message, ...] = ()
    if linking := next((s for s in elf.sections if s.name == ".amdgpu.info"), None):
        # Rare: only objects for a later device link have this section.
        functions = descriptor.read_linking_info(elf, linking, warnings)
        xnack = settings.xnack in ("any", "on")
        kernels = with_callees(kernels, functions, target, xnack=xnack)
        notes = (NOT_LINKED,)
    for reason, names in without.items():
        warnings.append(ReadWarning(say("of-kernels", kernels=shown_kernels(names), reason=reason)))
    module = Module(
        kind="code-object",
        target=name,
        features=settings,
        code_object_version=version,
        stamps=_stamps(elf),
        kernels=tuple(kernels),
        warnings=tuple(warnings),
        notes=notes,
        passed_over=tuple(passed_over),
    )
    return module if target is None else with_settled_vgprs(module, target, metadata.target_id)


def _passed_over(elf: Elf, processor: str, symbols: KernelSymbols) -> Module:
    """A module whose processor or kernels are not chosen: only the names of its kernels."""
    version, names = code_object_version(elf), tuple(symbols.descriptors)
    return Module("code-object", processor, Features(), version, (), (), passed_over=names)


_UNLISTED = NOTHING, 0
_BLOCK = 1 << 16
"""Bytes per read; the descriptors of a linked object are adjacent."""


def _descriptor_reader(
    elf: Elf, rows: Mapping[str, SymbolRow]
) -> Callable[[str], tuple[int, descriptor.Statement]]:
    """The function from a kernel's symbol to (byte offset, statement) of its descriptor. It raises
    `ReadError` for a kernel without a descriptor, or with one whose bytes are not in the file."""
    file_bytes, start, block = len(elf.data), 0, memoryview(b"")

    def read_descriptor(symbol: str) -> tuple[int, descriptor.Statement]:
        nonlocal start, block
        if symbol not in rows:
            raise ReadError(say("descriptor-missing"))
        kind, section, value, _ = rows[symbol]
        is_v2 = kind == STT_AMDGPU_HSA_KERNEL
        size = descriptor.SIZE_V2 if is_v2 else descriptor.SIZE
        offset = _offset(elf, section, value)
        if offset is None or offset + size > file_bytes:
            raise ReadError(say("descriptor-outside"))
        if not start <= offset <= start + len(block) - size:
            start = offset - offset % _BLOCK
            block = elf.data.read(start, _BLOCK + size)
        return offset, descriptor.statement(block, offset - start, is_v2=is_v2)

    return read_descriptor


def _offset(elf: Elf, section: int, value: int) -> int | None:
    """Byte offset of a symbol in the file; None if its bytes are not in the file."""
    if elf.type != ET_REL:
        return elf.offset_of(value)
    # In a relocatable object a symbol's value is an offset in its section.
    [*parts] = elf.sections[section : section + 1]
    if not parts or parts[0].type == SHT_NOBITS or value >= parts[0].size:
        return None
    return parts[0].offset + value


def _code_bytes(row: SymbolRow, file_bytes: int) -> int | None:
    """The size of a kernel's code in bytes; None if its symbol states no size, or one above
    `file_bytes`."""
    kind, _, _, size = row
    if kind == STT_AMDGPU_HSA_KERNEL:
        size -= descriptor.SIZE_V2
    return size if 0 < size <= file_bytes else None


def _stamps(elf: Elf) -> tuple[str, ...]:
    """The distinct stamps in `.comment`; linkers merge it from all objects and libraries."""
    section = next((s for s in elf.sections if s.name == ".comment"), None)
    raw = elf.bytes_of(section) if section else None
    stamps = bytes((raw or b"")[:_COMMENT_BYTES]).split(b"\0")
    return distinct(stamp.decode("utf-8", "backslashreplace") for stamp in stamps)


# Reads the symbols of kernels: descriptors, code and resource symbols.

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
_DYNAMIC = lay_out(STRUCTS.Elf_Dyn, "d_tag", "d_val")
_SYMBOL = Struct("<IBxHQQ")
_BUT_NAME = Struct("<4x20s")
_KIND = Struct("<BxH16x")
SymbolRow = tuple[int, int, int, int]
"""The fields of a `Symbol`. A library has half a million rows; to make a `Symbol` of each takes as
long as to read them."""


class Symbol(NamedTuple):
    """An ELF symbol; value and size are in bytes."""

    type: int
    section: int
    value: int
    """Address; in a relocatable object, offset in the section."""
    size: int


class KernelSymbols(NamedTuple):
    """The symbols of kernels and functions in all symbol tables."""

    descriptors: dict[str, SymbolRow]
    """Kernel → row of its `.kd` object. A v2 kernel begins with its descriptor, so the row is that
    of the kernel's own symbol."""
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
    """The symbols of kernels and functions; for each name, the first table that has it is used.

    Only symbols of these ELF `types` are read. A dynamic table without a section is found by its
    segment. Damaged tables become warnings.
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
    """True if a table has a symbol of these types that no table in `read` has."""
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
    tags: dict[int, int] = dict(_DYNAMIC.iter_unpack(dynamic or b""))
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
    """`count` 32-bit numbers at a file offset. Raises `struct.error` if the file ends too early."""
    return unpack(f"<{count}I", elf.data.read(offset, 4 * count))
