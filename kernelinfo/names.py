"""Demangled names: their parts, and the patterns by which people name kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import NamedTuple

from kernelinfo.errors import OptionError

_MARK = re.compile(
    r"\boperator(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?)|\bdecltype\(|[ :()<>\[\]{}]"
)
_KNOWN = 1 << 16


class _Parts(NamedTuple):
    qualified: str
    """With namespaces, without return type and parameters: `depot::gemm<float, 3>`."""
    short: str
    """Without namespaces, too."""


@lru_cache(_KNOWN)
def _parts(name: str) -> _Parts:
    depth = qualified = short = 0
    end = len(name)
    for mark in _MARK.finditer(name):
        text, position = mark[0], mark.start()
        if text == "(" and depth == 0 and position > short:
            end = position
            break
        if text[-1] in "(<[{" and not text.startswith("operator"):
            depth += 1
        elif text in ")>]}":
            depth -= 1
        elif depth == 0 and text == " ":
            qualified = short = position + 1
        elif depth == 0 and text == ":":
            short = position + 1
    return _Parts(name[qualified:end] or name, name[short:end] or name)


def short(name: str) -> str:
    """A demangled name without return type, namespaces and parameters: `gemm<float, 3>`."""
    return _parts(name).short


def matches(pattern: str, name: str, symbol: str) -> bool:
    """Whether a pattern names a kernel, by any spelling that people know it by.

    These are its demangled name, the same without return type and parameters, without namespaces
    too, and its mangled name. A pattern is such a spelling as it is, a glob over all of one (`*`,
    `?` and `[...]` as in a shell), or after `re:` a regular expression found anywhere in one.
    Raises `OptionError` for a regular expression that is none.
    """
    if pattern == "*":
        return True
    if pattern.startswith("re:"):
        found = _compiled(pattern[3:]).search
        return any(found(spelling) for spelling in _spellings(name, symbol))
    return any(
        spelling == pattern or fnmatchcase(spelling, pattern)
        for spelling in _spellings(name, symbol)
    )


def _spellings(name: str, symbol: str) -> Iterator[str]:
    yield name
    if symbol != name:
        yield symbol
        yield from _parts(name)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise OptionError(f"re:{pattern}: {error}; give a Python regular expression") from None
