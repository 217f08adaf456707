"""The data of a page in pieces: JSON elements that are written as soon as they are known."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from jinja2.utils import htmlsafe_json_dumps

_T = TypeVar("_T")

ROWS = 2000
"""Most rows of a piece."""
_PLAIN = 1 << 16
"""Characters above which a piece is compressed, to a tenth. Shorter ones stay readable."""


class PagePiece(NamedTuple):
    """JSON text of one element of the page."""

    kind: str
    """`data` is read when the page opens; `source`, the path of a `text`, is listed;
    `details`, `code` and `text` are read when a kernel is opened."""
    text: str
    """JSON without markup, or base64 of its zlib stream."""
    is_packed: bool


def piece(value: Any, kind: str = "data") -> PagePiece:
    """JSON of `value` as text that cannot end its element; compressed if it is long."""
    text = htmlsafe_json_dumps(value, separators=(",", ":"))
    if len(text) <= _PLAIN:
        return PagePiece(kind, text, is_packed=False)
    return PagePiece(kind, b64encode(zlib.compress(text.encode())).decode(), is_packed=True)


def batches(values: Iterable[_T]) -> Iterator[Sequence[_T]]:
    """The values in lists of at most `ROWS`."""
    rest = iter(values)
    while batch := list(islice(rest, ROWS)):
        yield batch


class Shared:
    """Values that many rows share. Rows hold their numbers, pieces the values."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._fresh: list[Hashable] = []

    def __call__(self, value: Hashable) -> int:
        """The number of a value, counted from 0 in the order of first use."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self._numbers)
            self._fresh.append(value)
        return number

    def fresh(self) -> list[Hashable]:
        """Values that no piece holds yet, in the order of their numbers."""
        found, self._fresh = self._fresh, []
        return found
