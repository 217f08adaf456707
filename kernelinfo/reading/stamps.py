"""Version strings ("stamps") in `.comment` and `.ident`, and the compiler among them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LINKER = "Linker:"
_VERSION = re.compile(r"version (\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_RELEASE = re.compile(r"\broc-(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
# AMD's compiler is an "AMD clang"; the bitcode libraries of its releases lack the vendor.
_DEVICE_LIBRARY = re.compile(r"clang version .*RadeonOpenCompute/llvm-project roc-")


def distinct(stamps: Iterable[str]) -> tuple[str, ...]:
    """The stamps stripped of blanks, sorted, without repeats or empty ones.

    Linkers repeat and order stamps as they like.
    """
    return tuple(sorted({stamp.strip() for stamp in stamps} - {""}))


def compilers(stamps: Iterable[str]) -> tuple[str, ...]:
    """The stamps of compilers: all but the linker's."""
    return tuple(stamp for stamp in stamps if not stamp.startswith(_LINKER))


def makers(stamps: Iterable[str]) -> tuple[str, ...]:
    """The stamps of compilers that may have made the kernels.

    Leaves out AMD's device libraries, linked bitcode with the stamp of its own compiler.
    """
    return tuple(stamp for stamp in compilers(stamps) if not _DEVICE_LIBRARY.match(stamp))


def is_of_clang(stamp: str) -> bool:
    """True for the stamp of a clang, AMD's included."""
    return "clang version " in stamp


def compiler_of(stamps: tuple[str, ...]) -> str | None:
    """Stamp of the compiler that made the kernels; None without a compiler's stamp.

    The newest one counts: no LLVM reads the bitcode of a newer LLVM.
    """
    return max(makers(stamps), key=_age, default=None)


def _age(stamp: str) -> tuple[list[int], list[int], str]:
    """Sort key: newest compiler last; ties by text."""
    return _numbers(_VERSION.search(stamp)), _numbers(_RELEASE.search(stamp)), stamp


def _numbers(found: re.Match[str] | None) -> list[int]:
    return [int(number) for number in found.groups()] if found else []
