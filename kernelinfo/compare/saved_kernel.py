"""One kernel of a saved file, and the values that such files hold, each checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.numbers import Number
from kernelinfo.occupancy.limits import RESOURCES, Resource


class SavedKernel(NamedTuple):
    """A kernel as a file saved it, and the launch that its occupancy was worked out for."""

    path: str
    member: str | None
    compilers: tuple[str, ...]
    summary: KernelSummary  # its `code_object` is still empty
    run_target: str | None  # the processor that the occupancy is for
    dynamic_lds_bytes: int | None
    trap_sgprs: int | None = None  # None where the file does not say


def value(kind: type, of: Any, *keys: str) -> Any:
    """What stands under the keys; None where the file has null on the way.

    Raises `ValueError` for another type, and `KeyError` for a key that is not there.
    """
    for key in keys:
        if of is None:
            return None
        of = of[key]
    if of is None or type(of) is kind or (kind is float and type(of) is int):
        if isinstance(of, int | float) and not -1 << 64 < of < 1 << 64:  # NaN is not, either
            raise ValueError(f"{'.'.join(keys)} is no number of 64 bits")
        return of
    raise ValueError(f"{'.'.join(keys)} is {of!r:.40}")


def text(of: Any, *keys: str) -> str:
    """The same of a string that must be there."""
    found = value(str, of, *keys)
    if found is None:
        raise ValueError(f"{'.'.join(keys)} is null")
    return cast(str, found)


def count(of: Any, *keys: str, kind: type = int) -> Any:
    """The same of a number that is not below 0."""
    found = value(kind, of, *keys)
    if found is not None and found < 0:
        raise ValueError(f"{'.'.join(keys)} is {found}")
    return found


def limiters(of: Any, *keys: str) -> tuple[Resource, ...]:
    """The same of a list of resources; empty where the file has null."""
    found = value(list, of, *keys) or ()
    for limiter in found:
        if limiter not in tuple(RESOURCES):  # it may be unhashable
            raise ValueError(f"{'.'.join(keys)} has {limiter!r}")
    return tuple(found)


def numbers(of: Any, names: Iterable[tuple[Number, str]]) -> dict[str, Any]:
    """The fields of a `KernelSummary` that stand under these names; dots lead to inner keys."""
    return {
        number.field: count(of, *name.split("."), kind=float if number.is_gain else int)
        for number, name in names
    }
