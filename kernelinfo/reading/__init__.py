"""Bytes to facts: the numbers of each kernel as every source states them, none chosen yet."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.reading import build_log
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.facts import Module, ReadFilter
from kernelinfo.reading.text import text_of


def read(
    blob: Blob, *, arch: str | None = None, asked: ReadFilter | None = None
) -> Iterator[Module]:
    """Modules of a blob: one for a code object, one or several for an assembly text or a build log.

    `arch` is the target of code that names none. Readers may pass over kernels that are not `asked`
    for. Raises `ReadError` if nothing can be read; its message lacks the path.
    """
    blob.kernels.add_code(len(blob.data))
    if blob.kind == "code-object":
        from kernelinfo.reading import code_object

        yield code_object.read(blob.data, arch=arch, budget=blob.kernels, asked=asked)
    elif blob.kind == "build-log":
        yield from build_log.read(text_of(blob.data), arch=arch, budget=blob.kernels)
    else:
        from kernelinfo.reading import assembly

        yield from assembly.read(text_of(blob.data), arch=arch, budget=blob.kernels)
