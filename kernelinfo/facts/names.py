"""C++ names as people read them, and what of them stays when they are changed."""

from __future__ import annotations

import re
from functools import cache

_LONGEST = 16_384
"""Bytes of a mangled name beyond which nobody would read the demangled one."""

_LONGEST_DEMANGLED = 1 << 17
_HARMLESS = 1 << 22
"""Characters."""

_REPEAT = re.compile(r"[ST][0-9A-Z]*_")
_EXPANSION = "Dp"


@cache
def demangle(symbol: str) -> str:
    """The C++ name of a symbol, by LLVM's own demangler; the symbol itself where it is not one."""
    if not symbol.startswith(("_Z", "__Z")) or len(symbol) > _LONGEST:
        return symbol
    if _most(symbol) > _HARMLESS:
        from kernelinfo.facts.demangler import demangle_apart

        name = demangle_apart(symbol)
    else:
        name = _demangled(symbol)
    return name if name and len(name) <= _LONGEST_DEMANGLED else symbol


def _demangled(symbol: str) -> str | None:
    import pycxxfilt

    try:
        return pycxxfilt.demangle(symbol)
    except ValueError:  # no C++ name, or bytes that are no text
        return None


def _most(symbol: str) -> float:
    """Characters that the demangled name may come to.

    Names repeat their parts by reference, and parts that repeat parts grow threefold with every
    three references; a pack repeats what is around it. Twenty references double twenty times.
    """
    repeats = len(_REPEAT.findall(symbol))
    expansions = symbol.count(_EXPANSION)
    return float(len(symbol)) ** (1 + min(expansions, 8)) * 3 ** (min(repeats, 100) / 3)


def short(name: str) -> str:
    """A demangled name without return type, namespaces and parameters: `gemm<float, 3>`."""
    depth = start = 0
    for position, character in enumerate(name):
        takes_brackets = name.endswith(_TAKES_BRACKETS, start, position)
        if depth == 0 and character == "(" and position > start and not takes_brackets:
            return name[start:position]
        if character in "(<[{":
            depth += 1
        elif character in ")>]}":
            depth -= 1
        elif depth == 0 and (character == " " or name.endswith(":", start, position)):
            start = position + (character == " ")
    return name[start:] or name


_TAKES_BRACKETS = ("operator", "decltype")


def base_name(name: str) -> str:
    """`short` without template arguments: `gemm`."""
    whole = short(name)
    return whole.partition("<")[0] or whole


def without_unit(name: str) -> str:
    """Without the mark of the translation unit that clang gives to a static kernel's name."""
    return _UNIT.sub("", name) if name.endswith(")") else name


_UNIT = re.compile(r" \(\.(?:intern|static)\.[0-9a-f]+\)$")
