"""The file that a sweep starts from: LLVM bitcode or textual IR."""

from __future__ import annotations

import os
import re
import stat

from kernelinfo.errors import ReadError
from kernelinfo.light_typing import NamedTuple

_MOST_BYTES = 1 << 30
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""Raw bitcode, and the wrapper header of some Apple tools (LLVM BitCodeFormat)."""
_PRODUCER = re.compile(rb"(?:AMD )?clang version \d+(?:\.\d+)*(?:git)?")
"""In `!llvm.ident`; bitcode keeps metadata strings as plain bytes (METADATA_STRINGS)."""
_ASSEMBLY_OF = {".llir": ".amdgcn", ".bc": ".s", ".ll": ".s"}


class Input(NamedTuple):
    """An IR file as it was read."""

    path: str
    data: bytes

    @property
    def is_optimised(self) -> bool:
        """True for Triton's `.llir`: LLVM's optimisation has run, code generation is left."""
        return self.path.endswith(".llir")

    @property
    def assembly(self) -> str:
        """Path of the assembly that the same compilation writes; it need not exist."""
        stem, suffix = os.path.splitext(self.path)
        return stem + _ASSEMBLY_OF.get(suffix, ".s")

    @property
    def producer(self) -> str | None:
        """`clang version 22.1.8`: the compiler that made the IR; None if it does not say."""
        found = _PRODUCER.search(self.data)
        return found[0].decode("ascii") if found else None


def read_input(path: str) -> Input:
    """The IR file at `path`. Raises `ReadError` if it cannot be read or is not LLVM IR."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ReadError(f"{path}: not a file; give one .bc, .ll or .llir file")
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ReadError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not data or len(data) > _MOST_BYTES:
        wrong = "empty" if not data else f"more than {_MOST_BYTES} bytes"
        raise ReadError(f"{path}: {wrong}; give the .bc of --save-temps or Triton's .llir")
    if not data.startswith(_BITCODE) and not _is_textual_ir(data):
        raise ReadError(
            f"{path}: neither LLVM bitcode nor textual IR; "
            "give the .bc of --save-temps or Triton's .llir"
        )
    return Input(path, data)


def _is_textual_ir(data: bytes) -> bool:
    return (
        b"\0" not in data and re.search(rb"(?m)^(?:define|target|@|; ModuleID)", data) is not None
    )


def input_of(assembly: str) -> str | None:
    """Path of the IR file that lies next to an assembly file; None if there is none."""
    stem, suffix = os.path.splitext(assembly)
    paths = (stem + ir for ir, text in _ASSEMBLY_OF.items() if text == suffix)
    return next(filter(os.path.isfile, paths), None)
