"""One kernel of a saved file, and readers that check each value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from kernelinfo.compare.messages import say
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.record import Column
from kernelinfo.model.limits import RESOURCES, Resource


class SavedKernel(NamedTuple):
    """A saved kernel and the launch of its occupancy."""

    path: str
    member: str | None
    compilers: tuple[str, ...]
    summary: KernelSummary  # its `code_object` is still empty
    run_target: str | None  # processor of the occupancy
    dynamic_lds_bytes: int | None
    trap_sgprs: int | None = None  # None if the file does not state it
    row: Mapping[str, Any] | None = None  # None if the file does not hold rows


def value(kind: type, of: Any, *keys: str) -> Any:
    """The value under a path of keys; None if the file has null on the way.

    Raises `ValueError` for another type and `KeyError` for a missing key.
    """
    for key in keys:
        if of is None:
            return None
        of = of[key]
    if of is None or type(of) is kind or (kind is float and type(of) is int):
        if isinstance(of, int | float) and not -1 << 64 < of < 1 << 64:  # NaN is not, either
            raise ValueError(say("saved-value-number", key=".".join(keys)))
        return of
    raise ValueError(say("saved-value", key=".".join(keys), value=f"{of!r:.40}"))


def text(of: Any, *keys: str) -> str:
    """The string under a path of keys. Raises `ValueError` for null."""
    found = value(str, of, *keys)
    if found is None:
        raise ValueError(say("saved-value-null", key=".".join(keys)))
    return cast(str, found)


def count(of: Any, *keys: str, kind: type = int) -> Any:
    """The number under a path of keys. Raises `ValueError` for one below 0."""
    found = value(kind, of, *keys)
    if found is not None and found < 0:
        raise ValueError(say("saved-value", key=".".join(keys), value=found))
    return found


def limiters(of: Any, *keys: str) -> tuple[Resource, ...]:
    """The resources under a path of keys; empty if the file has null."""
    found = value(list, of, *keys) or ()
    for limiter in found:
        if limiter not in tuple(RESOURCES):  # it may be unhashable
            raise ValueError(say("saved-value-limiter", key=".".join(keys), value=limiter))
    return tuple(found)


def options(stated: Iterable[object] | None) -> tuple[tuple[str, str], ...]:
    """Triton's constants and compile options, `NAME=VALUE`; None in older reports."""
    found = [str(option).partition("=") for option in stated or ()]
    return tuple((name, value) for name, _, value in found)


def numbers(of: Any, names: Iterable[tuple[Column, str]]) -> dict[str, Any]:
    """Fields of `KernelNumbers`, read from these names; dots separate nested keys."""
    return {
        number.field: count(of, *name.split("."), kind=float if number.is_gain else int)
        for number, name in names
    }
