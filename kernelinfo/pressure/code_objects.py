"""Functions of a code object, with source lines and debug information."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from kernelinfo.analysis.kernels import freed
from kernelinfo.errors import ReadError, bug
from kernelinfo.kernel import Result
from kernelinfo.pressure.disassembly import listings
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.kernel_places import entry_of
from kernelinfo.pressure.listing import Listing, known_effect
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.code_object.dwarf import read_line_table, read_units
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.debug_entries import DebugUnit
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.messages import in_kernel
from kernelinfo.reading.paths import in_repository

HALVES = "low halves: the object does not tell whether writing them keeps the high halves"
"""Reason for inexact results."""
_LOW, _HIGH = re.compile(r"\b(v\d+)\.l\b"), re.compile(r"\bv\d+\.h\b")


def functions(
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
    low = [bool(_LOW.search(one.text)) for one in listing.instructions]
    if not any(low) or any(_HIGH.search(one.text) for one in listing.instructions):
        return function
    code = [
        one._replace(effect=known_effect(_LOW.sub(r"\1", one.text))) if is_low else one
        for one, is_low in zip(listing.instructions, low, strict=True)
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
    found = []
    for one in listing.instructions:
        row = bisect_right(addresses, one.address or 0)
        line = table[row - 1][1] if row else None
        found.append(one._replace(source=in_repository(line) if line else None))
    return listing._replace(instructions=tuple(found))


def units(blob: Blob, line: int) -> Iterator[DebugUnit]:
    """The units of debug information, up to the first that cannot be read.

    A text has others behind each `line`; a code object has only these.
    """
    try:
        yield from read_units(blob.data)
    except ReadError:  # the line table had the same error
        return
