"""Rules on the registers that code touches; see `kernel.touched`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kernelinfo.hardware.targets import align
from kernelinfo.kernel import Kernel, Remark, waves_per_simd
from kernelinfo.kernel.names import demangle, short
from kernelinfo.model import Occupancy, occupancy
from kernelinfo.model.limits import RESOURCES
from kernelinfo.rules.messages import remark, say


def unallocated_registers(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """The code touches registers that are not allocated.

    What it finds: a VGPR, AGPR or SGPR that the code of the kernel or of a function that it calls
    names, above those that the descriptor makes the hardware allocate. A warning if the hardware
    rounds up to it. Only where all code was read: assembly without a compiler's stamp, and with
    `--instructions`, `pressure` and `explain` everything else.
    Why it matters: a register out of range reads as v0 and drops what is written, or belongs to
    another wave. The results are wrong, and nothing says so.
    What to do: declare as many registers as the code and its callees name.
    """
    for noun, letter, needed, declared, allocated, callee in _shares(kernel, occupancy):
        if declared is None or allocated is None or needed <= declared:
            continue
        code = say("KI006-kernel")
        if callee:
            code = say("KI006-callee", function=short(demangle(callee)))
        register = f"{letter}{needed - 1}"
        if needed > allocated:
            yield remark(
                "KI006", code=code, register=register, allocated=allocated, noun=noun, needed=needed
            )
        else:
            yield remark(
                "KI006-covered",
                "warning",
                code=code,
                register=register,
                declared=declared,
                noun=noun,
                allocated=allocated,
                target=occupancy.target,
                needed=needed,
            )


def unwritten_registers(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Registers are read that nothing wrote.

    What it finds: in assembly without a compiler's stamp that was read whole, registers that every
    path reads before anything writes them, and that the hardware does not set at the kernel's
    entry. Compilers read such registers on purpose; `pressure` and `explain` list those.
    Why it matters: the register holds what the last wave left there.
    What to do: write the register first, or state in the descriptor that it is set.
    """
    unwritten = kernel.touched.unwritten if kernel.touched else ()
    if unwritten and kernel.code_object.kind == "assembly" and not _is_compiled(kernel):
        yield remark("KI007", registers=", ".join(unwritten))


def untouched_registers(kernel: Kernel, result: Occupancy) -> Iterator[Remark]:
    """Fewer registers than are allocated would do, and give more waves.

    What it finds: a kernel without a compiler's stamp or counts whose code, its callees' included,
    touches fewer VGPRs, AGPRs or SGPRs than the descriptor makes the hardware allocate, if those
    alone would give more waves. It needs code that was read whole. `padded-registers` replaces it
    where the metadata counts fewer, too.
    Why it matters: a few numbers in the descriptor cost waves.
    What to do: write the numbers that it names; the code stays as it is.
    """
    target, demand = kernel.target, kernel.traits.demand
    if kernel.touched is None or target is None or demand is None or demand.is_padded:
        return
    if _is_compiled(kernel):  # registers that inline assembly reserves are touched by no text
        return
    fewer_vgprs, fewer_sgprs = _fewer_vgprs(kernel, result), _fewer_sgprs(kernel, result)
    choices = [fewer_vgprs, fewer_sgprs]
    if fewer_vgprs and fewer_sgprs:
        choices.append(_both(fewer_vgprs, fewer_sgprs))
    best, reached = None, result
    for fewer in filter(None, choices):
        answer = occupancy(target, result.demand._replace(**fewer.demand), result.launch)
        if answer.waves > reached.waves:
            best, reached = fewer, answer
    if best:
        yield remark(
            "KI209",
            allocated=best.allocated,
            touched=best.touched,
            numbers=best.numbers,
            more=waves_per_simd(reached.waves_per_simd),
            waves=f"{result.waves_per_simd:.4g}",
            limits=" and ".join(RESOURCES[limiter] for limiter in reached.limiters),
        )


