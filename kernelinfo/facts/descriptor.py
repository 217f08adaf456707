"""The kernel descriptor: what the hardware is told to reserve, generation by generation.

Layouts: LLVM's AMDGPUUsage, "Kernel Descriptor" and "Code Object V2 Metadata", and
llvm/Support/AMDHSAKernelDescriptor.h and AMDGPU/AMDKernelCodeT.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

from kernelinfo.model import Fact, FactName, KernelFacts
from kernelinfo.targets import Target

SIZE = 64
"""Bytes of a kernel descriptor, the `.kd` symbol of code object v3 on."""
SIZE_V2 = 256
"""Bytes of an amd_kernel_code_t, which stands before the code of a v2 kernel."""


def is_descriptor(raw: memoryview) -> bool:
    """Whether the bytes that every generation reserves are zero."""
    return raw[12:16] == raw[60:64] == bytes(4) and raw[24:44] == bytes(20)


def descriptor_facts(
    raw: memoryview, target: Target | None, *, offset: int, code_object_version: int | None
) -> Iterator[Fact]:
    """What the `SIZE` bytes of a descriptor say; `offset` is theirs in the code object.

    Without a target only what all generations share. LDS is not read from COMPUTE_PGM_RSRC2,
    where the dispatcher writes it.
    """
    lds, scratch = unpack_from("<II", raw)
    rsrc3, rsrc1, _rsrc2, properties = unpack_from("<IIIH", raw, 44)
    yield Fact("lds_bytes", lds, "descriptor", offset=offset)
    yield Fact("scratch_bytes_per_lane", scratch, "descriptor", offset=offset + 4)
    if (code_object_version or 0) >= 5:
        dynamic = bool(properties >> 11 & 1)
        yield Fact("dynamic_stack", dynamic, "descriptor", offset=offset + 56)
    if target is None:
        return
    wave_size = 32 if properties >> 10 & 1 and _has_waves(target, 32) else 64
    yield Fact("wave_size", wave_size, "descriptor", offset=offset + 56)
    yield from _reserved(rsrc1, target, wave_size, offset + 48)
    if len(target.domains) > 1:
        yield Fact("wgp_mode", bool(rsrc1 >> 29 & 1), "descriptor", offset=offset + 48)
    if target.agprs.file == "unified":
        accum_offset = ((rsrc3 & 63) + 1) * target.agprs.offset_granule
        yield Fact("accum_offset", accum_offset, "descriptor", offset=offset + 44)
    if target.tg_split:
        yield Fact("tg_split", bool(rsrc3 >> 16 & 1), "descriptor", offset=offset + 44)
    if is_gfx125(target):
        barriers = 4 * (rsrc3 >> 14 & 7)
        yield Fact("named_barriers", barriers, "descriptor", offset=offset + 44)


def descriptor_facts_v2(raw: memoryview, target: Target | None, *, offset: int) -> Iterator[Fact]:
    """What the `SIZE_V2` bytes of an amd_kernel_code_t say: registers exactly as well."""
    rsrc1, _rsrc2, properties, scratch, lds = unpack_from("<IIIII", raw, 48)
    sgprs, vgprs = unpack_from("<HH", raw, 84)
    yield Fact("vgprs", vgprs, "descriptor", offset=offset + 86)
    yield Fact("sgprs", sgprs, "descriptor", offset=offset + 84)
    yield Fact("lds_bytes", lds, "descriptor", offset=offset + 64)
    yield Fact("scratch_bytes_per_lane", scratch, "descriptor", offset=offset + 60)
    yield Fact("dynamic_stack", bool(properties >> 20 & 1), "descriptor", offset=offset + 56)
    if raw[103] in (5, 6):
        wave_size = 1 << raw[103]
        yield Fact("wave_size", wave_size, "descriptor", offset=offset + 103)
        if target is not None:
            yield from _reserved(rsrc1, target, wave_size, offset + 48)


def is_gfx125(target: Target) -> bool:
    """Whether the descriptor has gfx1250's fields."""
    return target.name.startswith(("gfx125", "gfx12-5"))


def _reserved(rsrc1: int, target: Target, wave_size: int, offset: int) -> Iterator[Fact]:
    if _has_waves(target, wave_size):
        vgprs = ((rsrc1 & 63) + 1) * target.vgpr_file(wave_size).encoding_granule
        yield Fact("reserved_vgprs", vgprs, "descriptor", offset=offset)
    if target.sgprs.encoding_granule:
        sgprs = ((rsrc1 >> 6 & 15) + 1) * target.sgprs.encoding_granule
        yield Fact("reserved_sgprs", sgprs, "descriptor", offset=offset)


def _has_waves(target: Target, wave_size: int) -> bool:
    return any(file.wave_size == wave_size for file in target.vgprs)


def without_doubtful_vgprs(kernels: list[KernelFacts]) -> list[KernelFacts]:
    """The kernels of a gfx125 object, less `reserved_vgprs` where its unit is in doubt.

    LLVM counted by 8 there while 22 was in development, and by 16 since; nothing in an object
    says which. One kernel that would lack room if counted by 8 settles it for all.
    """
    counts = [(_count(kernel, "reserved_vgprs"), _count(kernel, "vgprs")) for kernel in kernels]
    if all(reserved <= 16 for reserved, _ in counts) or any(r < 2 * used for r, used in counts):
        return kernels
    return [
        kernel._replace(facts=tuple(fact for fact in kernel.facts if fact.name != "reserved_vgprs"))
        if used
        else kernel
        for kernel, (_, used) in zip(kernels, counts, strict=True)
    ]


def _count(kernel: KernelFacts, name: FactName) -> int:
    """The number of that name; 0 where it is not said."""
    values = (fact.value for fact in kernel.facts if fact.name == name)
    return next((value for value in values if isinstance(value, int)), 0)
