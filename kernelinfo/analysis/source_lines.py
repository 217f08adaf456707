"""Source lines of kernels, from the debug information of code objects."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

from kernelinfo.analysis.inputs import opened
from kernelinfo.analysis.options import Options
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.paths import in_repository


def lines_of(blob: Blob) -> dict[str, SourceLine]:
    """Symbol -> source line of the kernels of one code object. Raises `ReadError`."""
    from kernelinfo.reading.code_object.dwarf import read_source_lines

    with freed():
        lines = read_source_lines(blob.data)
    return {symbol: in_repository(line) for symbol, line in lines.items()}


@contextmanager
def freed() -> Iterator[None]:
    """Free pyelftools' entries at the end: they refer to each other, and the command line runs
    without a collector. They take 20 MB for each large code object."""
    if gc.isenabled():
        yield
        return
    gc.freeze()  # only what is made from here on is searched
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()


def opened_again(
    code_objects: Iterable[CodeObject], options: Options
) -> Iterator[tuple[CodeObject, Blob]]:
    """The code objects that still exist, each with its bytes."""
    wanted = {(one.path, one.containers, one.member, one.offset): one for one in code_objects}
    paths = [*dict.fromkeys(one.path for one in wanted.values())]
    blobs = (opened(path, options, required=False, among=paths) for path in paths)
    for blob in chain.from_iterable(blobs):
        if isinstance(blob, Blob):
            origin = blob.path, blob.containers, blob.member, blob.offset
            if one := wanted.get(origin):
                yield one, blob
