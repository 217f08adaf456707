"""What the modules of each report need of `typing`, which takes longer to import than any of them.

A report makes seventy named tuples: `NamedTuple` leaves the types of fields to type checkers, and
compiles `__new__` once for all that have as many fields, where `collections` does for each.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple, TypeVar

    T = TypeVar("T", bound=type)
else:
    from _collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    Any = object

    class Literal:
        """Says nothing of its words while the program runs."""

        def __class_getitem__(cls, words):
            return cls

    class _Row(tuple):
        """What `collections.namedtuple` gives its classes."""

        __slots__ = ()

        def __repr__(self):
            fields = ", ".join([f"{n}={v!r}" for n, v in zip(self._fields, self, strict=True)])
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self):
            return tuple(self)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

    @cache
    def _code(count):
        """The code of a `__new__` that takes so many fields."""
        fields = "".join([f"_{number}, " for number in range(count)])
        return eval(f"lambda _cls, {fields}: _new(_cls, ({fields}))").__code__

    class _Fields(type):
        """Makes a named tuple of each class that names `NamedTuple` as its base."""

        def __new__(cls, name, bases, body):
            fields = tuple(body["__annotations__"])
            defaults = {field: body.pop(field) for field in fields if field in body}
            code = _code(len(fields)).replace(co_varnames=("_cls", *fields), co_name="__new__")
            new = FunctionType(
                code, {"_new": tuple.__new__}, "__new__", tuple(defaults.values()) or None
            )
            new.__annotations__ = body["__annotations__"]
            getters = {field: _tuplegetter(at, None) for at, field in enumerate(fields)}
            own = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            body = {"__slots__": (), "__new__": new, **own, **getters, **body}
            return type(name, (_Row,), body)

    NamedTuple = type.__new__(_Fields, "NamedTuple", (), {})


def hashed_by_identity(cls: T) -> T:
    """The class, whose objects hash as `object` does: a cache need not read all of their fields."""
    cls.__hash__ = object.__hash__  # type: ignore[assignment]
    return cls


__all__ = ["TYPE_CHECKING", "Any", "Literal", "NamedTuple", "hashed_by_identity"]
