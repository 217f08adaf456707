"""Kernels of one blob -> their instructions by class, and the registers that they touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kernelinfo.errors import ReadError
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.code_object import InstructionCounts
from kernelinfo.kernel.touched import TouchedRegisters
from kernelinfo.pressure.assembly import AssemblyText
from kernelinfo.pressure.calls import CalledFunctions
from kernelinfo.pressure.counting import counted
from kernelinfo.pressure.disassembly import listings
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.kernel_places import callees_of, entry_of
from kernelinfo.pressure.listing import Listing, is_whole
from kernelinfo.pressure.messages import NO_PROGRAM, say
from kernelinfo.pressure.touched import touched_by
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers.parts import problem

if TYPE_CHECKING:
    from kernelinfo.analysis.options import CodeAndRemarks


def count_instructions(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks:
    """The instructions of each kernel of a blob by class, the registers that it touches, and what
    is wrong. None if not all is known.

    A missing llvm-objdump is one problem of the whole run: it names no file.
    """
    found = dict[tuple[str, int | None], tuple[InstructionCounts | None, TouchedRegisters | None]]()
    """Symbol and line → what is known of the code."""
    remarks: list[Problem | Note] = []
    try:
        for kernel, listing, entry, callees in _listings(blob, kernels):
            unknown = [reason for reason in listing.reasons if not is_whole([reason])]
            if listing.instructions and not unknown:
                touches = touched_by(LiveFunction(listing, entry), callees)
                found[kernel.symbol, kernel.line] = counted(listing.instructions), touches
            elif unknown:
                why = say("instructions-uncounted", kernel=kernel.symbol, why=unknown[0])
                remarks.append(Note(blob.path, why, blob.member))
    except ReadError as error:
        is_of_run = error.code in NO_PROGRAM
        remarks.append(
            Problem("--instructions", error.message) if is_of_run else problem(blob, error.message)
        )
    code = [found.get((kernel.symbol, kernel.line), (None, None)) for kernel in kernels]
    return code, remarks


def _listings(
    blob: Blob, kernels: Sequence[Kernel]
) -> Iterator[tuple[Kernel, Listing, int, CalledFunctions]]:
    """Each kernel with its listing, the registers set at its entry, and the functions it may
    call."""
    if not kernels:
        return
    first = kernels[0]
    if first.code_object.kind == "assembly":
        text = AssemblyText(blob.data.read())
        for kernel in kernels:
            if kernel.line is not None:
                listing = text.listing(kernel.symbol, kernel.line, kernel.target)
                entry, _ = text.entry(kernel.symbol, kernel.line)
                yield kernel, listing, entry, text.callees
    elif first.code_object.kind == "code-object":
        by_symbol = {kernel.symbol: kernel for kernel in kernels}
        callees = callees_of(blob.data, first.target)
        for symbol, listing in listings(blob.data, by_symbol, first.target):
            kernel = by_symbol[symbol]
            yield kernel, listing, entry_of(kernel, blob.data), callees
