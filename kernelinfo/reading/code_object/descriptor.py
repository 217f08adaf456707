"""Decodes kernel descriptors: the resources to allocate, by hardware generation.

Layouts: LLVM's AMDGPUUsage, "Kernel Descriptor" and "Code Object V2 Metadata", and
llvm/Support/AMDHSAKernelDescriptor.h and AMDGPU/AMDKernelCodeT.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from reprlib import repr as shortened
from struct import Struct
from typing import Any

from kernelinfo.errors import ReadError
from kernelinfo.hardware import targets
from kernelinfo.hardware.llvm_registers import least_vgprs
from kernelinfo.hardware.targets import Target, Vgprs, find
from kernelinfo.reading.data import integer
from kernelinfo.reading.elf import RELA, SHT_SYMTAB, SYMBOL_BYTES, Elf, Section, string_at
from kernelinfo.reading.facts import (
    Features,
    KernelFacts,
    Module,
    Numbers,
    ReadWarning,
    Setting,
    StatedNumbers,
)
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import NAMED_BARRIERS, LinkedFunction
from kernelinfo.reading.target_id import TargetId, parse_target_id

SIZE = 64
"""Bytes of a kernel descriptor, the `.kd` symbol since code object v3."""
SIZE_V2 = 256
"""Bytes of an amd_kernel_code_t, directly before the code of a v2 kernel."""
_DYNAMIC_VGPRS_GFX120, _DYNAMIC_VGPRS_GFX125 = 6, 17
"""Bit numbers in COMPUTE_PGM_RSRC2 (gfx120x) and COMPUTE_PGM_RSRC3 (gfx125x). Up to gfx11 the
former belongs to the trap handler."""

_STATEMENT = Struct("<8s4x4s8x40s")
_STATEMENT_V2 = Struct("<256s")
_WORDS = Struct("<IIIIQQIIIH2xI")
"""Bytes of LDS and scratch, four reserved words, COMPUTE_PGM_RSRC3, 1 and 2, the properties, a
reserved field."""
_WORDS_V2 = Struct("<48xI4xIII16xHH15xB152x")
"""COMPUTE_PGM_RSRC1, properties, scratch and LDS, SGPRs, VGPRs, log2 of the wave's lanes."""

Statement = tuple[bytes, ...]
"""Bytes of a descriptor, without the size of the arguments and the code's entry, which differ
between kernels that state the same; or an amd_kernel_code_t."""

_WITHIN: Mapping[str, int] = {
    **{"lds_bytes": 0, "scratch_bytes_per_lane": 4, "dynamic_stack": 56, "wave_size": 56},
    **{"reserved_vgprs": 48, "least_reserved_vgprs": 48, "reserved_sgprs": 48, "wgp_mode": 48},
    **{"accum_offset": 44, "tg_split": 44, "named_barriers": 44, "dynamic_vgprs": 52},
}
"""Number's name → byte offset of its field in a kernel descriptor."""
_WITHIN_GFX125: Mapping[str, int] = {**_WITHIN, "dynamic_vgprs": 44}
_WITHIN_V2: Mapping[str, int] = {
    **{"vgprs": 86, "sgprs": 84, "lds_bytes": 64, "scratch_bytes_per_lane": 60},
    **{"dynamic_stack": 56, "wave_size": 103, "reserved_vgprs": 48, "reserved_sgprs": 48},
}
"""Number's name → byte offset of its field in an amd_kernel_code_t."""


def statement(raw: memoryview, offset: int, *, is_v2: bool) -> Statement:
    """The bytes of the descriptor at an `offset`. Equal bytes state equal numbers."""
    return (_STATEMENT_V2 if is_v2 else _STATEMENT).unpack_from(raw, offset)


def within(statement: Statement, target: Target | None) -> Mapping[str, int]:
    """The byte offset of each number's field in a descriptor for this target, by the number's
    name."""
    if len(statement) == 1:
        return _WITHIN_V2
    return _WITHIN_GFX125 if target and target.named_barriers else _WITHIN


