"""The user's compilers: found, run within limits, and ended with their children.

This package turns a source or LLVM IR into assembly; all others read the assembly like a file. This
module has the user's settings for compiling, and the names that belong to files of LLVM IR.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Settings(NamedTuple):
    """How the user wants sources compiled."""

    targets: tuple[str, ...] = ()  # gfx names
    flags: tuple[str, ...] = ()  # with absolute paths
    compiler: str | None = None  # path, or a name to search on PATH
    compile_commands: str | None = None  # path of a compile_commands.json


ASSEMBLY_OF = {".llir": ".amdgcn", ".bc": ".s", ".ll": ".s"}
"""Suffix of IR → that of the assembly compiled from it."""
IR_SUFFIXES = tuple(ASSEMBLY_OF)


def input_of(assembly: str) -> str | None:
    """Path of the IR file next to an assembly file; None if there is none."""
    stem, suffix = os.path.splitext(assembly)
    paths = (stem + ir for ir, text in ASSEMBLY_OF.items() if text == suffix)
    return next(filter(os.path.isfile, paths), None)


_SEPARATE = (
    *("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-cxx-isystem"),
    *("-isysroot", "-iframework", "-F", "-B", "-L", "-ivfsoverlay", "--sysroot", "-resource-dir"),
    *("--rocm-path", "--hip-path", "--rocm-device-lib-path", "--hip-device-lib-path"),
)
"""Options with a path in the next word, or directly after the option."""
_BEHIND = (
    *("--sysroot=", "-resource-dir=", "--rocm-path=", "--hip-path=", "--rocm-device-lib-path="),
    *("--hip-device-lib-path=", "--hip-device-lib=", "--cuda-path=", "--gcc-toolchain="),
    *("--gcc-install-dir=", "--config=", "-fplugin=", "-fpass-plugin=", "-fprofile-use="),
    *("-fprofile-instr-use=", "-fsanitize-ignorelist=", "@"),
)
"""Beginnings of words that end with a path."""
_VALUES = ("-D", "-U", "-x", "-std", "-mllvm")
"""Options whose next word is no path, even if a file has that name."""


def make_absolute(words: Iterable[str], folder: str) -> tuple[str, ...]:
    """The flags with each relative path made absolute, from `folder`."""
    return tuple(_absolute(words, folder))


def _absolute(words: Iterable[str], folder: str) -> Iterator[str]:
    before = ""
    for word in words:
        begin = _begin_of_path(word, before, folder)
        path = word[len(begin) :] if begin is not None else ""
        yield f"{begin}{os.path.join(folder, path)}" if path else word
        before = word


def _begin_of_path(word: str, before: str, folder: str) -> str | None:
    """The part of a word before its path; None for a word without a path."""
    if before in _SEPARATE:
        return ""
    joined = (*_BEHIND, *(option for option in _SEPARATE if not option.startswith("--")))
    longest = max(filter(word.startswith, joined), key=len, default=None)
    if longest is not None:
        return longest
    is_file = not word.startswith("-") and before not in _VALUES
    return "" if is_file and os.path.exists(os.path.join(folder, word)) else None
