"""Matches patterns against the names of kernels."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from kernelinfo.errors import OptionError
from kernelinfo.kernel.names import qualified, stem

if TYPE_CHECKING:
    import re2


def matches(pattern: str, name: str, symbol: str) -> bool:
    """True if the pattern matches the kernel; see `matching`."""
    return bool(matching((pattern,), name, symbol))


@lru_cache(maxsize=1 << 16)
def matching(patterns: tuple[str, ...], name: str, symbol: str) -> tuple[str, ...]:
    """The patterns that match a kernel by one of its spellings, in their order.

    A kernel has up to four spellings: the demangled name, the same without return type and
    parameters, the same without namespaces too, and the mangled name. A pattern is a literal
    spelling, a glob over a whole spelling (`*`, `?` and `[...]` as in a shell), or `re:` and a
    regular expression found anywhere in one, in linear time (RE2: no look-around, no back
    references). Raises `OptionError` for an invalid regular expression.
    """
    spellings = (name,) if symbol == name else (name, symbol, qualified(name), stem(name))
    return tuple([pattern for pattern in patterns if any(map(_search(pattern), spellings))])


@cache
def _search(pattern: str) -> Callable[[str], object]:
    """The function that is true for spellings that match the pattern."""
    if pattern.startswith("re:"):
        search: Callable[[str], object] = _compiled(pattern[3:]).search
        return search
    return re.compile(rf"{re.escape(pattern)}\Z|{translate(pattern)}").match


def _compiled(pattern: str) -> re2.Pattern:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        what = error.args[0].decode("utf-8", "replace")
    except UnicodeEncodeError:
        what = "it is no UTF-8"
    raise OptionError(f"re:{pattern}: {what}; give a regular expression as RE2 reads them")
