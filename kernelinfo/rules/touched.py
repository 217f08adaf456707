"""Rules on the registers that code touches; see `kernel.touched`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kernelinfo.kernel import Kernel, Remark
from kernelinfo.kernel.names import demangle, short
from kernelinfo.model import Occupancy
from kernelinfo.rules.messages import remark, say


class _Share(NamedTuple):
    """The registers of one class that a kernel touches and has."""

    noun: str
    letter: str
    touched: int
    declared: int | None
    allocated: int | None
    callee: str


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
    for share in _shares(kernel, occupancy):
        noun, letter, most, declared, allocated, callee = share
        if declared is None or allocated is None or most <= declared:
            continue
        code = say("KI006-kernel")
        if callee:
            code = say("KI006-callee", function=short(demangle(callee)))
        register = f"{letter}{most - 1}"
        if most > allocated:
            yield remark(
                "KI006", code=code, register=register, allocated=allocated, noun=noun, needed=most
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
                needed=most,
            )


def _shares(kernel: Kernel, occupancy: Occupancy) -> Iterator[_Share]:
    """The registers that the kernel touches; None for amounts that no descriptor states."""
    touched, target, numbers = kernel.touched, kernel.target, kernel.traits.numbers
    if touched is None or target is None:
        return
    of, offset, callees = occupancy.allocated, numbers.accum_offset, touched.callees
    reserved = None if numbers.dynamic_vgprs else numbers.reserved_vgprs
    arch, agprs = reserved, reserved
    if target.agprs.file == "unified" and reserved is not None:
        arch = None if offset is None else min(reserved, offset)
        agprs = None if offset is None else max(reserved - offset, 0)
    yield _Share("VGPRs", "v", touched.vgprs, arch, of.arch_vgprs, callees[0])
    yield _Share("AGPRs", "a", touched.agprs, agprs, of.agprs, callees[1])
    sgprs = numbers.reserved_sgprs if target.sgprs.per_simd else None
    yield _Share("SGPRs", "s", touched.sgprs, sgprs, of.sgprs, callees[2])
