"""Reports LLVM bitcode and SPIR-V: code without registers yet."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import magic
from kernelinfo.reading.containers.parts import problem


def read(blob: Blob) -> Iterator[Problem]:
    """One problem: the kind of code, and the file to give instead."""
    message = "carries no resource usage; give the linked code object or the assembly"
    if blob.data.read(0, 4) == magic.SPIRV:
        message = f"SPIR-V {message}"
    else:
        mend = "" if blob.containers else ", or compile it by `kernelinfo sweep`"
        message = f"LLVM bitcode {message}{mend}"
    yield problem(blob, message)
