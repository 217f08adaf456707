"""Settles the unit of a descriptor's VGPRs: today's, or the one of the target's first compilers.

LLVM counted gfx1250's VGPRs by 8 before llvm/llvm-project #156546 (September 2025), and by 16
since. The descriptor does not state its unit; other parts of the object often reveal it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kernelinfo.hardware.llvm_registers import least_vgprs
from kernelinfo.hardware.targets import Target, Vgprs
from kernelinfo.reading.data import integer
from kernelinfo.reading.facts import KernelFacts, Module, StatedNumbers


def with_settled_vgprs(module: Module, target: Target, target_id: object) -> Module:
    """The module with its kernels' `reserved_vgprs` in the right unit.

    If the unit stays open, the kernels get `least_reserved_vgprs` by the smaller unit instead.
    `target_id` is `amdhsa.target`.
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
    """True if a flag, a name or a stamp shows that LLVM wrote the object after the change."""
    # e_flags state XNACK since #161457; triples such as amdgpu12.50 exist since LLVM 24.
    if module.features.xnack not in (None, "unsupported"):
        return True
    if isinstance(target_id, str) and target_id.startswith("amdgpu"):
        return True
    versions = (re.search(r"(?:LLD|clang version) (\d+)\.", stamp) for stamp in module.stamps)
    # A development version of the release with the change may predate the change.
    return any(found and integer(found[1]) > file.early_encoding_before for found in versions)


def _blocks(kernel: KernelFacts, file: Vgprs) -> tuple[int, int]:
    """(VGPRs used, units reserved) per lane; 0 if the object does not say."""
    stated = [numbers for _, numbers in kernel.stated]
    used = next((one.vgprs for one in stated if one.vgprs is not None), 0)
    reserved = next((one.reserved_vgprs for one in stated if one.reserved_vgprs is not None), 0)
    return used, reserved // file.encoding_granule


def _could_encode(
    target: Target, file: Vgprs, unit: int, blocks: Sequence[tuple[int, int]]
) -> bool:
    """True if LLVM, with this unit, could have written all these (used, reserved) pairs.

    LLVM encodes the used count, or the least count that caps the waves at some number.
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
    """The kernel with its reserved VGPRs recounted by the smaller unit, in the field `name`.

    Unchanged if the hardware allocates one granule for both counts.
    """

    def counted(stated: StatedNumbers) -> StatedNumbers:
        source, numbers = stated
        reserved = numbers.reserved_vgprs
        if reserved is None or reserved <= granule:
            return stated
        by_less: dict[str, Any] = {"reserved_vgprs": None}
        by_less[name] = reserved // units[0] * units[1]
        return source, numbers._replace(**by_less)

    return kernel._replace(stated=tuple(map(counted, kernel.stated)))
