"""Kernels of one blob -> their instructions by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kernelinfo.errors import ReadError
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.instruction_counts import InstructionCounts
from kernelinfo.pressure.assembly import AssemblyText
from kernelinfo.pressure.counting import counted
from kernelinfo.pressure.disassembly import NoDisassembler, listings
from kernelinfo.pressure.listing import Listing, is_whole
from kernelinfo.pressure.messages import say
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.containers.parts import problem

if TYPE_CHECKING:
    from kernelinfo.analysis.options import CountsAndRemarks


def count_instructions(blob: Blob, kernels: Sequence[Kernel]) -> CountsAndRemarks:
    """The counts of each kernel of a blob, and what is wrong. None if not all is known.

    A missing llvm-objdump is one problem of the whole run: it names no file.
    """
    found: dict[tuple[str, int | None], InstructionCounts] = {}
    remarks: list[Problem | Note] = []
    try:
        for kernel, listing in _listings(blob, kernels):
            unknown = [reason for reason in listing.reasons if not is_whole([reason])]
            if listing.instructions and not unknown:
                found[kernel.symbol, kernel.line] = counted(listing.instructions)
            elif unknown:
                why = say("instructions-uncounted", kernel=kernel.symbol, why=unknown[0])
                remarks.append(Note(blob.path, why, blob.member))
    except NoDisassembler as error:
        remarks.append(Problem("--instructions", error.message))
    except ReadError as error:
        remarks.append(problem(blob, error.message))
    return [found.get((kernel.symbol, kernel.line)) for kernel in kernels], remarks


def _listings(blob: Blob, kernels: Sequence[Kernel]) -> Iterator[tuple[Kernel, Listing]]:
    if not kernels:
        return
    first = kernels[0]
    if first.code_object.kind == "assembly":
        text = AssemblyText(blob.data.read())
        for kernel in kernels:
            if kernel.line is not None:
                yield kernel, text.listing(kernel.symbol, kernel.line, kernel.target)
    elif first.code_object.kind == "code-object":
        by_symbol = {kernel.symbol: kernel for kernel in kernels}
        for symbol, listing in listings(blob.data, by_symbol, first.target):
            yield by_symbol[symbol], listing
