"""C++ names as people read them, and what of them stays when they are changed."""

from __future__ import annotations

import re
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


def stem(name: str) -> str:
    """A demangled name without return type, namespaces and parameters: `gemm<float, 3>`."""
    start, end = stem_span(name)
    return name[start:end] or name


def stem_span(name: str) -> tuple[int, int]:
    """Where the stem begins and ends; the parameters follow it."""
    depth = start = 0
    for position, character in enumerate(name):
        before = name[start:position]
        if depth == 0 and character == "(" and before and not before.endswith(_TAKES_BRACKETS):
            return start, position
        if character in "(<[{":
            depth += 1
        elif character in ")>]}":
            depth -= 1
        elif depth == 0 and (character == " " or before.endswith(":")):
            start = position + (character == " ")
    return start, len(name)


_TAKES_BRACKETS = ("operator", "decltype")


def base_name(name: str) -> str:
    """The stem without template arguments: `gemm`."""
    whole = stem(name)
    return whole.partition("<")[0] or whole


def without_unit(name: str) -> str:
    """Without the mark of the translation unit that clang gives to a static kernel's name."""
    return _UNIT.sub("", name) if name.endswith(")") else name


_UNIT = re.compile(r" \(\.(?:intern|static)\.[0-9a-f]+\)$")
