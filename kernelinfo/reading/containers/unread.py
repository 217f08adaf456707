"""Code that no compiler has given registers yet: LLVM bitcode and SPIR-V."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import magic
from kernelinfo.reading.containers.parts import problem


def read(blob: Blob) -> Iterator[Problem]:
    """What it is."""
    message = "carries no resource usage; give the linked code object or the assembly"
    if blob.data.read(0, 4) == magic.SPIRV:
        message = f"SPIR-V {message}"
    else:
        message = f"LLVM bitcode {message}, or compile it by `kernelinfo sweep`"
    yield problem(blob, message)
