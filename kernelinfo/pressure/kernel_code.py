"""Kernels of one blob -> their code: live registers, instructions by class, touched registers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kernelinfo.analysis.kernels import freed
from kernelinfo.errors import ReadError, bug
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.code_object import TouchedRegisters
from kernelinfo.pressure.assembly import AssemblyText
from kernelinfo.pressure.calls import CalledFunctions, Callee, FunctionBody, FunctionPlace, body_of
from kernelinfo.pressure.curve import counted, loop_counts
from kernelinfo.pressure.disassembly import listings
from kernelinfo.pressure.flow import BlockEffects, needed_from
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.instructions import InstructionEffect, operation
from kernelinfo.pressure.listing import KILL, Instruction, Listing, is_whole, known_effect
from kernelinfo.pressure.messages import NO_PROGRAM, say
from kernelinfo.pressure.registers import (
    EVERY,
    entry_registers,
    from_descriptor,
    named,
    ranges,
    union,
    used,
    whole,
)
from kernelinfo.pressure.rules import access, is_merging
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.code_object import kernel_symbols
from kernelinfo.reading.code_object.descriptor import SIZE
from kernelinfo.reading.code_object.dwarf import read_line_table, read_units
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.data import Data
from kernelinfo.reading.debug_entries import DebugUnit
from kernelinfo.reading.elf import ET_REL, SHT_RELA, read_elf
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.messages import in_kernel
from kernelinfo.reading.paths import in_repository

if TYPE_CHECKING:
    from kernelinfo.analysis.options import CodeAndRemarks, ReadInCode


def callees_of(data: Data, target: Target | None) -> CalledFunctions:
    """The functions of a code object, by address."""
    elf = read_elf(data, [])
    is_relocated = any(
        section.type == SHT_RELA and section.name.startswith(".rela.text")
        for section in elf.sections
    )
    names: dict[int, str | None] = {}
    for name, symbol in kernel_symbols(elf, []).code.items():
        is_ambiguous = symbol.value in names and elf.type == ET_REL  # in another section
        names[symbol.value] = None if is_ambiguous else name

    def read(place: FunctionPlace) -> Callee | None:
        name = names.get(int(place))
        for symbol, listing in listings(data, [name], target) if name else ():
            return Callee(symbol, listing)
        return None

    return CalledFunctions(read, {}, not is_relocated)


def entry_of(kernel: Kernel, data: Data) -> int:
    """Registers that the kernel's descriptor sets up; all if it has no readable descriptor."""
    begins = (place.begin for place in kernel.places if place.source == "descriptor")
    start, version = next(begins, None), kernel.code_object.code_object_version
    if start is None or version is None or version < 3:
        return EVERY
    return from_descriptor(bytes(data.read(start, SIZE)))


HALVES = "low halves: the object does not tell whether writing them keeps the high halves"
"""Reason for inexact results."""
_LOW, _HIGH = re.compile(r"\b(v\d+)\.l\b"), re.compile(r"\bv\d+\.h\b")


def read_functions(
    blob: Blob, results: Sequence[Result]
) -> Iterator[tuple[Result, LiveFunction | Problem | None]]:
    """The function of each kernel; None if its code is not in the file, or a problem."""
    by_symbol = {result.kernel.symbol: result for result in results}
    try:
        with freed():
            table = read_line_table(blob.data)
        addresses = [address for address, _ in table]
        for symbol, listing in listings(blob.data, [*by_symbol], results[0].kernel.target):
            if result := by_symbol.pop(symbol, None):
                try:
                    entry = entry_of(result.kernel, blob.data)
                    yield result, followed(_located(listing, table, addresses), entry)
                except Exception as error:
                    yield result, problem(blob, in_kernel(result.kernel.symbol, bug(error)))
    except ReadError as error:
        yield results[0], problem(blob, error.message)
    except Exception as error:
        yield results[0], problem(blob, bug(error))
    else:
        yield from ((result, None) for result in by_symbol.values())


def followed(listing: Listing, entry: int) -> LiveFunction:
    """The function of disassembled code.

    An object does not say whether its compiler used halves of VGPRs (LLVM's feature real-true16);
    a high half proves it. Without it, a write of `v1.l` was one of v1 as a whole for the compiler.
    Where the two differ, the function is not exact.
    """
    function = LiveFunction(listing, entry)
    low = [bool(_LOW.search(instruction.text)) for instruction in listing.instructions]
    if not any(low) or any(_HIGH.search(instruction.text) for instruction in listing.instructions):
        return function
    code = [
        instruction._replace(effect=known_effect(_LOW.sub(r"\1", instruction.text)))
        if is_low
        else instruction
        for instruction, is_low in zip(listing.instructions, low, strict=True)
    ]
    of_wholes = LiveFunction(listing._replace(instructions=tuple(code)), entry)
    if _peak(of_wholes) == _peak(function):
        return function
    return LiveFunction(listing, entry, (HALVES,))


def _peak(function: LiveFunction) -> list[int]:
    """Most live registers of each class."""
    return [max(column) for column in zip(*function.counts, strict=True)]


