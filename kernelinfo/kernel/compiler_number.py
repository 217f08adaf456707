"""Compares the compiler's occupancy with the hardware's and finds the fewest causes of the gap."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from kernelinfo.hardware.llvm_registers import least_sgprs
from kernelinfo.hardware.targets import Target, align, find
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy, compilers
from kernelinfo.reading.data import integer


class CompilerNumber(NamedTuple):
    """The compiler's own `; Occupancy:`, compared with the hardware's."""

    waves_per_simd: int  # what it printed
    agrees: bool | None
    """True if it is the hardware's number; None if the occupancy is unknown or belongs to another
    target than the code's."""
    reason: str | None
    """Why it differs, in words; None if it agrees, or if that is not known."""


def compiler_number(
    traits: Traits, code_object: CodeObject, occupancy: Occupancy | None
) -> CompilerNumber | None:
    """The number that the compiler printed, and why it differs; None if it printed none."""
    printed = traits.numbers.compiler_waves_per_simd
    if printed is None:
        return None
    same = None if occupancy is None else agrees(traits, code_object, occupancy)
    reason = None
    if occupancy is not None and same is False:
        reason = why(traits, code_object, occupancy) or "differs, not explained"
    return CompilerNumber(printed, same, reason)


def agrees(traits: Traits, code_object: CodeObject, occupancy: Occupancy) -> bool | None:
    """True if the compiler printed this occupancy, False if another; None if it printed none, or if
    this occupancy is of another target than the code's."""
    printed = traits.numbers.compiler_waves_per_simd
    if printed is None or code_object.target != occupancy.target:
        return None
    return printed == occupancy.waves_per_simd


def why(traits: Traits, code_object: CodeObject, occupancy: Occupancy) -> str | None:
    """In words, the fewest differences in counting that explain the compiler's number, with the
    LLVM version; None if the numbers agree or nothing explains them."""
    printed, target, demand = traits.numbers.compiler_waves_per_simd, traits.target, traits.demand
    if agrees(traits, code_object, occupancy) is not False or printed is None or target is None:
        return None
    if demand is None or demand.vgprs is None or demand.lds_bytes is None:
        return None
    stated = _stated_version(code_object)
    # Other versions are tried after the stated one: a file names its front end, forks mix versions.
    for version in (stated, *_REVISIONS) if stated else _REVISIONS:
        llvm_target = compilers.target_in_llvm(target, version)
        choices = product(_blocks(traits), _sizes(traits, llvm_target), _sgprs(traits, llvm_target))
        for block, sizes, sgprs in choices:
            # The compiler raises VGPRs by its own granule; the hardware's may hide the difference.
            raised = demand._replace(
                vgprs=traits.numbers.reserved_vgprs or demand.vgprs,
                sgprs=sgprs,
                dynamic_vgpr_block=block,
            )
            if compilers.waves_per_simd(target, version, raised, sizes) == printed:
                devices = tuple(map(find, target.members)) or (target,)
                case = compilers.Case(devices, target, raised, occupancy.launch, sizes, version)
                names = compilers.fewest(case, printed, bool(occupancy.obstacles)) or ()
                if block != demand.dynamic_vgpr_block:
                    names += ("vgpr-blocks",)
                if version != (stated or version):
                    names += ("other-version",)
                words = ", ".join(compilers.CAUSES[name] for name in names)
                return f"{words} (LLVM {version})" if names else None
    return None


def _stated_version(code_object: CodeObject) -> int | None:
    match = re.search(r"version (\d{1,9})\.", code_object.compiler or "")
    return min(max(integer(match[1]), compilers.FIRST), compilers.MAIN) if match else None


_REVISIONS = (compilers.MAIN, 23, 22, 19, 18, 15)
"""Last major version of LLVM with each formula, newest first."""


def _blocks(traits: Traits) -> tuple[int, ...]:
    """Possible block sizes of dynamic VGPRs, the demand's first; 0 stands for static VGPRs.

    The compiler knows the size; the file may not state it."""
    block = traits.demand.dynamic_vgpr_block if traits.demand else 0
    if traits.numbers.dynamic_vgprs is None:
        return (block,)
    return tuple(dict.fromkeys((block, 0, *compilers.DYNAMIC_BLOCKS)))


def _sizes(traits: Traits, llvm_target: Target) -> Iterator[tuple[int, int]]:
    """Possible (smallest, largest) workgroup sizes of the source, in workitems; no file states the
    smallest."""
    declared = traits.numbers.max_workgroup_size
    compiled = [numbers for source, numbers in traits.stated if source != "sidecar"]
    required = (numbers.required_workgroup for numbers in compiled)
    if sizes := next(filter(None, required), None):
        size = math.prod(sizes)
        yield compilers.sizes_of((size, size), llvm_target)
        if declared is None or declared <= size:
            return
    step = traits.numbers.wave_size or llvm_target.waves.default_size
    smallest, largest = compilers.sizes_of((1, declared or 0), llvm_target)
    yield from ((size, largest) for size in (smallest, *range(step + 1, largest + 1, step)))
    if declared is None:
        yield from ((smallest, size) for size in range(largest - step, 0, -step))


def _sgprs(traits: Traits, llvm_target: Target) -> list[int]:
    """Possible values of `NumSGPRsForWavesPerEU`; the descriptor states the value only rounded."""
    used, encoded = traits.numbers.sgprs or 0, traits.numbers.reserved_sgprs
    granule = llvm_target.sgprs.encoding_granule
    if encoded is None or not granule:
        return [used]
    bounds = range(llvm_target.waves.slots_per_simd, 0, -1)
    raised = dict.fromkeys(max(used, least_sgprs(llvm_target, bound)) for bound in bounds)
    return [count for count in raised if align(max(1, count), granule) == encoded] or [encoded]
