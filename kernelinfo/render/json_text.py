"""JSON text of a document, piece by piece, so that only one kernel of many is in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import Any

_IN_MEMORY = 1 << 20  # bytes; longer text waits on disk
_PIECE = 1 << 16  # bytes
_encode = json.JSONEncoder().encode
_WORDS = {None: "null", True: "true", False: "false"}


def encoded(value: Any) -> Iterator[str]:
    """A JSON document with its newline, in pieces. An iterator becomes an array."""
    yield from _pieces(value, "\n")
    yield "\n"


class Waiting:
    """JSON text that waits in a temporary file for the members before it, which end later.

    Compressed it is a twentieth; its time is a tenth of the time that encoding takes.
    """

    def __init__(self, value: Any) -> None:
        """`value` becomes a member of the document itself. An iterator is read to its end."""
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `pieces`
        with GzipFile(fileobj=self._file, mode="wb", compresslevel=1) as packed:
            for piece in _pieces(value, "\n "):
                packed.write(piece.encode())

    def pieces(self) -> Iterator[str]:
        """The text, once."""
        self._file.seek(0)
        with self._file, GzipFile(fileobj=self._file, mode="rb") as packed:
            while piece := packed.read(_PIECE):
                yield piece.decode()


def _pieces(value: Any, line: str) -> Iterator[str]:
    """The text of a value; `line` is a newline and the indent of the line that it ends on."""
    if isinstance(value, Waiting):
        yield from value.pieces()
    elif isinstance(value, Iterator):
        yield from _joined("[]", (_pieces(item, line + " ") for item in value), line)
    elif _has_iterator(value):
        members = (
            chain((f"{_encode(name)}: ",), _pieces(member, line + " "))
            for name, member in value.items()
        )
        yield from _joined("{}", members, line)
    else:
        yield _text(value, line)


def _has_iterator(value: Any) -> bool:
    """True if the value is an object with an array that is made while it is written."""
    return isinstance(value, dict) and any(
        isinstance(member, Iterator | Waiting) or _has_iterator(member) for member in value.values()
    )


def _text(value: Any, line: str) -> str:
    """The text of a value without iterators.

    `json.dumps` with an indent takes half as long again, and its reference cycles stay in memory.
    """
    inner = line + " "
    if isinstance(value, dict):
        members = [f"{_encode(name)}: {_text(one, inner)}" for name, one in value.items()]
        return f"{{{inner}{f',{inner}'.join(members)}{line}}}" if members else "{}"
    if isinstance(value, list | tuple):
        items = [_text(one, inner) for one in value]
        return f"[{inner}{f',{inner}'.join(items)}{line}]" if items else "[]"
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return str(value) if isinstance(value, int) else _encode(value)


def _joined(brackets: str, items: Iterable[Iterable[str]], line: str) -> Iterator[str]:
    """The items between brackets, each on its own line."""
    between = brackets[0]
    for item in items:
        yield f"{between}{line} "
        yield from item
        between = ","
    yield brackets if between == brackets[0] else line + brackets[1]
