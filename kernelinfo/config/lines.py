"""Lines of keys in a TOML text: tomllib does not report them."""

from __future__ import annotations

import re
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


_TOKENS = (
    r'"""(?:\\.|[^\\"]|"(?!""))*+"{0,5}'
    r"|'{3}(?:[^']|'(?!''))*+'{0,5}"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?|#[^\n]*+|[\[\]{}\n]"
)
"""Strings, comments, brackets and ends of lines in valid TOML."""


def _statements(text: str) -> Iterator[tuple[int, int, str]]:
    """(first line, number of lines, text) of each header and each key with its value.

    A statement ends with the line in which its last bracket and string are closed.
    """
    start, first, line, depth = 0, 1, 1, 0
    for token in re.finditer(_TOKENS, f"{text}\n", re.DOTALL):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        line += token[0].count("\n")
        if token[0] == "\n" and depth == 0:
            statement = text[start : token.end()]
            if statement.strip() and not statement.lstrip().startswith("#"):
                yield first, line - first, statement
            start, first = token.end(), line


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
