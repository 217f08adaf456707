"""Kernels -> the registers that they touch, and those that they read though nothing wrote them."""

from __future__ import annotations

from kernelinfo.kernel.touched import TouchedRegisters
from kernelinfo.pressure.calls import CalledFunctions, body
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.registers import entry_registers, ranges, used
from kernelinfo.pressure.unwritten import unwritten


def touched_by(function: LiveFunction, callees: CalledFunctions) -> TouchedRegisters | None:
    """The registers that a kernel and its callees touch; None if not all of the code is known."""
    kernel = body(function.listing, function.flow, function.flow_reasons, callees.is_linked)
    if kernel is None:
        return None
    most, names = [*used(kernel.registers)], ["", "", ""]
    pending = [place for _, place in kernel.calls]
    seen = set(pending)
    while pending:
        callee = callees.at(pending.pop())
        if callee is None or callee.body is None:
            return None
        for index, count in enumerate(used(callee.body.registers)):
            if count > most[index]:
                most[index], names[index] = count, callee.symbol
        fresh = {place for _, place in callee.body.calls} - seen
        pending += fresh
        seen |= fresh
    vgprs, agprs, sgprs = most
    at_entry = entry_registers(function.entry)
    of_callees = names[0], names[1], names[2]
    return TouchedRegisters(vgprs, agprs, sgprs, *at_entry, of_callees, ranges(unwritten(function)))
