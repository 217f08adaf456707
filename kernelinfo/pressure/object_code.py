"""Code objects -> the code of their kernels, by an installed llvm-objdump."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from operator import itemgetter

from kernelinfo.analysis.kernels import freed
from kernelinfo.errors import ReadError, bug
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Kernel, Result
from kernelinfo.pressure.calls import CalledFunctions, Callee, FunctionPlace
from kernelinfo.pressure.disassembly import listings
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.listing import Listing, known_effect
from kernelinfo.pressure.registers import EVERY, from_descriptor
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.code_object import kernel_symbols
from kernelinfo.reading.code_object.descriptor import SIZE
from kernelinfo.reading.code_object.dwarf import read_line_table, read_units
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import ET_REL, SHT_RELA, read_elf
from kernelinfo.reading.facts import DebugUnit, SourceLine
from kernelinfo.reading.messages import in_kernel
from kernelinfo.reading.paths import in_repository

HALVES = "low halves: the object does not tell whether writing them keeps the high halves"
"""Reason for inexact results."""
_LineTable = Sequence[tuple[int, SourceLine | None]]
"""Address from which on code is of a source line → the line; in ascending order."""
_LOW, _HIGH = re.compile(r"\b(v\d+)\.l\b"), re.compile(r"\bv\d+\.h\b")


class ObjectCode:
    """The code of one code object."""

    def __init__(self, blob: Blob, target: Target | None) -> None:
        self._blob = blob
        self._target = target

    def listings(self, kernels: Sequence[Kernel]) -> Iterator[tuple[Kernel, Listing, int]]:
        """Each kernel whose code is in the file, with its listing and the registers set at its
        entry; without source lines if the line table is damaged. Raises `ReadError` as
        `disassembly.listings`."""
        by_symbol = {kernel.symbol: kernel for kernel in kernels}
        table: _LineTable = []
        with suppress(ReadError):
            table = self._line_table
        for symbol, listing in listings(self._blob.data, by_symbol, self._target):
            kernel = by_symbol[symbol]
            yield kernel, _located(listing, table), _entry_of(kernel, self._blob.data)

    @cached_property
    def _line_table(self) -> _LineTable:
        with freed():
            return read_line_table(self._blob.data)

    def read(
        self, results: Sequence[Result]
    ) -> Iterator[tuple[Result, LiveFunction | Problem | None]]:
        """The function of each kernel; None if its code is not in the file, or a problem."""
        blob, by_symbol = self._blob, {result.kernel.symbol: result for result in results}
        try:
            table = self._line_table
            for symbol, listing in listings(blob.data, [*by_symbol], self._target):
                if result := by_symbol.pop(symbol, None):
                    try:
                        entry = _entry_of(result.kernel, blob.data)
                        yield result, _followed(_located(listing, table), entry)
                    except Exception as error:
                        yield result, problem(blob, in_kernel(result.kernel.symbol, bug(error)))
        except ReadError as error:
            yield results[0], problem(blob, error.message)
        except Exception as error:
            yield results[0], problem(blob, bug(error))
        else:
            yield from ((result, None) for result in by_symbol.values())

    @cached_property
    def callees(self) -> CalledFunctions:
        """The functions that kernels call, by address."""
        elf = read_elf(self._blob.data, [])
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
            for symbol, listing in listings(self._blob.data, [name] if name else [], self._target):
                return Callee(symbol, listing)
            return None

        return CalledFunctions(read, {}, not is_relocated)

    @property
    def functions(self) -> Mapping[str, int | None]:
        """Name of each function → the line of its label, None."""
        return dict.fromkeys(kernel_symbols(read_elf(self._blob.data, []), []).code)

    def units(self, line: int) -> Iterator[DebugUnit]:
        """The units of debug information, up to the first that cannot be read.

        A text has others behind each `line`; a code object has only these.
        """
        try:
            yield from read_units(self._blob.data)
        except ReadError:  # the line table had the same error
            return


def _entry_of(kernel: Kernel, data: Data) -> int:
    """Registers that the kernel's descriptor sets up; all if it has no readable descriptor."""
    begins = (place.begin for place in kernel.places if place.source == "descriptor")
    start, version = next(begins, None), kernel.code_object.code_object_version
    if start is None or version is None or version < 3:
        return EVERY
    return from_descriptor(bytes(data.read(start, SIZE)))


def _followed(listing: Listing, entry: int) -> LiveFunction:
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


def _located(listing: Listing, table: _LineTable) -> Listing:
    """The listing with source lines from the line table."""
    if not table:
        return listing
    located = []
    for instruction in listing.instructions:
        row = bisect_right(table, instruction.address or 0, key=itemgetter(0))
        line = table[row - 1][1] if row else None
        located.append(instruction._replace(source=in_repository(line) if line else None))
    return listing._replace(instructions=tuple(located))
