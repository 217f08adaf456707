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
from kernelinfo.errors import UnknownTargetError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel.columns import SavedRow
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.numbers import INSTRUCTION_NUMBERS, NUMBERS
from kernelinfo.kernel.rows import BETWEEN_COMPILERS, COLUMNS
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.target_id import UNKNOWN_TARGET

UNSTATED = ("lds_bytes",)
"""Fields that rows do not store. Rows have the allocated LDS, not the used LDS."""

HEADING = ",".join(COLUMNS[:2]).encode()  # the first bytes of CSV with rows

_COLUMNS = tuple((number, number.column) for number in NUMBERS if number.column in COLUMNS)
_COUNTED = tuple((number, number.column) for number in INSTRUCTION_NUMBERS)
_TEXTS = {
    *("Kernel_Name", "Symbol", "Target", "Compiled_For", "Library", "Path", "Member"),
    *("Workgroup_Size_From", "Bound_Reason", "Next_Resource", "Compiler", "Source_File"),
}
_LISTS = {"Limiters", "Findings", "Options"}
_WORDS = {"": None, "True": True, "False": False}


def rows_of_csv(data: str) -> Iterator[SavedRow]:
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


def read_row(row: SavedRow) -> SavedKernel:
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


def _summary(row: SavedRow) -> KernelSummary:
    """The summary of a row. The name comes from `Symbol`, since `Kernel_Name` may be short."""
    symbol, source = text(row, "Symbol"), None
    if row["Source_File"] is not None:
        source = SourceLine(text(row, "Source_File"), count(row, "Source_Line") or 0)
    found = numbers(row, _COLUMNS) | dict.fromkeys(UNSTATED)
    if INSTRUCTION_NUMBERS[0].column in row:
        found |= numbers(row, _COUNTED)
    if value(bool, row, "Dynamic_Stack"):
        found["scratch_bytes_per_lane"] = None
    return KernelSummary(
        target=value(str, row, "Compiled_For") or UNKNOWN_TARGET,
        name=demangle(symbol),
        symbol=symbol,
        code_object="",
        numbers=KernelNumbers(
            limiters=limiters(row, "Limiters"),
            exact=value(bool, row, "Exact"),
            reserved_vgprs=_allocated_vgprs(row),
            **found,
        ),
        source=source,
        options=options(row.get("Options")),
    )


def _allocated_vgprs(row: SavedRow) -> int | None:
    """Unified file: VGPRs + AGPRs. Separate files (gfx908): the VGPR count."""
    vgprs: int | None = count(row, "VGPR_Count")
    agprs: int | None = count(row, "Accum_VGPR_Count")
    if vgprs is None or agprs is None:
        return None
    try:
        separate = find(text(row, "Target").partition(":")[0]).agprs.file == "separate"
    except UnknownTargetError:
        return None
    return vgprs if separate else vgprs + agprs
