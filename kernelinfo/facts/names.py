"""C++ names as people read them."""

from __future__ import annotations

from functools import cache

_LONGEST = 16_384
"""Bytes of a mangled name beyond which nobody would read the demangled one."""


@cache
def demangle(symbol: str) -> str:
    """The C++ name of a symbol, by LLVM's own demangler; the symbol itself where it is not one."""
    if not symbol.startswith(("_Z", "__Z")) or len(symbol) > _LONGEST:
        return symbol
    import pycxxfilt

    try:
        return pycxxfilt.demangle(symbol) or symbol
    except UnicodeEncodeError:  # bytes that are no text; not a C++ name either
        return symbol
