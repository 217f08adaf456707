"""Reads code objects: the ELF files that the driver loads, and relocatable objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelinfo.errors import Message, ReadError, bug
from kernelinfo.hardware import targets
from kernelinfo.reading import object_linking
from kernelinfo.reading.blob import UNBOUNDED, FileBudget
from kernelinfo.reading.code_object import descriptor, linking_section
from kernelinfo.reading.code_object.descriptor import (
    code_object_version,
    features,
    processor,
    with_settled_vgprs,
)
from kernelinfo.reading.code_object.note_metadata import NoteMetadata, shown_kernels
from kernelinfo.reading.code_object.symbols import (
    DESCRIBED,
    STT_AMDGPU_HSA_KERNEL,
    KernelSymbols,
    SymbolRow,
    kernel_symbols,
)
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import EM_AMDGPU, ET_REL, SHT_NOBITS, Elf, read_elf
from kernelinfo.reading.facts import (
    BEGIN,
    NOTHING,
    Features,
    KernelFacts,
    Module,
    Place,
    ReadFilter,
    ReadWarning,
    StatedNumbers,
)
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import symbol_numbers
from kernelinfo.reading.target_id import distinct

_COMMENT_BYTES = 1 << 16


def read(
    data: Data,
    *,
    arch: str | None = None,
    budget: FileBudget = UNBOUNDED,
    chosen: ReadFilter | None = None,
    positions: bool = True,
) -> Module:
    """One code object as a module: first the metadata's kernels in its order, then the kernels that
    have only a descriptor.

    `arch` is the target of an object that does not name its own. Kernels that are not `chosen`
    are listed in `Module.passed_over`, unless their numbers depend on all kernels of the object.
    Without `positions` the kernels have no `places`.
    Damage becomes a warning. Raises `ReadError` if nothing can be read.
    """
    warnings: list[ReadWarning] = []
    elf = read_elf(data, warnings)
    if elf.machine != EM_AMDGPU:
        raise ReadError(say("elf-of-host", machine=elf.machine))
    hardware = targets.by_elf_mach(elf.flags & 0xFF)
    if chosen and hardware and not chosen.processor(hardware.name):
        return _passed_over(elf, hardware.name, kernel_symbols(elf, [], DESCRIBED))
    is_chosen = None
    if chosen and hardware and not hardware.vgprs[0].early_encoding_granule:
        is_chosen = chosen.kernel
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
        functions = linking_section.functions(elf, linking, warnings)
        xnack = settings.xnack in ("any", "on")
        kernels = object_linking.with_callees(kernels, functions, target, xnack=xnack)
        notes = (object_linking.NOTE,)
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
    """The module of a processor or of kernels that are not chosen: only the names of kernels."""
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
    """Bytes of a kernel's code; None if its symbol states no size, or one beyond `file_bytes`."""
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
