"""Processor and features of a code object, from its ELF header, target id or notes."""

from __future__ import annotations

from reprlib import repr as shortened

from kernelinfo.hardware import targets
from kernelinfo.hardware.targets import Target
from kernelinfo.reading.elf import Elf
from kernelinfo.reading.facts import Features, ReadWarning, Setting
from kernelinfo.reading.messages import say
from kernelinfo.reading.target_id import TargetId, parse_target_id

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

    `isa` is from the note of code object v2; it counts if e_flags have no processor."""
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
    elf: Elf,
    target_id: object,
    isa: TargetId | None,
    arch: str | None,
    warnings: list[ReadWarning],
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
        message = say("target-id-malformed", target_id=shortened(target_id))
        warnings.append(ReadWarning(message))
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
