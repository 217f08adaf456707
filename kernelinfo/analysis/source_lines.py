"""Where kernels of code objects are written, by their debug information."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.errors import ReadError
from kernelinfo.kernel import CodeObject
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.paths import in_repository

Lines = dict[str, SourceLine]
"""By symbol."""


def lines_of(blob: Blob) -> Lines:
    """The source line of each kernel of one code object. Raises `ReadError`."""
    from kernelinfo.reading.code_object.dwarf import read_source_lines

    lines = read_source_lines(blob.data)
    return {symbol: in_repository(line) for symbol, line in lines.items()}


def lines_of_all(
    code_objects: Iterable[CodeObject], within: Bounds
) -> Iterator[tuple[CodeObject, Lines] | Problem]:
    """The same of several; their files are opened again."""
    from kernelinfo.reading import containers

    wanted = {(one.path, one.containers, one.member, one.offset): one for one in code_objects}
    paths = dict.fromkeys(one.path for one in wanted.values())
    for blob in containers.open_paths(paths, required=False, within=within):
        if not isinstance(blob, Blob):
            continue
        if one := wanted.get((blob.path, blob.containers, blob.member, blob.offset)):
            try:
                yield one, lines_of(blob)
            except ReadError as error:
                yield Problem(blob.path, str(error), blob.member, blob.offset)
