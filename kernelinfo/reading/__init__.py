"""CODE -> FACTS: what each reader finds of a kernel, with its sources, nothing chosen yet."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.reading.blob import Blob
from kernelinfo.reading.facts import Asked, Module


def read(blob: Blob, *, arch: str | None = None, asked: Asked | None = None) -> Iterator[Module]:
    """The modules of a code object (always one) or of a text (one or several).

    `arch` is the target of code that does not name its own. Readers may pass over kernels that are
    not `asked` for. Raises `ReadError` where nothing can be read; its message lacks the path.
    """
    blob.kernels.add_code(len(blob.data))
    if bytes(blob.data.read(0, 4)) == b"\x7fELF":
        from kernelinfo.reading import code_object

        yield code_object.read(blob.data, arch=arch, budget=blob.kernels, asked=asked)
    elif blob.is_build_log:
        from kernelinfo.reading import build_log

        yield from build_log.read(blob.data.read(), arch=arch, budget=blob.kernels)
    else:
        from kernelinfo.reading import assembly

        yield from assembly.read(blob.data.read(), arch=arch, budget=blob.kernels)
