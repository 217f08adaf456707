"""The result of HIP's `hipOccupancyMaxActiveBlocksPerMultiprocessor`.

Source: ROCm/clr f9f995c6 (October 2024), hipamd/src/hip_platform.cpp:337-438 and
rocclr/device/rocm/rocdevice.cpp:1815-1880; its fixes of 2026: ROCm/rocm-systems #9571 (LDS of both
CUs in WGP mode) and #10618 (SGPRs of the trap handler).
"""

from __future__ import annotations

from kernelinfo.hardware.targets import Target, align, believed
from kernelinfo.model.limits import Demand, Launch, lds_of

_LAST_UNFIXED = 2025  # up to this year HIP assumes the VGPR file of gfx9 for targets it lacks


def max_active_blocks(target: Target, demand: Demand, launch: Launch, *, fixed: bool = True) -> int:
    """Workgroups per "multiprocessor": per WGP in WGP mode (gfx10 and later), else per CU.

    `demand` has the metadata's numbers (`.vgpr_count`, `.sgpr_count`): HIP does not read the
    descriptor, which may reserve more. `fixed` selects HIP with the fixes of 2026.
    """
    if launch.workgroup_size > target.waves.max_workgroup_size:
        return 0
    domain = target.domain(demand.wgp_mode)
    file = target.vgpr_file(demand.wave_size)
    if not fixed:
        file = file._replace(**believed(file.believed, "HIP", _LAST_UNFIXED))
    by_vgprs = file.per_simd // align(max(1, demand.vgprs or 0), file.granule)
    waves = min(_slots(target), by_vgprs, _by_sgprs(target, demand, launch, fixed))
    lanes = domain.simds * waves * demand.wave_size
    workgroups = lanes // align(launch.workgroup_size, demand.wave_size)
    if lds_bytes := lds_of(demand, launch):
        pool = domain.lds_bytes if fixed else target.lds.bytes_per_workgroup
        workgroups = min(workgroups, pool // lds_bytes)
    return workgroups


def _slots(target: Target) -> int:
    """Waves per SIMD: 8 up to gfx9 ("limited by SPI"), 16 later, although RDNA1 has 20."""
    return 8 if target.sgprs.per_simd else 16


def _by_sgprs(target: Target, demand: Demand, launch: Launch, fixed: bool) -> int:
    """Waves per SIMD for which there are SGPRs. Without the fix: a granule of 16 on every target
    and no SGPRs of a trap handler."""
    sgprs = target.sgprs
    if not (sgprs.per_simd and demand.sgprs):
        return _slots(target)
    if not fixed:
        return sgprs.per_simd // align(demand.sgprs, 16)
    reserve = sgprs.trap_handler if launch.trap_handler else 0
    return sgprs.per_simd // (align(demand.sgprs, sgprs.granule) + reserve)
