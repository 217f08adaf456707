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
    seen, pending = set(kernel.functions), [*kernel.functions]
    while pending:
        callee = callees.body(pending.pop())
        if callee is None:
            return None
        name, code = callee
        for index, count in enumerate(used(code.registers)):
            if count > most[index]:
                most[index], names[index] = count, name
        pending += (place for place in code.functions if place not in seen)
        seen.update(code.functions)
    vgprs, agprs, sgprs = most
    at_entry = entry_registers(function.entry)
    of_callees = names[0], names[1], names[2]
    return TouchedRegisters(vgprs, agprs, sgprs, *at_entry, of_callees, ranges(unwritten(function)))
