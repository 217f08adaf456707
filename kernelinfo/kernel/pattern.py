"""The patterns by which people name kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from kernelinfo.errors import OptionError
from kernelinfo.kernel.names import qualified, stem


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
        yield qualified(name)
        yield stem(name)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise OptionError(f"re:{pattern}: {error}; give a Python regular expression") from None
