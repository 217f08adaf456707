"""The registers that hold something when a kernel begins, as its descriptor sets them up.

AMDGPUUsage, "Initial Kernel Execution State": user SGPRs come first, then the system SGPRs that
are enabled; work-item ids are in v0 to v2, or packed in v0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from struct import unpack_from

from kernelinfo.pressure.registers import EVERY, span

_USER = {
    "user_sgpr_private_segment_buffer": 4,
    "user_sgpr_dispatch_ptr": 2,
    "user_sgpr_queue_ptr": 2,
    "user_sgpr_kernarg_segment_ptr": 2,
    "user_sgpr_dispatch_id": 2,
    "user_sgpr_flat_scratch_init": 2,
    "user_sgpr_private_segment_size": 1,
}
"""SGPRs that each directive takes where it is 1."""
_SYSTEM = 5
"""Workgroup ids x, y and z, workgroup information and the scratch offset, an SGPR each."""
_STATED = re.compile(
    r"(?:\.amdhsa_|enable_)?(user_sgpr_\w+|(?:system_)?vgpr_workitem_id)\s*(?:=\s*|\s)(\d{1,3})\b"
)


def from_directives(block: str) -> int:
    """The register set by the text of `.amdhsa_kernel` or `.amd_kernel_code_t`. System SGPRs are
    counted as if all of them were enabled; every register where no user SGPR is stated."""
    stated = {name.removeprefix("system_"): int(value) for name, value in _STATED.findall(block)}
    if not any(name.startswith("user_sgpr") for name in stated):
        return EVERY
    return _set_up(_user_sgprs(stated), stated.get("vgpr_workitem_id", 0))


def _user_sgprs(stated: Mapping[str, int]) -> int:
    named = sum(size for name, size in _USER.items() if stated.get(name))
    preloaded = stated.get("user_sgpr_kernarg_preload_length", 0)
    return stated.get("user_sgpr_count", named + preloaded)


def from_descriptor(raw: bytes) -> int:
    """The register set by the 64 bytes of a kernel descriptor.

    llvm/Support/AMDHSAKernelDescriptor.h, COMPUTE_PGM_RSRC2: bits 1 to 5 count user SGPRs, bits 11
    and 12 the work-item ids behind the first.
    """
    (rsrc2,) = unpack_from("<I", raw, 52)
    return _set_up(rsrc2 >> 1 & 31, rsrc2 >> 11 & 3)


def _set_up(user_sgprs: int, workitem_ids: int) -> int:
    return span("v", 0, min(workitem_ids, 2)) | span("s", 0, user_sgprs + _SYSTEM - 1)
