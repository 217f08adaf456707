"""The columns that rows can be sorted by."""

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
COLUMNS = (*_LEAST_FIRST, *_LARGEST_FIRST)  # what `sort` takes


def checked(column: str) -> str:
    """The column. Raises `OptionError` if there is none of that name."""
    if column not in COLUMNS:
        suggestion = did_you_mean(column, COLUMNS) or f"give one of {', '.join(COLUMNS)}"
        raise OptionError(f"--sort {column}: no such column; {suggestion}")
    return column


def sort(items: Iterable[Item], column: str) -> list[Item]:
    """The items, kernels by a column: names and waves from the least, amounts from the largest.
    Kernels whose number is unknown come last. Raises `OptionError` for a column there is not."""
    key = (_LEAST_FIRST | _LARGEST_FIRST)[checked(column)]
    keyed: list[tuple[Any, Item]]
    keyed = [(key(item) if isinstance(item, Result) else None, item) for item in items]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=column in _LARGEST_FIRST)
    return [item for _, item in (*known, *(pair for pair in keyed if pair[0] is None))]
