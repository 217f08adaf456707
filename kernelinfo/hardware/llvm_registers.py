"""LLVM's formulas between registers and waves per SIMD (LLVM: EU), right or wrong.

They are from llvm/lib/Target/AMDGPU/Utils/AMDGPUBaseInfo.cpp (IsaInfo); "#n" is a pull request of
llvm/llvm-project. `llvm_target` is a target with the constants of the LLVM version
(`model.compilers.target_in_llvm`).
"""

from __future__ import annotations

from kernelinfo.hardware.targets import Target, align

SGPR_STEPS = {
    800: ((80, 10), (88, 9), (100, 8), (1 << 16, 7)),
    512: ((48, 10), (56, 9), (64, 8), (72, 7), (80, 6), (1 << 16, 5)),
}
"""SGPRs per SIMD → (most SGPRs of a wave, waves per SIMD) of each step (LLVM up to 22,
getOccupancyWithNumSGPRs)."""


def waves_by_vgprs(llvm_target: Target, wave_size: int, vgprs: int, dynamic_block: int = 0) -> int:
    """Waves per SIMD for `vgprs` per lane, at least 1 (IsaInfo::getNumWavesPerEUWithNumVGPRs).

    `dynamic_block` is the block of dynamic VGPRs, in VGPRs per lane; 0 for static VGPRs.
    """
    file, slots = llvm_target.vgpr_file(wave_size), llvm_target.waves.slots_per_simd
    granule = dynamic_block or file.granule
    if vgprs < granule:
        return slots
    return min(max(file.per_simd // align(vgprs, granule), 1), slots)


def waves_by_sgprs(llvm_target: Target, version: int, sgprs: int, trap_handler: bool = True) -> int:
    """Waves per SIMD for `sgprs` per wave (IsaInfo::getOccupancyWithNumSGPRs).

    LLVM up to 22 looks the waves up in a table; since #201342 LLVM computes them as the hardware
    does, where `trap_handler` adds the SGPRs of a trap handler. `version` is LLVM's major version.
    """
    slots, file = llvm_target.waves.slots_per_simd, llvm_target.sgprs
    if not file.per_simd:
        return slots
    if version < 23:
        return min(slots, next(w for count, w in SGPR_STEPS[file.per_simd] if sgprs <= count))
    reserve = file.trap_handler if trap_handler else 0
    return min(max(file.per_simd // (align(sgprs, file.granule) + reserve), 1), slots)


def least_vgprs(llvm_target: Target, version: int, wave_size: int, waves: int) -> int:
    """The fewest VGPRs per lane with which at most `waves` waves fit (IsaInfo::getMinNumVGPRs)."""
    file, slots = llvm_target.vgpr_file(wave_size), llvm_target.waves.slots_per_simd

    def share(count: int) -> int:
        return file.per_simd // count // file.granule * file.granule

    if waves >= slots:
        return 0
    if version < 16:
        return min(share(waves + 1) + 1, file.addressable)
    if share(waves) == share(slots):
        return 0
    fewest = waves_by_vgprs(llvm_target, wave_size, file.addressable)
    if waves < fewest:
        return least_vgprs(llvm_target, version, wave_size, fewest)
    return min(1 + min(share(waves) - file.granule, share(waves + 1)), file.addressable)


def least_sgprs(llvm_target: Target, waves: int, trap_handler: bool = True) -> int:
    """The fewest SGPRs per wave with which at most `waves` waves fit (IsaInfo::getMinNumSGPRs)."""
    file = llvm_target.sgprs
    if not file.per_simd or waves >= llvm_target.waves.slots_per_simd:
        return 0
    share = file.per_simd // (waves + 1) - (file.trap_handler if trap_handler else 0)
    # IsaInfo::getAddressableNumSGPRs excludes VCC, flat scratch and XNACK.
    addressable = file.fixed_allocation or (102 if file.per_simd == 800 else 104)
    return min(share // file.granule * file.granule + 1, addressable)
