"""What the modules of each report need of `typing`, which takes longer to import than any of them.

`NamedTuple` leaves the types of its fields to type checkers, too: a report makes sixty of them.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple, TypeVar

    T = TypeVar("T", bound=type)
else:
    from collections import namedtuple

    Any = object

    class Literal:
        """Says nothing of its words while the program runs."""

        def __class_getitem__(cls, words):
            return cls

    class _Fields(type):
        """Makes a named tuple of each class that names `NamedTuple` as its base."""

        def __new__(cls, name, bases, body):
            fields = body["__annotations__"]
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body.pop("__module__"))
            made.__new__.__annotations__ = fields
            for key, value in body.items():
                setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Fields, "NamedTuple", (), {})


def hashed_by_identity(cls: T) -> T:
    """The class, whose objects hash as `object` does: a cache need not read all of their fields."""
    cls.__hash__ = object.__hash__  # type: ignore[assignment]
    return cls


__all__ = ["TYPE_CHECKING", "Any", "Literal", "NamedTuple", "hashed_by_identity"]
