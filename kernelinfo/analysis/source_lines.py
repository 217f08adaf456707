"""Source lines of kernels, from the debug information of code objects."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.containers import open_paths
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
    code_objects: Iterable[CodeObject], within: Bounds
) -> Iterator[tuple[CodeObject, Blob]]:
    """The code objects that still exist, each with its bytes."""
    wanted = {(one.path, one.containers, one.member, one.offset): one for one in code_objects}
    paths = dict.fromkeys(one.path for one in wanted.values())
    for blob in open_paths(paths, required=False, within=within):
        if isinstance(blob, Blob):
            origin = blob.path, blob.containers, blob.member, blob.offset
            if one := wanted.get(origin):
                yield one, blob