@lru_cache(maxsize=1 << 14)  # the 88,000 kernels of a library have some 10,000 descriptors
def numbers(
    statement: Statement, processor: str | None, code_object_version: int | None
) -> Numbers:
    """The numbers that a descriptor or amd_kernel_code_t states.

    Without a `processor`, only the numbers whose fields are the same on all generations. LDS is not
    read from COMPUTE_PGM_RSRC2: the dispatcher overwrites it there. Raises `ReadError` if bytes
    that every generation reserves are set.
    """
    target = find(processor) if processor else None
    if len(statement) == 1:
        return _numbers_v2(statement[0], target)
    lds, scratch, a, b, c, d, rsrc3, rsrc1, rsrc2, properties, e = _WORDS.unpack(
        b"".join(statement)
    )
    if a or b or c or d or e:
        raise ReadError(say("descriptor-malformed"))
    stated: dict[str, Any] = {"lds_bytes": lds, "scratch_bytes_per_lane": scratch}
    if (code_object_version or 0) >= 5:
        stated["dynamic_stack"] = bool(properties >> 11 & 1)
    if target is None:
        return Numbers(**stated)
    wave_size = 32 if properties >> 10 & 1 and _has_waves(target, 32) else 64
    stated |= {"wave_size": wave_size, **_reserved(rsrc1, target, wave_size)}
    if len(target.domains) > 1:
        stated["wgp_mode"] = bool(rsrc1 >> 29 & 1)
    if target.agprs.file == "unified":
        stated["accum_offset"] = ((rsrc3 & 63) + 1) * target.agprs.offset_granule
    if target.tg_split:
        stated["tg_split"] = bool(rsrc3 >> 16 & 1)
    if target.named_barriers:
        stated["named_barriers"] = NAMED_BARRIERS * (rsrc3 >> 14 & 7)
        is_dynamic = rsrc3 >> _DYNAMIC_VGPRS_GFX125 & 1
    else:
        # Up to gfx11 this bit belongs to the trap handler.
        is_dynamic = rsrc2 >> _DYNAMIC_VGPRS_GFX120 & 1 if target.vgprs[0].dynamic_blocks else 0
    if is_dynamic:
        stated["dynamic_vgprs"] = True
    return Numbers(**stated)


def _numbers_v2(raw: bytes, target: Target | None) -> Numbers:
    """The numbers that an amd_kernel_code_t states; it also has the exact register counts."""
    rsrc1, properties, scratch, lds, sgprs, vgprs, log2_lanes = _WORDS_V2.unpack(raw)
    stated = Numbers(
        lds_bytes=lds,
        scratch_bytes_per_lane=scratch,
        dynamic_stack=bool(properties >> 20 & 1),
        vgprs=vgprs,
        sgprs=sgprs,
    )
    if log2_lanes not in (5, 6):
        return stated
    lanes = 1 << log2_lanes
    return stated._replace(wave_size=lanes, **(_reserved(rsrc1, target, lanes) if target else {}))


def _reserved(rsrc1: int, target: Target, wave_size: int) -> dict[str, Any]:
    reserved = {}
    if _has_waves(target, wave_size):
        granule = target.vgpr_file(wave_size).encoding_granule
        reserved["reserved_vgprs"] = ((rsrc1 & 63) + 1) * granule
    if granule := target.sgprs.encoding_granule:
        reserved["reserved_sgprs"] = ((rsrc1 >> 6 & 15) + 1) * granule
    return reserved


def _has_waves(target: Target, wave_size: int) -> bool:
    return any(file.wave_size == wave_size for file in target.vgprs)


# Settles the unit of a descriptor's VGPRs: today's, or the one of the target's first compilers.
#
# LLVM counted gfx1250's VGPRs by 8 before llvm/llvm-project #156546 (September 2025), and by 16
# since. The descriptor does not state its unit; other parts of the object often reveal it.


def with_settled_vgprs(module: Module, target: Target, target_id: object) -> Module:
    """The module, with its kernels' `reserved_vgprs` in the correct unit.

    If the unit cannot be determined, the kernels get `least_reserved_vgprs` in the smaller unit
    instead. `target_id` is `amdhsa.target`.
    """
    file = target.vgprs[0]
    units = (file.encoding_granule, file.early_encoding_granule)
    if not file.early_encoding_granule or _is_of_a_later_compiler(module, file, target_id):
        return module
    blocks = [_blocks(kernel, file) for kernel in module.kernels]
    fitting = [unit for unit in units if _could_encode(target, file, unit, blocks)]
    if fitting == [units[0]] or any(count * units[1] < used for used, count in blocks):
        return module
    name = "reserved_vgprs" if fitting == [units[1]] else "least_reserved_vgprs"
    kernels = [_counted_by(kernel, name, units, file.granule) for kernel in module.kernels]
    return module._replace(kernels=tuple(kernels))


def _is_of_a_later_compiler(module: Module, file: Vgprs, target_id: object) -> bool:
    """True if a flag, a name or a stamp shows that the object is from an LLVM after the change of
    the unit."""
    # e_flags state XNACK since #161457; triples such as amdgpu12.50 exist since LLVM 24.
    if module.features.xnack not in (None, "unsupported"):
        return True
    if isinstance(target_id, str) and target_id.startswith("amdgpu"):
        return True
    versions = (re.search(r"(?:LLD|clang version) (\d+)\.", stamp) for stamp in module.stamps)
    # A development version of the release with the change may predate the change.
    return any(version and integer(version[1]) > file.early_encoding_before for version in versions)


