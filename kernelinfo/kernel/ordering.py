"""Sorts kernels by a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kernelinfo.errors import OptionError, did_you_mean
from kernelinfo.kernel import Item, Result
from kernelinfo.occupancy import Occupancy


def _of_occupancy(number: Callable[[Occupancy], Any]) -> Callable[[Result], Any]:
    return lambda result: None if result.occupancy is None else number(result.occupancy)


_LARGEST_FIRST: dict[str, Callable[[Result], Any]] = {
    "block": _of_occupancy(lambda found: found.launch.workgroup_size),
    "vgpr": _of_occupancy(lambda found: found.allocated.vgprs),
    "agpr": _of_occupancy(lambda found: found.allocated.agprs),
    "sgpr": _of_occupancy(lambda found: found.allocated.sgprs),
    "lds": lambda result: result.kernel.used.lds_bytes,
    "scratch": lambda result: result.kernel.used.scratch_bytes_per_lane,
    "spills": lambda result: result.kernel.spills.registers,
    "code": lambda result: result.kernel.code_bytes,
    "findings": lambda result: len(result.findings),
}
_LEAST_FIRST: dict[str, Callable[[Result], Any]] = {
    "kernel": lambda result: result.kernel.name,
    "target": lambda result: result.kernel.code_object.target,
    "waves": _of_occupancy(lambda found: found.waves_per_simd),
    "limiters": _of_occupancy(lambda found: found.limiters),
}
COLUMNS = (*_LEAST_FIRST, *_LARGEST_FIRST)  # accepted by `sort`


def checked(column: str) -> str:
    """The column itself. Raises `OptionError` if no column has this name."""
    if column not in COLUMNS:
        suggestion = did_you_mean(column, COLUMNS) or f"give one of {', '.join(COLUMNS)}"
        raise OptionError(f"--sort {column}: no such column; {suggestion}")
    return column


def sort(items: Iterable[Item], column: str) -> list[Item]:
    """The items sorted by a column of their kernels: names and waves ascending, amounts descending.

    Items without a known number come last. Raises `OptionError` for an unknown column."""
    key = (_LEAST_FIRST | _LARGEST_FIRST)[checked(column)]
    keyed: list[tuple[Any, Item]]
    keyed = [(key(item) if isinstance(item, Result) else None, item) for item in items]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=column in _LARGEST_FIRST)
    return [item for _, item in (*known, *(pair for pair in keyed if pair[0] is None))]
