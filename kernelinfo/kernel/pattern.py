"""The patterns by which people name kernels."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from kernelinfo.errors import OptionError
from kernelinfo.kernel.names import qualified, stem
from kernelinfo.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re2


def matches(pattern: str, name: str, symbol: str) -> bool:
    """Whether a pattern names a kernel, by any spelling that people know it by.

    These are its demangled name, the same without return type and parameters, without namespaces
    too, and its mangled name. A pattern is such a spelling as it is, a glob over all of one (`*`,
    `?` and `[...]` as in a shell), or after `re:` a regular expression found anywhere in one, in
    time linear in the name (RE2: no look-around, no back references).
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
