"""C++ names as people read them, and what of them stays when they are changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

_LONGEST = 16_384  # bytes of a mangled name beyond which nobody would read the demangled one
_KNOWN = 1 << 16  # names that are demangled and cut once
_MARK = r"\boperator(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?)|\bdecltype\(|[ :()<>\[\]{}]"

_LONGEST_DEMANGLED = 1 << 17
_HARMLESS = 1 << 22  # characters


@lru_cache(_KNOWN)
def demangle(symbol: str) -> str:
    """The C++ name of a symbol, by LLVM's own demangler; the symbol itself where it is not one."""
    if not symbol.startswith(("_Z", "__Z")) or len(symbol) > _LONGEST:
        return symbol
    if not has_demangler():
        return symbol
    if _most(symbol) > _HARMLESS:
        from kernelinfo.kernel.demangler import demangle_apart  # with subprocess

        name = demangle_apart(symbol)
    else:
        name = _demangled(symbol)
    return name if name and len(name) <= _LONGEST_DEMANGLED else symbol


def _demangled(symbol: str) -> str | None:
    demangler = _demangler()
    try:
        return demangler(symbol) if demangler else None
    except ValueError:  # no C++ name, or bytes that are no text
        return None


@cache
def _demangler() -> Callable[[str], str | None] | None:
    """LLVM's demangler; None for systems for which pycxxfilt has no wheels."""
    try:
        import pycxxfilt  # 35 million instructions, and few files but libraries have C++ names
    except ImportError:
        return None
    return pycxxfilt.demangle


def has_demangler() -> bool:
    """True if C++ names can be demangled here."""
    return _demangler() is not None


def _most(symbol: str) -> float:
    """Characters that the demangled name may come to.

    Names repeat their parts by reference, and parts that repeat parts grow threefold with every
    three references; a pack repeats what is around it. Twenty references double twenty times.
    """
    repeats = len(re.findall(r"[ST][0-9A-Z]*_", symbol))
    expansions = symbol.count("Dp")
    return float(len(symbol)) ** (1 + min(expansions, 8)) * 3 ** (min(repeats, 100) / 3)


class Parts(NamedTuple):
    """Where the parts of a demangled name lie."""

    qualified: int  # where its namespaces begin, behind a return type
    stem: int  # where the name itself begins: `gemm<float, 3>`
    end: int  # where its parameters follow


@lru_cache(_KNOWN)
def parts(name: str) -> Parts:
    """The parts of `name`; template arguments are the stem's."""
    depth = qualified = stem = 0
    for mark in re.finditer(_MARK, name):
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


def without_namespace(name: str) -> str:
    """The stem with its parameters: `gemm<float, 3>(float*)`."""
    return name[parts(name).stem :] or name


def base_name(name: str) -> str:
    """The stem without template arguments: `gemm`."""
    whole = stem(name)
    return whole.partition("<")[0] or whole


def without_unit(name: str) -> str:
    """Without the mark of the translation unit that clang gives to a static kernel's name."""
    return re.sub(r" \(\.(?:intern|static)\.[0-9a-f]+\)$", "", name) if name.endswith(")") else name
