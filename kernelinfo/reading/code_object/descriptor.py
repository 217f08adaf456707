"""Decodes kernel descriptors: the resources to allocate, by hardware generation.

Layouts: LLVM's AMDGPUUsage, "Kernel Descriptor" and "Code Object V2 Metadata", and
llvm/Support/AMDHSAKernelDescriptor.h and AMDGPU/AMDKernelCodeT.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Any

from kernelinfo.errors import ReadError
from kernelinfo.hardware.targets import Target, find
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import NAMED_BARRIERS

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


def statement(raw: memoryview, at: int, *, is_v2: bool) -> Statement:
    """The bytes of the descriptor at offset `at`. Equal ones state the same numbers."""
    return (_STATEMENT_V2 if is_v2 else _STATEMENT).unpack_from(raw, at)


def within(statement: Statement, target: Target | None) -> Mapping[str, int]:
    """Number's name → byte offset of its field in a descriptor for this target."""
    if len(statement) == 1:
        return _WITHIN_V2
    return _WITHIN_GFX125 if target and target.named_barriers else _WITHIN


@lru_cache(maxsize=1 << 14)  # the 88,000 kernels of a library have some 10,000 descriptors
def numbers(
    statement: Statement, processor: str | None, code_object_version: int | None
) -> Numbers:
    """The numbers that a descriptor or amd_kernel_code_t states.

    Without `processor`: only the numbers whose fields are equal on all generations. LDS is not read
    from COMPUTE_PGM_RSRC2: the dispatcher overwrites it there. Raises `ReadError` if bytes are set
    that every generation reserves.
    """
    target = find(processor) if processor else None
    if len(statement) == 1:
        return _numbers_v2(statement[0], target)
    lds, scratch, a, b, c, d, rsrc3, rsrc1, rsrc2, properties, e = _WORDS.unpack(
        b"".join(statement)
    )
    if a or b or c or d or e:
        raise ReadError(say("descriptor-malformed"))
    found: dict[str, Any] = {"lds_bytes": lds, "scratch_bytes_per_lane": scratch}
    if (code_object_version or 0) >= 5:
        found["dynamic_stack"] = bool(properties >> 11 & 1)
    if target is None:
        return Numbers(**found)
    wave_size = 32 if properties >> 10 & 1 and _has_waves(target, 32) else 64
    found |= {"wave_size": wave_size, **_reserved(rsrc1, target, wave_size)}
    if len(target.domains) > 1:
        found["wgp_mode"] = bool(rsrc1 >> 29 & 1)
    if target.agprs.file == "unified":
        found["accum_offset"] = ((rsrc3 & 63) + 1) * target.agprs.offset_granule
    if target.tg_split:
        found["tg_split"] = bool(rsrc3 >> 16 & 1)
    if target.named_barriers:
        found["named_barriers"] = NAMED_BARRIERS * (rsrc3 >> 14 & 7)
        is_dynamic = rsrc3 >> _DYNAMIC_VGPRS_GFX125 & 1
    else:
        # Up to gfx11 this bit belongs to the trap handler.
        is_dynamic = rsrc2 >> _DYNAMIC_VGPRS_GFX120 & 1 if target.vgprs[0].dynamic_blocks else 0
    if is_dynamic:
        found["dynamic_vgprs"] = True
    return Numbers(**found)


def _numbers_v2(raw: bytes, target: Target | None) -> Numbers:
    """The numbers that an amd_kernel_code_t states; it also has the exact register counts."""
    rsrc1, properties, scratch, lds, sgprs, vgprs, log2_lanes = _WORDS_V2.unpack(raw)
    found = Numbers(
        lds_bytes=lds,
        scratch_bytes_per_lane=scratch,
        dynamic_stack=bool(properties >> 20 & 1),
        vgprs=vgprs,
        sgprs=sgprs,
    )
    if log2_lanes not in (5, 6):
        return found
    lanes = 1 << log2_lanes
    return found._replace(wave_size=lanes, **(_reserved(rsrc1, target, lanes) if target else {}))


def _reserved(rsrc1: int, target: Target, wave_size: int) -> dict[str, Any]:
    found = {}
    if _has_waves(target, wave_size):
        granule = target.vgpr_file(wave_size).encoding_granule
        found["reserved_vgprs"] = ((rsrc1 & 63) + 1) * granule
    if granule := target.sgprs.encoding_granule:
        found["reserved_sgprs"] = ((rsrc1 >> 6 & 15) + 1) * granule
    return found


def _has_waves(target: Target, wave_size: int) -> bool:
    return any(file.wave_size == wave_size for file in target.vgprs)
