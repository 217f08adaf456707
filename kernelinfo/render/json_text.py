"""JSON text of a document, line by line, so that only one kernel of many is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from json import JSONEncoder
from typing import Any

encode = JSONEncoder(check_circular=False).encode
"""Value → text on one line, by the encoder in C. Python's own, which indents, takes ten times as
long."""


class Spelled(str):
    """The JSON text of a value."""

    __slots__ = ()


def encoded(document: Any) -> Iterator[str]:
    """A JSON document in pieces: a line for each member, for each element of their lists, and for
    each value of an iterator, which becomes an array.

    A function stands for the value that it returns when its turn comes, behind the members before
    it.
    """
    if isinstance(document, dict):
        lists = {name: iter(one) for name, one in document.items() if isinstance(one, list)}
        yield from _members(document | lists, "\n")
    else:
        yield from _pieces(document, "\n")
    yield "\n"


def _pieces(value: Any, line: str) -> Iterator[str]:
    """The text of a value; `line` is a newline and the indent of the line that it ends on."""
    if isinstance(value, Spelled):
        yield value
    elif isinstance(value, Iterator):
        yield from _joined("[]", (_pieces(item, line + " ") for item in value), line)
    elif callable(value):
        yield from _pieces(value(), line)
    else:
        yield from _members(value, line) if _has_iterator(value) else (encode(value),)


def _members(value: dict[str, Any], line: str) -> Iterator[str]:
    """The text of an object with a line for each member."""
    members = (
        chain((f"{encode(name)}: ",), _pieces(member, line + " ")) for name, member in value.items()
    )
    return _joined("{}", members, line)


def _has_iterator(value: Any) -> bool:
    """True if the value is an object with an array that is made while it is written."""
    return isinstance(value, dict) and any(
        isinstance(member, Iterator) or _has_iterator(member) for member in value.values()
    )


def _joined(brackets: str, items: Iterable[Iterable[str]], line: str) -> Iterator[str]:
    """The items between brackets, each on its own line."""
    between = brackets[0]
    for item in items:
        yield f"{between}{line} "
        yield from item
        between = ","
    yield brackets if between == brackets[0] else line + brackets[1]
