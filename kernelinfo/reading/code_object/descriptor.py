"""The kernel descriptor: what the hardware is to allocate, generation by generation.

Layouts: LLVM's AMDGPUUsage, "Kernel Descriptor" and "Code Object V2 Metadata", and
llvm/Support/AMDHSAKernelDescriptor.h and AMDGPU/AMDKernelCodeT.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

from kernelinfo.errors import ReadError
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.facts import Fact, FactName
from kernelinfo.reading.resource_symbols import NAMED_BARRIERS

SIZE = 64
"""Bytes of a kernel descriptor, the `.kd` symbol of code object v3 on."""
SIZE_V2 = 256
"""Bytes of an amd_kernel_code_t, which stands before the code of a v2 kernel."""
_DYNAMIC_VGPRS_GFX120, _DYNAMIC_VGPRS_GFX125 = 6, 17
"""Bits of COMPUTE_PGM_RSRC2 and COMPUTE_PGM_RSRC3; the former is the trap handler's up to gfx11."""


def facts(raw: bytes, target: Target | None, *, code_object_version: int | None) -> list[Fact]:
    """What the bytes of a descriptor, or of an amd_kernel_code_t, say; nothing where there is none.

    Without a target only what all generations share. LDS is not read from COMPUTE_PGM_RSRC2,
    where the dispatcher writes it. Raises `ReadError` where bytes are set that every generation
    reserves.
    """
    if len(raw) == SIZE_V2:
        found = _stated_v2(raw, target)
    elif any(raw[12:16]) or any(raw[24:44]) or any(raw[60:64]):
        raise ReadError("what the symbol .kd points at is no descriptor")
    else:
        found = _stated(raw, target, code_object_version or 0) if raw else iter(())
    return [Fact(name, value, "descriptor", None, offset) for name, value, offset in found]


def stated(raw: bytes) -> bytes:
    """A descriptor with zeros where it says nothing that is read here, so that many are equal."""
    if len(raw) != SIZE:
        return raw
    # The size of the arguments, the entry of the code and most of COMPUTE_PGM_RSRC2.
    rsrc2 = bytes((raw[52] & 1 << _DYNAMIC_VGPRS_GFX120, 0, 0, 0))
    return b"".join((raw[:8], bytes(4), raw[12:16], bytes(8), raw[24:52], rsrc2, raw[56:]))


_Field = tuple[FactName, int | bool, int]
"""A fact, its value and its offset in bytes."""


def _stated(raw: bytes, target: Target | None, version: int) -> Iterator[_Field]:
    lds, scratch = unpack_from("<II", raw)
    rsrc3, rsrc1, rsrc2, properties = unpack_from("<IIIH", raw, 44)
    yield "lds_bytes", lds, 0
    yield "scratch_bytes_per_lane", scratch, 4
    if version >= 5:
        yield "dynamic_stack", bool(properties >> 11 & 1), 56
    if target is None:
        return
    wave_size = 32 if properties >> 10 & 1 and _has_waves(target, 32) else 64
    yield "wave_size", wave_size, 56
    yield from _reserved(rsrc1, target, wave_size)
    if len(target.domains) > 1:
        yield "wgp_mode", bool(rsrc1 >> 29 & 1), 48
    if target.agprs.file == "unified":
        yield "accum_offset", ((rsrc3 & 63) + 1) * target.agprs.offset_granule, 44
    if target.tg_split:
        yield "tg_split", bool(rsrc3 >> 16 & 1), 44
    if target.named_barriers:
        yield "named_barriers", NAMED_BARRIERS * (rsrc3 >> 14 & 7), 44
        if rsrc3 >> _DYNAMIC_VGPRS_GFX125 & 1:
            yield "dynamic_vgprs", True, 44
    elif target.vgprs[0].dynamic_blocks and rsrc2 >> _DYNAMIC_VGPRS_GFX120 & 1:
        yield "dynamic_vgprs", True, 52


def _stated_v2(raw: bytes, target: Target | None) -> Iterator[_Field]:
    """Registers exactly as well."""
    rsrc1, _rsrc2, properties, scratch, lds = unpack_from("<IIIII", raw, 48)
    sgprs, vgprs = unpack_from("<HH", raw, 84)
    yield "vgprs", vgprs, 86
    yield "sgprs", sgprs, 84
    yield "lds_bytes", lds, 64
    yield "scratch_bytes_per_lane", scratch, 60
    yield "dynamic_stack", bool(properties >> 20 & 1), 56
    if raw[103] in (5, 6):
        wave_size = 1 << raw[103]
        yield "wave_size", wave_size, 103
        if target is not None:
            yield from _reserved(rsrc1, target, wave_size)


def _reserved(rsrc1: int, target: Target, wave_size: int) -> Iterator[_Field]:
    if _has_waves(target, wave_size):
        granule = target.vgpr_file(wave_size).encoding_granule
        yield "reserved_vgprs", ((rsrc1 & 63) + 1) * granule, 48
    if granule := target.sgprs.encoding_granule:
        yield "reserved_sgprs", ((rsrc1 >> 6 & 15) + 1) * granule, 48


def _has_waves(target: Target, wave_size: int) -> bool:
    return any(file.wave_size == wave_size for file in target.vgprs)
