"""Bytes -> code: containers are opened down to single code objects and assembly texts.

The first bytes decide, never a file's name. A format is a module with `accepts` and `read`, and a
line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from kernelinfo.ingest import (
    archive,
    bounds,
    bundle,
    coff,
    compressed,
    files,
    host_binary,
    magic,
    offload_binary,
    tar,
    text,
    unread,
    zip_archive,
)
from kernelinfo.ingest.parts import problem
from kernelinfo.model import Blob, Problem

_EM_AMDGPU = 224


class Format(Protocol):
    """What holds code but is none itself."""

    def accepts(self, head: bytes) -> bool:
        """Whether data that begin so are of this format."""

    def read(self, blob: Blob) -> Iterator[Blob | Problem]:
        """What it holds, one container deeper each; nothing where none of it is for AMD GPUs."""


FORMATS: tuple[Format, ...] = (
    bundle,
    host_binary,
    offload_binary,
    archive,
    coff,
    compressed,
    tar,
    zip_archive,
    unread,
)
"""In the order in which they are asked."""

_OF_ANYTHING = ("archive", "tar", "zip")
"""Containers most of whose members are not for AMD GPUs, like most files of a directory."""


def open_paths(paths: Iterable[str], *, meant: bool = True) -> Iterator[Blob | Problem]:
    """The code in files, directories, globs and standard input (`-`), in the order given.

    In a directory, files that hold nothing for AMD GPUs are passed over; a file that was named
    and holds nothing is a problem, unless it was not `meant` to.
    """
    for path in paths:
        for file in files.find(path):
            if isinstance(file, Problem):
                yield file
                continue
            blob = files.load(file.path)
            if isinstance(blob, Problem):
                if file.named:
                    yield blob
                continue
            if file.named and meant:
                yield from _named(blob)
            else:
                yield from _unpack(blob, meant=False)
            if shrunk := files.shrunk(blob):
                yield shrunk


def open_bytes(data: bytes, path: str) -> Iterator[Blob | Problem]:
    """The code in `data`, which messages call `path`."""
    yield from _named(Blob(path, memoryview(data)))


def _named(blob: Blob) -> Iterator[Blob | Problem]:
    empty = True
    for item in _unpack(blob, meant=True):
        empty = False
        yield item
    if empty:
        yield problem(blob, "no AMD GPU code found; give what the compiler left for the device")


def _unpack(blob: Blob, *, meant: bool) -> Iterator[Blob | Problem]:
    """The code in a blob. What is not `meant` to hold any, one of many files, may hold none."""
    head = bytes(blob.data[: magic.HEAD_BYTES])
    if not meant and not magic.may_hold_code(head, blob.member or blob.path):
        return
    if _is_code_object(head):
        yield blob
        files.forget(blob)
        return
    format = next((format for format in FORMATS if format.accepts(head)), None)
    if format is None:
        item = text.read(blob)
        if meant or isinstance(item, Blob):
            yield item
        return
    deepest = bounds.bounds().nesting
    if len(blob.containers) >= deepest:
        message = f"containers nested more than {deepest} deep; --bound nesting=N reads deeper"
        yield problem(blob, message)
        return
    for item in format.read(blob):
        if isinstance(item, Problem):
            yield item
        elif item.containers[-1] in _OF_ANYTHING:
            yield from _unpack(item, meant=False)
        else:
            yield from _unpack(item, meant=meant or format is not compressed)


def _is_code_object(head: bytes) -> bool:
    # Cut off before it names a machine, it is the reader's to complain of.
    return head.startswith(magic.ELF) and (
        len(head) < 20 or int.from_bytes(head[18:20], "little") == _EM_AMDGPU
    )