class _Fewer(NamedTuple):
    """Registers that would do, in words and as fields of the demand."""

    allocated: str
    touched: str
    numbers: str
    demand: dict[str, Any]


def _both(first: _Fewer, second: _Fewer) -> _Fewer:
    return _Fewer(
        say("KI209-both", first=first.allocated, second=second.allocated),
        say("KI209-both", first=first.touched, second=second.touched),
        say("KI209-both", first=first.numbers, second=second.numbers),
        first.demand | second.demand,
    )


def _fewer_vgprs(kernel: Kernel, result: Occupancy) -> _Fewer | None:
    """The VGPRs and AGPRs that would do; None if they are not fewer, or not known."""
    touched, target, numbers = kernel.touched, kernel.target, kernel.traits.numbers
    if touched is None or target is None or not touched.entry_vgprs:
        return None
    if numbers.reserved_vgprs is None or numbers.dynamic_vgprs or result.demand.vgprs is None:
        return None
    arch = max(touched.vgprs, touched.entry_vgprs)
    fewer = result.demand.with_registers(target, arch, touched.agprs)
    if fewer.vgprs is None or fewer.vgprs >= result.demand.vgprs:
        return None
    code = say("KI209-vgprs", vgprs=fewer.vgprs)
    if fewer.accum_offset:
        code = say("KI209-offset", vgprs=fewer.vgprs, offset=fewer.accum_offset)
    names = ("vgprs", "accum_offset", "arch_vgprs", "agprs", "used_vgprs")
    return _Fewer(
        f"{result.allocated.vgprs} VGPRs",
        say("KI209-agprs", vgprs=arch, agprs=touched.agprs) if touched.agprs else str(arch),
        code,
        {name: getattr(fewer, name) for name in names},
    )


def _fewer_sgprs(kernel: Kernel, result: Occupancy) -> _Fewer | None:
    """The SGPRs that would do; None if they are not fewer, not known, or never limit."""
    touched, target = kernel.touched, kernel.target
    if touched is None or target is None or not touched.entry_sgprs:
        return None
    if not target.sgprs.per_simd or target.sgprs.fixed_allocation or result.demand.sgprs is None:
        return None
    needed_by_code = max(touched.sgprs, touched.entry_sgprs)
    needed = align(needed_by_code + target.sgprs.with_flat_scratch, target.sgprs.encoding_granule)
    if needed >= result.demand.sgprs:
        return None
    return _Fewer(
        f"{result.allocated.sgprs} SGPRs",
        str(needed_by_code),
        say("KI209-sgprs", sgprs=needed_by_code),
        {"sgprs": needed},
    )


def _is_compiled(kernel: Kernel) -> bool:
    """True if a compiler stamped the code, or left its counts in comments or symbols."""
    sources = {source for source, _ in kernel.traits.stated}
    return kernel.code_object.compiler is not None or bool(sources & {"kernel-info", "symbol"})


def _shares(
    kernel: Kernel, occupancy: Occupancy
) -> Iterator[tuple[str, str, int, int | None, int | None, str]]:
    """(noun, letter, registers touched, declared, allocated, callee that touches the last) of each
    class of registers; None for amounts that no descriptor states."""
    touched, target, numbers = kernel.touched, kernel.target, kernel.traits.numbers
    if touched is None or target is None:
        return
    amounts, offset, callees = occupancy.allocated, numbers.accum_offset, touched.callees
    reserved = None if numbers.dynamic_vgprs else numbers.reserved_vgprs
    arch, agprs = reserved, reserved
    if target.agprs.file == "unified" and reserved is not None:
        arch = None if offset is None else min(reserved, offset)
        agprs = None if offset is None else max(reserved - offset, 0)
    yield "VGPRs", "v", touched.vgprs, arch, amounts.arch_vgprs, callees[0]
    yield "AGPRs", "a", touched.agprs, agprs, amounts.agprs, callees[1]
    sgprs = numbers.reserved_sgprs if target.sgprs.per_simd else None
    yield "SGPRs", "s", touched.sgprs, sgprs, amounts.sgprs, callees[2]
