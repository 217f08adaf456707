"""Rows in JSON lines or CSV -> their kernels."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from kernelinfo.compare.messages import say
from kernelinfo.compare.saved_kernel import (
    SavedKernel,
    count,
    limiters,
    numbers,
    options,
    text,
    value,
)
from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.csv_guard import unguarded
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.record import BETWEEN_COMPILERS, INSTRUCTIONS, NAMES, NUMBERS, Record
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.target_id import UNKNOWN_TARGET

HEADING = ",".join(NAMES[:2]).encode()  # the first bytes of CSV with rows

_COLUMNS = tuple((number, number.name) for number in NUMBERS)
_COUNTED = tuple((number, number.name) for number in INSTRUCTIONS)
_TEXTS = {
    *("Kernel_Name", "Symbol", "Target", "Compiled_For", "Library", "Path", "Member"),
    *("Workgroup_Size_From", "Bound_Reason", "Next_Resource", "Compiler", "Source_File"),
}
_LISTS = {"Limiters", "Findings", "Options"}
_WORDS = {"": None, "True": True, "False": False}


def rows_of_csv(data: str) -> Iterator[Record]:
    """The rows of CSV with typed values."""
    for number, cells in enumerate(csv.DictReader(data.splitlines()), 2):
        if None in cells or None in cells.values():
            raise ValueError(say("saved-cells", line=number))
        yield {name: _value_of_cell(name, cell) for name, cell in cells.items()}


def _value_of_cell(name: str, cell: str) -> object:
    if name in _LISTS:
        return cell.split()
    if name in _TEXTS:
        return unguarded(cell) or None
    if cell in _WORDS:
        return _WORDS[cell]
    return float(cell) if "." in cell else int(cell)


def read_row(row: Record) -> SavedKernel:
    """The kernel of a row. Values have JSON's types."""
    target, stamps = value(str, row, "Target"), value(str, row, "Compiler")
    return SavedKernel(
        path=text(row, "Path"),
        member=value(str, row, "Member"),
        compilers=tuple(stamps.split(BETWEEN_COMPILERS)) if stamps else (),
        summary=_summary(row),
        run_target=target and target.partition(":")[0],
        dynamic_lds_bytes=count(row, "Dynamic_LDS"),
        row=row,
    )


def _summary(row: Record) -> KernelSummary:
    """The summary of a row. The name comes from `Symbol`, since `Kernel_Name` may be short."""
    symbol, source = text(row, "Symbol"), None
    if row["Source_File"] is not None:
        source = SourceLine(text(row, "Source_File"), count(row, "Source_Line") or 0)
    found = numbers(row, _COLUMNS)
    if INSTRUCTIONS[0].name in row:
        found |= numbers(row, _COUNTED)
    for number in NUMBERS:
        if number.unless and value(bool, row, number.unless):
            found[number.field] = None
    return KernelSummary(
        target=value(str, row, "Compiled_For") or UNKNOWN_TARGET,
        name=demangle(symbol),
        symbol=symbol,
        code_object="",
        numbers=KernelNumbers(
            limiters=limiters(row, "Limiters"),
            exact=value(bool, row, "Exact"),
            **found,
        ),
        source=source,
        options=options(row.get("Options")),
    )