def _located(
    listing: Listing, table: Sequence[tuple[int, SourceLine | None]], addresses: Sequence[int]
) -> Listing:
    """The listing with source lines from the line table."""
    if not table:
        return listing
    located = []
    for instruction in listing.instructions:
        row = bisect_right(addresses, instruction.address or 0)
        line = table[row - 1][1] if row else None
        located.append(instruction._replace(source=in_repository(line) if line else None))
    return listing._replace(instructions=tuple(located))


def read_debug_units(blob: Blob, line: int) -> Iterator[DebugUnit]:
    """The units of debug information, up to the first that cannot be read.

    A text has others behind each `line`; a code object has only these.
    """
    try:
        yield from read_units(blob.data)
    except ReadError:  # the line table had the same error
        return


def unwritten(function: LiveFunction) -> int:
    """The set of registers whose first access on each path from the entry is a read, although the
    kernel's descriptor does not set them up.

    LLVM's `implicit-def` comments count as writes. An instruction that changes a part of a register
    is no reader of the rest. Empty if the code or the entry is not known for certain.
    """
    if function.reasons or function.entry == EVERY or not function.code:
        return 0
    suspects = whole(function.needed[0] & ~whole(function.entry))
    if not suspects:
        return 0
    reads_first, writes_first, touches = list[int](), list[int](), list[int]()
    for block in range(function.size):
        read = written = 0
        for index in function.flow.instructions(block):
            instruction = function.instructions[index]
            if (instruction.effect.reads | instruction.effect.writes) & suspects:
                read |= whole(_reads(instruction)) & suspects & ~(read | written)
                written |= whole(instruction.effect.writes) & suspects & ~(read | written)
        reads_first.append(read)
        writes_first.append(written)
        touches.append(read | written)
    graph = function.graph
    first_read, are_all = needed_from(graph, BlockEffects(reads_first, touches, []))
    first_written, are_all_too = needed_from(graph, BlockEffects(writes_first, touches, []))
    return first_read[0] & ~first_written[0] if are_all and are_all_too else 0


def _reads(instruction: Instruction) -> int:
    """Registers that an instruction reads as a whole."""
    effect: InstructionEffect = instruction.effect
    if effect.mnemonic == KILL:
        return 0
    if not effect.reads & effect.writes or not instruction.text:
        return effect.reads
    return union(map(_reads_of_half, instruction.text.split("::")))


def _reads_of_half(text: str) -> int:
    taken, encoding = operation(text)
    written, kept = access(taken, encoding)
    merged = kept if is_merging(taken) else ()
    return union(
        named(operand)
        for position, operand in enumerate(taken.operands)
        if not operand[:1].isdigit()
        and (position not in written or (position in kept and position not in merged))
    )


def touched_by(
    function: LiveFunction, kernel: FunctionBody | None, callees: CalledFunctions
) -> TouchedRegisters | None:
    """The registers that a kernel and its callees touch; None if not all of the code is known.

    `kernel` is what is known of the function's code."""
    if kernel is None:
        return None
    counts, names = [*used(kernel.registers)], ["", "", ""]
    pending = [place for _, place in kernel.calls]
    seen = set(pending)
    while pending:
        callee = callees.at(pending.pop())
        if callee is None or callee.body is None:
            return None
        for index, count in enumerate(used(callee.body.registers)):
            if count > counts[index]:
                counts[index], names[index] = count, callee.symbol
        fresh = {place for _, place in callee.body.calls} - seen
        pending += fresh
        seen |= fresh
    vgprs, agprs, sgprs = counts
    at_entry = entry_registers(function.entry)
    of_callees = names[0], names[1], names[2]
    return TouchedRegisters(vgprs, agprs, sgprs, *at_entry, of_callees, ranges(unwritten(function)))


def count_instructions(blob: Blob, kernels: Sequence[Kernel]) -> CodeAndRemarks:
    """The instructions of each kernel of a blob by class, the registers that it touches, its loops,
    and what is wrong. None if not all is known.

    A missing llvm-objdump is one problem of the whole run: it names no file.
    """
    code_of: dict[tuple[str, int | None], ReadInCode] = {}
    """Symbol and line → what is known of the code."""
    remarks: list[Problem | Note] = []
    try:
        for kernel, listing, entry, callees in _listings(blob, kernels):
            unknown = [reason for reason in listing.reasons if not is_whole([reason])]
            if listing.instructions and not unknown:
                function = LiveFunction(listing, entry)
                touches = touched_by(function, body_of(function, callees), callees)
                code_of[kernel.symbol, kernel.line] = (
                    counted(listing.instructions),
                    touches,
                    loop_counts(function),
                )
            elif unknown:
                why = say("instructions-uncounted", kernel=kernel.symbol, why=unknown[0])
                remarks.append(Note(blob.path, why, blob.member))
    except ReadError as error:
        is_of_run = error.code in NO_PROGRAM
        remarks.append(
            Problem("--instructions", error.message) if is_of_run else problem(blob, error.message)
        )
    code = [code_of.get((kernel.symbol, kernel.line), (None, None, None)) for kernel in kernels]
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
