"""Whether a descriptor counts VGPRs in today's unit, or in the one of a target's first compilers.

LLVM counted gfx1250's VGPRs by 8 until llvm/llvm-project #156546 (September 2025), and by 16 since.
A descriptor does not say which; other parts of the object do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kernelinfo.occupancy.compilers.llvm import least_vgprs
from kernelinfo.occupancy.targets import Target, Vgprs
from kernelinfo.reading.facts import KernelFacts, Module, Stated


def with_settled_vgprs(module: Module, target: Target, target_id: object) -> Module:
    """The module, its kernels' `reserved_vgprs` in the unit in which the object counts.

    Where nothing settles that they become `least_reserved_vgprs`, by the smaller unit. `target_id`
    is `amdhsa.target`.
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
    """Whether a flag, a name or a stamp is there that LLVM has only had since the change."""
    # XNACK's state is in e_flags since #161457; triples of the kind amdgpu12.50 are LLVM 24's.
    if module.features.xnack not in (None, "unsupported"):
        return True
    if isinstance(target_id, str) and target_id.startswith("amdgpu"):
        return True
    versions = (re.search(r"(?:LLD|clang version) (\d+)\.", stamp) for stamp in module.stamps)
    # What calls itself the release that changed the unit may be of before the change.
    return any(found and int(found[1]) > file.early_encoding_before for found in versions)


def _blocks(kernel: KernelFacts, file: Vgprs) -> tuple[int, int]:
    """VGPRs used and units reserved; 0 where the object does not say."""
    stated = [numbers for _, numbers in kernel.stated]
    used = next((one.vgprs for one in stated if one.vgprs is not None), 0)
    reserved = next((one.reserved_vgprs for one in stated if one.reserved_vgprs is not None), 0)
    return used, reserved // file.encoding_granule


def _could_encode(
    target: Target, file: Vgprs, unit: int, blocks: Sequence[tuple[int, int]]
) -> bool:
    """Whether LLVM, counting by `unit`, could have written all of these for what is used.

    It encodes what is used, or the least that keeps more than so many waves from fitting.
    """
    most, version = target.waves.slots_per_simd, file.early_encoding_before
    raised = {least_vgprs(target, version, file.wave_size, waves) for waves in range(1, most)}
    return all(
        count in {-(-vgprs // unit) for vgprs in (used, *raised) if vgprs >= used}
        for used, count in blocks
        if used and count
    )


def _counted_by(
    kernel: KernelFacts, name: str, units: tuple[int, int], granule: int
) -> KernelFacts:
    """The kernel with its reserved VGPRs by the smaller unit, under that name.

    Not where the hardware allocates one granule of either count.
    """

    def counted(stated: Stated) -> Stated:
        source, numbers = stated
        reserved = numbers.reserved_vgprs
        if reserved is None or reserved <= granule:
            return stated
        by_less: dict[str, Any] = {"reserved_vgprs": None}
        by_less[name] = reserved // units[0] * units[1]
        return source, numbers._replace(**by_less)

    return kernel._replace(stated=tuple(map(counted, kernel.stated)))
