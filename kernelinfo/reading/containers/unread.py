"""Reports LLVM bitcode and SPIR-V: code without registers yet."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.reading.blob import Blob, Problem, SpirV
from kernelinfo.reading.containers import magic
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.messages import say


def read(blob: Blob) -> Iterator[Problem | SpirV]:
    """The SPIR-V; or a problem for bitcode: the kind of code, and the file to give instead."""
    if blob.data.read(0, len(magic.SPIRV)) == magic.SPIRV:
        yield SpirV(blob.path, blob.member, blob.containers, blob)
        return
    mend = "" if blob.containers else say("bitcode-mend")
    yield problem(blob, say("bitcode", mend=mend))
