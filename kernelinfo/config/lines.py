"""Lines of keys in a TOML text: tomllib does not report them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

KeyPath = tuple[str | int, ...]
"""Keys and array indices from the top: `("budget", 1, "kernel")`."""


def lines_of(text: str) -> dict[KeyPath, int]:
    """Key path -> line, from 1, of each key, table and array element in valid TOML.

    Elements inside a value of several lines are left out: their line is unknown.
    """
    found: dict[KeyPath, int] = {}
    lengths: dict[KeyPath, int] = {}
    """Length so far of each array of tables."""
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
                for end in range(1, len(path) + 1):  # the first mention of a table counts
                    found.setdefault(path[:end], line)
    return found


def _statements(text: str) -> Iterator[tuple[int, int, str]]:
    """(first line, number of lines, text) of each header and each key with its value: the smallest
    pieces that are valid TOML."""
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
    """The key path of the table that `[a.b]` or `[[a.b]]` opens. Arrays on the way continue with
    their last element."""
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
