"""Stamps of producers in `.comment` and `.ident`, and which of them is the kernel's compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LINKER = "Linker:"
_VERSION = re.compile(r"version (\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_RELEASE = re.compile(r"\broc-(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
# AMD's compiler is an "AMD clang"; the bitcode libraries of its releases lack the vendor.
_DEVICE_LIBRARY = re.compile(r"clang version .*RadeonOpenCompute/llvm-project roc-")


def distinct(stamps: Iterable[str]) -> tuple[str, ...]:
    """Each stamp once, without blanks around it, sorted: a linker orders and repeats them as it
    likes."""
    return tuple(sorted({stamp.strip() for stamp in stamps} - {""}))


def compilers(stamps: Iterable[str]) -> tuple[str, ...]:
    """All but the linker's."""
    return tuple(stamp for stamp in stamps if not stamp.startswith(_LINKER))


def makers(stamps: Iterable[str]) -> tuple[str, ...]:
    """Those of compilers that may have made the kernels. Linked bitcode, AMD's device libraries
    above all, brings the stamp of the compiler that made it."""
    return tuple(stamp for stamp in compilers(stamps) if not _DEVICE_LIBRARY.match(stamp))


def is_of_clang(stamp: str) -> bool:
    """True for the stamp of a clang, AMD's among them."""
    return "clang version " in stamp


def compiler_of(stamps: tuple[str, ...]) -> str | None:
    """The stamp of the compiler that made the kernels; None where no stamp is a compiler's. Linked
    bitcode is of an older one, for no LLVM reads bitcode of a newer one."""
    return max(makers(stamps), key=_age, default=None)


def _age(stamp: str) -> tuple[list[int], list[int], str]:
    """Of a younger compiler it is greater; the text decides where the versions do not."""
    return _numbers(_VERSION.search(stamp)), _numbers(_RELEASE.search(stamp)), stamp


def _numbers(found: re.Match[str] | None) -> list[int]:
    return [int(number) for number in found.groups()] if found else []