def _blocks(kernel: KernelFacts, file: Vgprs) -> tuple[int, int]:
    """(VGPRs used, units reserved) per lane; 0 if the object does not say."""
    stated = [numbers for _, numbers in kernel.stated]
    used = next((numbers.vgprs for numbers in stated if numbers.vgprs is not None), 0)
    reserved = next(
        (numbers.reserved_vgprs for numbers in stated if numbers.reserved_vgprs is not None), 0
    )
    return used, reserved // file.encoding_granule


def _could_encode(
    target: Target, file: Vgprs, unit: int, blocks: Sequence[tuple[int, int]]
) -> bool:
    """True if LLVM, with this unit, could have written all these pairs (VGPRs used, units
    reserved). LLVM reserves the used count, or the smallest count that limits the waves to some
    number."""
    slots, version = target.waves.slots_per_simd, file.early_encoding_before
    raised = {least_vgprs(target, version, file.wave_size, waves) for waves in range(1, slots)}
    return all(
        count in {-(-vgprs // unit) for vgprs in (used, *raised) if vgprs >= used}
        for used, count in blocks
        if used and count
    )


def _counted_by(
    kernel: KernelFacts, name: str, units: tuple[int, int], granule: int
) -> KernelFacts:
    """The kernel, with its reserved VGPRs recounted in the smaller unit, in the field `name`.

    Unchanged if the hardware allocates one granule for both counts.
    """

    def counted(stated: StatedNumbers) -> StatedNumbers:
        source, numbers = stated
        reserved = numbers.reserved_vgprs
        if reserved is None or reserved <= granule:
            return stated
        by_less: dict[str, Any] = {"reserved_vgprs": None}
        by_less[name] = reserved // units[0] * units[1]
        return source, numbers._replace(**by_less)

    return kernel._replace(stated=tuple(map(counted, kernel.stated)))


# Processor and features of a code object, from its ELF header, target id or notes.

_ELFOSABI_AMDGPU_HSA = 64

_VERSIONS = {0: 2, 1: 3, 2: 4, 3: 5, 4: 6}
"""EI_ABIVERSION → code object version."""
_XNACK_V2, _FEATURES_V2 = 1, 3
_STATES: tuple[Setting, ...] = ("unsupported", "any", "off", "on")


def code_object_version(elf: Elf) -> int | None:
    """The code object version; None if the object is not for HSA, or its version is unknown."""
    return _VERSIONS.get(elf.abi_version) if elf.os_abi == _ELFOSABI_AMDGPU_HSA else None


def features(elf: Elf, version: int | None, isa: TargetId | None) -> Features:
    """XNACK and SRAMECC from e_flags, whose bits changed with code object version 4.

    `isa` is from the note of code object v2; it is used if e_flags name no processor."""
    if version is None:
        return Features()
    if _names_no_processor(elf, version):
        on = elf.flags & _XNACK_V2 or (isa and isa.settings)
        return Features("on" if on else "off", "off")
    if version < 4:
        xnack, sramecc = elf.flags & 0x100, elf.flags & 0x200
        return Features("on" if xnack else "off", "on" if sramecc else "off")
    return Features(_STATES[elf.flags >> 8 & 3], _STATES[elf.flags >> 10 & 3])


def _names_no_processor(elf: Elf, version: int | None) -> bool:
    """True for e_flags of early v2 objects: they only state XNACK and a trap handler (AMDGPUUsage,
    `EF_AMDGPU_FEATURE_XNACK_V2` and `EF_AMDGPU_FEATURE_TRAP_HANDLER_V2`)."""
    return version == 2 and elf.flags <= _FEATURES_V2


def processor(
    elf: Elf, target_id: object, isa: TargetId | None, arch: str | None, warnings: list[ReadWarning]
) -> tuple[str | None, Target | None]:
    """(name, target) of the processor, from the first source that names one: e_flags,
    `amdhsa.target`, the ISA version note, `arch`.

    The target is None for an unknown name; both are None without a name.
    """
    parsed = parse_target_id(target_id) if isinstance(target_id, str) else None
    named = parsed.processor if parsed else None
    if parsed and parsed.odd:
        message = say("target-feature-odd", named=named, odd=shortened(parsed.odd))
        warnings.append(ReadWarning(message))
    elif parsed is None and target_id is not None:
        warnings.append(ReadWarning(say("target-id-malformed", target_id=shortened(target_id))))
    mach = 0 if _names_no_processor(elf, code_object_version(elf)) else elf.flags & 0xFF
    target = targets.by_elf_mach(mach)
    if target is not None:
        if named not in (None, target.name):
            message = say("target-contradiction", flags=target.name, named=named)
            warnings.append(ReadWarning(message, offset=48))
        return target.name, target
    name = named or (isa.processor if isa else arch)
    if mach:
        read_as = say("target-read-as", name=name) if name else ""
        message = say("target-elf-unknown", mach=mach, read_as=read_as)
        warnings.append(ReadWarning(message, offset=48))
    return name, targets.find(name) if name and name in targets.known() else None


# Reads the section `.amdgpu.info` of objects for a later device link. Entries:
#
#     u8 u8     kind, and bytes of the payload; kinds that are not known are skipped
#     1         u64, relocated: the function that the following entries describe
#     2         u32: flags; 1 VCC, 2 flat scratch, 4 dynamic stack
#     3 4 5 6   u32: SGPRs, VGPRs, AGPRs, bytes of scratch, of this function alone
#     7         u64, relocated: an LDS variable that it uses
#     8         u64, relocated: a function that it calls
#     9         u32: the type of functions that it calls by a pointer
#
# llvm/include/llvm/Support/AMDGPUObjLinkingInfo.h, as LLVM 24git writes it.

_INFO_RELOCATIONS = ".rela.amdgpu.info"
_NAME_AND_SIZE = Struct("<I12xQ")
_FUNCTION, _FLAGS, _SGPRS, _VGPRS, _AGPRS, _SCRATCH, _USE, _CALL, _INDIRECT = range(1, 10)
_INFO_NUMBERS = {
    _FLAGS: "flags",
    _SGPRS: "sgprs",
    _VGPRS: "vgprs",
    _AGPRS: "agprs",
    _SCRATCH: "scratch",
}
_POINTERS = (_FUNCTION, _USE, _CALL)


def read_linking_info(
    elf: Elf, section: Section, warnings: list[ReadWarning]
) -> dict[str, LinkedFunction]:
    """Function's name → resources of the function alone, without callees.

    Reading stops at a damaged entry, whose function is marked open (`LinkedFunction.is_open`).
    """
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
        for kind, offset, payload in _info_entries(bytes(data)):
            symbol = symbols.get(offset)
            if kind == _FUNCTION:
                function = LinkedFunction()
                if symbol is not None:
                    by_name[symbol[0]] = function
            elif function is None:
                raise ReadError(say("linking-info-numbers"))
            else:
                _add_entry(function, kind, payload, symbol)
    except ReadError as error:
        message = say("linking-info-damaged", section=section.name, error=error)
        warnings.append(ReadWarning(message, offset=section.offset))
        if function is not None:
            function.is_open = True
    return by_name


def _symbols_at(elf: Elf) -> dict[int, tuple[str, int]]:
    """Offset in the section → (name, size in bytes) of the symbol that a relocation fills in."""
    relocations = next((s for s in elf.sections if s.name == _INFO_RELOCATIONS), None)
    table = next((s for s in elf.sections if s.type == SHT_SYMTAB), None)
    if relocations is None or table is None or table.link >= len(elf.sections):
        return {}
    rows, symbols = elf.bytes_of(relocations), elf.bytes_of(table)
    strings = bytes(elf.bytes_of(elf.sections[table.link]) or b"")
    by_offset: dict[int, tuple[str, int]] = {}
    if rows is None or symbols is None:
        return by_offset
    for offset, info, _ in RELA.iter_unpack(rows[: len(rows) - len(rows) % RELA.size]):
        start = (info >> 32) * SYMBOL_BYTES
        if start + SYMBOL_BYTES <= len(symbols):
            name_at, size = _NAME_AND_SIZE.unpack_from(symbols, start)
            by_offset[offset] = string_at(strings, name_at) or "", size
    return by_offset


def _info_entries(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(kind, offset, bytes) of each entry's payload. Raises `ReadError` at a damaged entry."""
    offset = 0
    while offset + 2 <= len(data):
        kind, size = data[offset], data[offset + 1]
        payload = data[offset + 2 : offset + 2 + size]
        expected = 8 if kind in _POINTERS else 4
        if len(payload) < size or (kind <= _INDIRECT and size != expected):
            raise ReadError(say("linking-info-entry", kind=kind, size=size, at=offset))
        yield kind, offset + 2, payload
        offset += 2 + size


def _add_entry(
    function: LinkedFunction, kind: int, payload: bytes, symbol: tuple[str, int] | None
) -> None:
    name, size = symbol or ("", 0)
    if kind in _INFO_NUMBERS:
        setattr(function, _INFO_NUMBERS[kind], int.from_bytes(payload, "little"))
    elif kind == _USE and symbol is not None:
        function.uses[name] = size
    elif kind == _CALL and symbol is not None:
        function.calls.append(name)
    elif kind in (_USE, _CALL, _INDIRECT):
        function.is_open = True
