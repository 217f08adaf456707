"""On which line of a TOML text each key is set; tomllib does not tell."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

KeyPath = tuple[str | int, ...]
"""Keys and indices of arrays from the top: `("budget", 1, "kernel")`."""


@lru_cache(maxsize=1)
def lines_of(text: str) -> dict[KeyPath, int]:
    """The 1-based line of every key, table and element that valid TOML sets.

    What stands inside a value of several lines has none: better no line than a wrong one.
    """
    found: dict[KeyPath, int] = {}
    lengths: dict[KeyPath, int] = {}
    """Of the arrays of tables so far."""
    table: KeyPath = ()
    for line, length, statement in _statements(text):
        stated = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            table = _header(stated, lengths)
            paths = [table]
        else:
            paths = [*_paths(stated, table)]
        for path in paths:
            if length == 1 or not any(isinstance(part, int) for part in path[len(table) :]):
                for end in range(1, len(path) + 1):  # a table has the line of its first mention
                    found.setdefault(path[:end], line)
    return found


def _statements(text: str) -> Iterator[tuple[int, int, str]]:
    """First line, number of lines and text of each header and each key with its value: the least
    that is TOML by itself."""
    first, pending = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            continue
        first, pending = first or number, f"{pending}{line}\n"
        try:
            tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        yield first, number - first + 1, pending
        first, pending = 0, ""


def _header(stated: dict[str, Any], lengths: dict[KeyPath, int]) -> KeyPath:
    """The table that `[a.b]` or `[[a.b]]` opens, in the last element of each array on the way."""
    path: KeyPath = ()
    inside: Any = stated
    while inside:
        if isinstance(inside, list):
            lengths[path] = lengths.get(path, 0) + 1
            return (*path, lengths[path] - 1)
        if path in lengths:
            path = (*path, lengths[path] - 1)
        ((key, inside),) = inside.items()
        path = (*path, key)
    return path


def _paths(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inside:
        yield (*path, key)
        if isinstance(one, (dict, list)):
            yield from _paths(one, (*path, key))
