"""Operators and functions of LLVM's assembler, on 64-bit integers that wrap around."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

from kernelinfo.hardware.llvm_registers import SGPR_STEPS
from kernelinfo.hardware.registers import align, extra_sgprs, total_vgprs
from kernelinfo.hardware.targets import Target


class Unresolved(NamedTuple):
    """The reason why an expression has no value."""

    reason: str


Evaluated = int | Unresolved


def wrap(value: int) -> int:
    """`value` wrapped around to a signed 64-bit integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def apply(name: str, values: Sequence[Evaluated], target: Target | None) -> Evaluated:
    """Result of an operator or function.

    `Unresolved` if one of `values` is (the first of them), or if the call itself has no result.
    """
    numbers: list[int] = []
    for value in values:
        if isinstance(value, Unresolved):
            return value
        numbers.append(value)
    try:
        if name in _BINARY and len(numbers) == 2:
            result: Evaluated = _BINARY[name](*numbers)
        elif name in _UNARY and len(numbers) == 1:
            result = _UNARY[name](*numbers)
        else:
            result = _function(name, numbers, target)
    except ZeroDivisionError:
        return Unresolved("a division by zero")
    except OverflowError as error:
        return Unresolved(str(error))
    return wrap(result) if isinstance(result, int) else result


def _shift_amount(amount: int) -> int:
    # Beyond 63 bits the assembler's result depends on its host processor.
    if not 0 <= amount < 64:
        raise OverflowError(f"a shift by {amount} of 64 bits")
    return amount


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_BINARY: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: int(bool(left or right)),
    "&&": lambda left, right: int(bool(left and right)),
    "==": lambda left, right: -(left == right),
    "!=": lambda left, right: -(left != right),
    "<>": lambda left, right: -(left != right),
    "<": lambda left, right: -(left < right),
    "<=": lambda left, right: -(left <= right),
    ">": lambda left, right: -(left > right),
    ">=": lambda left, right: -(left >= right),
    "+": operator.add,
    "-": operator.sub,
    "|": operator.or_,
    "!": lambda left, right: left | ~right,
    "^": operator.xor,
    "&": operator.and_,
    "*": operator.mul,
    "/": _truncated,
    "%": lambda left, right: left - right * _truncated(left, right),
    "<<": lambda left, right: left << _shift_amount(right),
    ">>": lambda left, right: left % (1 << 64) >> _shift_amount(right),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "~": operator.invert,
    "!": lambda value: int(not value),
    "+": operator.pos,
}


def _function(name: str, values: list[int], target: Target | None) -> Evaluated:
    """Result of a target's function (LLVM AMDGPUMCExpr::evaluateAsRelocatableImpl and callees)."""
    match name, values:
        case "max", [_, *_]:
            return max(values)
        case "min", [_, *_]:
            return min(values)
        case "or", [_, *_]:
            return reduce(operator.or_, values)
        case "alignto", [value, granule]:
            return align(value, granule)
        case "totalnumvgprs", [agprs, vgprs]:
            if target is not None:
                return total_vgprs(target, vgprs, agprs)
            return Unresolved("totalnumvgprs of an unknown target") if agprs else max(agprs, vgprs)
        case "extrasgprs", [vcc, flat_scratch, xnack]:
            if target is None:
                return Unresolved("extrasgprs of an unknown target")
            flat = bool(flat_scratch) or target.sgprs.architected_flat_scratch
            return extra_sgprs(target, vcc=bool(vcc), flat_scratch=flat, xnack=bool(xnack))
        case "occupancy", [waves, granule, total, generation, initial, sgprs, vgprs]:
            by_sgprs = _waves_of_generation(generation, sgprs, waves)
            by_vgprs = _waves(total, vgprs, granule, waves)
            return _least(initial, (sgprs, by_sgprs), (vgprs, by_vgprs))
        case "occupancy", [waves, granule, total, initial, file, step, trap, sgprs, vgprs]:
            by_sgprs = min(max(file // (align(sgprs, step) + trap), 1), waves)
            by_vgprs = _waves(total, vgprs, granule, waves)
            return _least(initial, (sgprs, by_sgprs), (vgprs, by_vgprs))
        case "instprefsize", _:
            return Unresolved("the size of the code is not in the text")
        case (("max" | "min" | "or" | "alignto" | "totalnumvgprs" | "extrasgprs" | "occupancy"), _):
            return Unresolved(f"{name} does not take {len(values)} arguments")
    return Unresolved(f"{name!r} is no function of the assembler")


def _waves(total: int, registers: int, granule: int, most: int) -> int:
    """Waves per SIMD that VGPRs allow (LLVM IsaInfo::getNumWavesPerEUWithNumVGPRs)."""
    return most if registers < granule else min(max(total // align(registers, granule), 1), most)


def _waves_of_generation(generation: int, sgprs: int, most: int) -> int:
    """Waves per SIMD that SGPRs allow (LLVM 20 to 23, IsaInfo::getOccupancyWithNumSGPRs)."""
    if generation >= 9:  # AMDGPUSubtarget::GFX10: SGPRs are not shared
        return most
    steps = SGPR_STEPS[800 if generation >= 7 else 512]
    return min(next((waves for upto, waves in steps if sgprs <= upto), steps[-1][1]), most)


def _least(initial: int, *limits: tuple[int, int]) -> int:
    # A register count of zero is unknown and limits nothing.
    return min([initial, *(waves for used, waves in limits if used)])
