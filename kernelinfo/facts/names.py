"""C++ names as people read them, and what of them stays when they are changed."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

_LONGEST = 16_384
"""Bytes of a mangled name beyond which nobody would read the demangled one."""
_KNOWN = 1 << 16
"""Names that are cut once."""
_MARK = re.compile(
    r"\boperator(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?)|\bdecltype\(|[ :()<>\[\]{}]"
)


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


class Parts(NamedTuple):
    """Where the parts of a demangled name lie."""

    qualified: int
    """Where its namespaces begin, behind a return type."""
    stem: int
    """Where the name itself begins: `gemm<float, 3>`."""
    end: int
    """Where its parameters follow."""


@lru_cache(_KNOWN)
def parts(name: str) -> Parts:
    """The parts of `name`; template arguments are the stem's."""
    depth = qualified = stem = 0
    for mark in _MARK.finditer(name):
        text, position = mark[0], mark.start()
        if text == "(" and depth == 0 and position > stem:
            return Parts(qualified, stem, position)
        if text[-1] in "(<[{" and not text.startswith("operator"):
            depth += 1
        elif text in ")>]}":
            depth -= 1
        elif depth == 0 and text == " ":
            qualified = stem = position + 1
        elif depth == 0 and text == ":":
            stem = position + 1
    return Parts(qualified, stem, len(name))


def stem(name: str) -> str:
    """A demangled name without return type, namespaces and parameters: `gemm<float, 3>`."""
    of = parts(name)
    return name[of.stem : of.end] or name


def qualified(name: str) -> str:
    """The stem with its namespaces: `depot::gemm<float, 3>`."""
    of = parts(name)
    return name[of.qualified : of.end] or name


def base_name(name: str) -> str:
    """The stem without template arguments: `gemm`."""
    whole = stem(name)
    return whole.partition("<")[0] or whole


def without_unit(name: str) -> str:
    """Without the mark of the translation unit that clang gives to a static kernel's name."""
    return _UNIT.sub("", name) if name.endswith(")") else name


_UNIT = re.compile(r" \(\.(?:intern|static)\.[0-9a-f]+\)$")
