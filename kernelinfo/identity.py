"""Hashing by identity, for tuples that are keys of caches."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T", bound=type)


def hashed_by_identity(cls: T) -> T:
    """The class, with `object.__hash__`: a cache need not read all fields of a key."""
    cls.__hash__ = object.__hash__  # type: ignore[assignment]
    return cls
