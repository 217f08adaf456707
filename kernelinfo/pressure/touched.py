"""Kernels -> the registers that they touch, and those that they read though nothing wrote them."""

from __future__ import annotations

from kernelinfo.kernel.touched import TouchedRegisters
from kernelinfo.pressure.calls import CalledFunctions, FunctionBody, body
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.registers import EVERY, VGPRS, ranges, used
from kernelinfo.pressure.unwritten import unwritten


def touched_by(function: LiveFunction, callees: CalledFunctions) -> TouchedRegisters | None:
    """As `touched`, with the registers that a kernel reads though nothing wrote them."""
    listing, flow, reasons = function.listing, function.flow, function.flow_reasons
    kernel = body(listing, flow, reasons, callees.is_linked)
    names = ranges(unwritten(function)) if kernel else ()
    return touched(kernel, callees, function.entry, names)


def touched(
    kernel: FunctionBody | None,
    callees: CalledFunctions,
    entry: int,
    unwritten_names: tuple[str, ...] = (),
) -> TouchedRegisters | None:
    """The registers that a kernel and its callees touch; None if not all of the code is known.

    `entry` are the registers that are set at its entry, `EVERY` if that is not known.
    """
    if kernel is None:
        return None
    most, names = [*used(kernel.registers)], ["", "", ""]
    seen, pending = set(kernel.functions), [*kernel.functions]
    while pending:
        function = callees.body(pending.pop())
        if function is None:
            return None
        name, code = function
        for index, count in enumerate(used(code.registers)):
            if count > most[index]:
                most[index], names[index] = count, name
        pending += (place for place in code.functions if place not in seen)
        seen.update(code.functions)
    vgprs, agprs, sgprs = most
    at_entry = 0 if entry == EVERY else used(entry & VGPRS).vgprs
    return TouchedRegisters(
        vgprs, agprs, sgprs, at_entry, (names[0], names[1], names[2]), unwritten_names
    )
