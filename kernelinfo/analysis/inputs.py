"""The one loop over inputs: what is opened is counted, listed, or passed on to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import kernelinfo.reading as reading
from kernelinfo.analysis.counts import PathCounts
from kernelinfo.errors import ReadError
from kernelinfo.kernel import Repeat
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Missing, Note, Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.reading.containers import open_paths
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.facts import Module, ReadFilter

Subject = TypeVar("Subject")
"""The items that a run reads from a blob: kernels, or code objects to write."""
BlobReader = Callable[[Blob, PathCounts], Iterator[Subject | Problem]]


def run(
    counts: Sequence[PathCounts],
    read: BlobReader[Subject],
    *,
    required: bool = True,
    within: Bounds = BY_DEFAULT,
) -> Iterator[Subject | Problem]:
    """Subjects and problems of each path, in the order of reading. Updates `counts`."""
    among = tuple(one.path for one in counts) if required else ()
    for one in counts:
        for found in open_paths([one.path], required=required, among=among, within=within):
            yield from read_found(found, one, read)


def read_found(
    found: Found, counts: PathCounts, read: BlobReader[Subject]
) -> Iterator[Subject | Problem]:
    """Subjects and listed problems of one opened input. Updates `counts`."""
    before = counts.found
    if isinstance(found, Elsewhere):
        counts.found += 1
        return
    if isinstance(found, Missing):
        counts.missing.append(found)
        return
    if isinstance(found, Note):
        counts.notes.append(found)
        return
    for item in (found,) if isinstance(found, Problem) else read(found, counts):
        counts.repeated += isinstance(item, Repeat)
        if not isinstance(item, Problem) or counts.lists(item):
            yield item
    if counts.found > before:
        counts.folders.add(os.path.dirname(found.path))


def modules(
    blob: Blob, *, arch: str | None = None, asked: ReadFilter | None = None
) -> Iterator[Module | Problem]:
    """Modules of a blob; damage becomes a problem."""
    try:
        yield from reading.read(blob, arch=arch, asked=asked)
    except ReadError as error:
        yield problem(blob, str(error))
