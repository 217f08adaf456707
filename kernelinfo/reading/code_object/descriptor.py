"""The kernel descriptor: what the hardware is to allocate, generation by generation.

Layouts: LLVM's AMDGPUUsage, "Kernel Descriptor" and "Code Object V2 Metadata", and
llvm/Support/AMDHSAKernelDescriptor.h and AMDGPU/AMDKernelCodeT.h.
"""

from __future__ import annotations

from struct import unpack_from

from kernelinfo.errors import ReadError
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.facts import Fact

SIZE = 64
"""Bytes of a kernel descriptor, the `.kd` symbol of code object v3 on."""
SIZE_V2 = 256
"""Bytes of an amd_kernel_code_t, which stands before the code of a v2 kernel."""


def facts(raw: bytes, target: Target | None, *, code_object_version: int | None) -> list[Fact]:
    """What the bytes of a descriptor, or of an amd_kernel_code_t, say; nothing where there is none.

    Without a target only what all generations share. LDS is not read from COMPUTE_PGM_RSRC2,
    where the dispatcher writes it. Raises `ReadError` where bytes are set that every generation
    reserves.
    """
    if len(raw) == SIZE_V2:
        return _stated_v2(raw, target)
    if any(raw[12:16]) or any(raw[24:44]) or any(raw[60:64]):
        raise ReadError("what the symbol .kd points at is no descriptor")
    return _stated(raw, target, code_object_version) if raw else []


def stated(raw: bytes) -> bytes:
    """A descriptor with zeros where it says nothing that is read here, so that many are equal."""
    if len(raw) != SIZE:
        return raw
    return (int.from_bytes(raw, "little") & _READ).to_bytes(SIZE, "little")


# All but the size of the arguments, the entry of the code and COMPUTE_PGM_RSRC2.
_READ = (1 << 8 * SIZE) - 1
for _at, _size in ((8, 4), (16, 8), (52, 4)):
    _READ &= ~(((1 << 8 * _size) - 1) << 8 * _at)


def _stated(raw: bytes, target: Target | None, version: int | None) -> list[Fact]:
    lds, scratch = unpack_from("<II", raw)
    rsrc3, rsrc1, _rsrc2, properties = unpack_from("<IIIH", raw, 44)
    facts = [
        Fact("lds_bytes", lds, "descriptor", None, 0),
        Fact("scratch_bytes_per_lane", scratch, "descriptor", None, 4),
    ]
    if (version or 0) >= 5:
        dynamic = bool(properties >> 11 & 1)
        facts.append(Fact("dynamic_stack", dynamic, "descriptor", None, 56))
    if target is None:
        return facts
    wave_size = 32 if properties >> 10 & 1 and _has_waves(target, 32) else 64
    facts.append(Fact("wave_size", wave_size, "descriptor", None, 56))
    facts += _reserved(rsrc1, target, wave_size)
    if len(target.domains) > 1:
        facts.append(Fact("wgp_mode", bool(rsrc1 >> 29 & 1), "descriptor", None, 48))
    if target.agprs.file == "unified":
        accum_offset = ((rsrc3 & 63) + 1) * target.agprs.offset_granule
        facts.append(Fact("accum_offset", accum_offset, "descriptor", None, 44))
    if target.tg_split:
        facts.append(Fact("tg_split", bool(rsrc3 >> 16 & 1), "descriptor", None, 44))
    if target.named_barriers:
        barriers = 4 * (rsrc3 >> 14 & 7)
        facts.append(Fact("named_barriers", barriers, "descriptor", None, 44))
    return facts


def _stated_v2(raw: bytes, target: Target | None) -> list[Fact]:
    """Registers exactly as well."""
    rsrc1, _rsrc2, properties, scratch, lds = unpack_from("<IIIII", raw, 48)
    sgprs, vgprs = unpack_from("<HH", raw, 84)
    facts = [
        Fact("vgprs", vgprs, "descriptor", None, 86),
        Fact("sgprs", sgprs, "descriptor", None, 84),
        Fact("lds_bytes", lds, "descriptor", None, 64),
        Fact("scratch_bytes_per_lane", scratch, "descriptor", None, 60),
        Fact("dynamic_stack", bool(properties >> 20 & 1), "descriptor", None, 56),
    ]
    if raw[103] in (5, 6):
        wave_size = 1 << raw[103]
        facts.append(Fact("wave_size", wave_size, "descriptor", None, 103))
        if target is not None:
            facts += _reserved(rsrc1, target, wave_size)
    return facts


def _reserved(rsrc1: int, target: Target, wave_size: int) -> list[Fact]:
    facts = []
    if _has_waves(target, wave_size):
        vgprs = ((rsrc1 & 63) + 1) * target.vgpr_file(wave_size).encoding_granule
        facts.append(Fact("reserved_vgprs", vgprs, "descriptor", None, 48))
    if target.sgprs.encoding_granule:
        sgprs = ((rsrc1 >> 6 & 15) + 1) * target.sgprs.encoding_granule
        facts.append(Fact("reserved_sgprs", sgprs, "descriptor", None, 48))
    return facts


def _has_waves(target: Target, wave_size: int) -> bool:
    return any(file.wave_size == wave_size for file in target.vgprs)
