"""Bytes -> code: containers are opened down to single code objects and assembly texts.

The first bytes decide, never a file's name. A format is a module with `accepts` and `read`, and a
line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from kernelinfo.ingest import bundle, files, host_binary, text, unread
from kernelinfo.model import Blob, Problem

_EM_AMDGPU = 224
_HEAD_BYTES = 512
_DEEPEST = 6


class Format(Protocol):
    """What holds code but is none itself."""

    def accepts(self, head: bytes) -> bool:
        """Whether data that begin so are of this format."""

    def read(self, blob: Blob) -> Iterator[Blob | Problem]:
        """What it holds, one container deeper each; nothing where none of it is for AMD GPUs."""


FORMATS: tuple[Format, ...] = (bundle, host_binary, unread)
"""In the order in which they are asked."""


def open_paths(paths: Iterable[str]) -> Iterator[Blob | Problem]:
    """The code in files, directories, globs and standard input (`-`), in the order given.

    In a directory, files that hold nothing for AMD GPUs are passed over; a file that was named
    and holds nothing is a problem.
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
            elif file.named:
                yield from _named(blob)
            elif _is_worth_opening(blob):
                yield from _unpack(blob)


def open_bytes(data: bytes, path: str) -> Iterator[Blob | Problem]:
    """The code in `data`, which messages call `path`."""
    yield from _named(Blob(path, memoryview(data)))


def _is_code_object(head: bytes) -> bool:
    # Cut off before it names a machine, it is the reader's to complain of.
    return head.startswith(host_binary.MAGIC) and (
        len(head) < 20 or int.from_bytes(head[18:20], "little") == _EM_AMDGPU
    )


def _named(blob: Blob) -> Iterator[Blob | Problem]:
    empty = True
    for item in _unpack(blob):
        empty = False
        yield item
    if empty:
        yield Problem(
            blob.path, "no AMD GPU code found; give what the compiler left for the device"
        )


def _unpack(blob: Blob) -> Iterator[Blob | Problem]:
    head = bytes(blob.data[:_HEAD_BYTES])
    if _is_code_object(head):
        yield blob
        return
    for format in FORMATS:
        if format.accepts(head):
            break
    else:
        yield text.read(blob)
        return
    if len(blob.containers) >= _DEEPEST:
        message = f"containers nested more than {_DEEPEST} deep; not read"
        yield Problem(blob.path, message, blob.member, blob.offset)
        return
    for item in format.read(blob):
        if isinstance(item, Problem):
            yield item
        else:
            yield from _unpack(item)


def _is_worth_opening(blob: Blob) -> bool:
    head = bytes(blob.data[:_HEAD_BYTES])
    magics = (host_binary.MAGIC, bundle.MAGIC, bundle.COMPRESSED, unread.OFFLOAD_BINARY)
    if head.startswith(magics):
        return True
    return text.is_named_so(blob.path) and isinstance(text.read(blob), Blob)
