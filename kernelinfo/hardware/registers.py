"""Register counts: rounded to granules, VGPRs and AGPRs together, SGPRs with the reserved ones."""

from __future__ import annotations

from kernelinfo.hardware.targets import Target

REGISTER_BYTES = 4  # size of a VGPR in one lane, on every target


def align(count: int, granule: int) -> int:
    """`count` rounded up to a multiple of `granule`."""
    return -(-count // granule) * granule


def total_vgprs(target: Target, arch_vgprs: int, agprs: int) -> int:
    """VGPRs and AGPRs per lane together (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs).

    Unified file: VGPRs rounded up + AGPRs. Separate files (gfx908): the larger count."""
    if agprs and target.agprs.file == "unified":
        return align(arch_vgprs, target.agprs.offset_granule) + agprs
    return max(arch_vgprs, agprs)


def extra_sgprs(target: Target, *, vcc: bool, flat_scratch: bool, xnack: bool) -> int:
    """SGPRs per wave beyond the numbered ones (LLVM IsaInfo::getNumExtraSGPRs)."""
    sgprs = target.sgprs
    extra = sgprs.with_vcc if vcc else 0
    for used, count in ((xnack, sgprs.with_xnack), (flat_scratch, sgprs.with_flat_scratch)):
        # A target that needs no SGPRs for a feature states the count of VCC alone.
        if used and count > sgprs.with_vcc:
            extra = max(extra, count)
    return extra
