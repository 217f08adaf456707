"""The patterns by which people name kernels."""

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
    """Whether a pattern names a kernel; see `matching`."""
    return bool(matching((pattern,), name, symbol))


@lru_cache(maxsize=1 << 16)
def matching(patterns: tuple[str, ...], name: str, symbol: str) -> tuple[str, ...]:
    """Those of the patterns that name a kernel, by any spelling that people know it by.

    These are its demangled name, the same without return type and parameters, without namespaces
    too, and its mangled name. A pattern is such a spelling as it is, a glob over all of one (`*`,
    `?` and `[...]` as in a shell), or after `re:` a regular expression found anywhere in one, in
    time linear in the name (RE2: no look-around, no back references).
    Raises `OptionError` for a regular expression that is none.
    """
    spellings = (name,) if symbol == name else (name, symbol, qualified(name), stem(name))
    return tuple([pattern for pattern in patterns if any(map(_search(pattern), spellings))])


@cache
def _search(pattern: str) -> Callable[[str], object]:
    """A function that is true of a spelling that the pattern names."""
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
