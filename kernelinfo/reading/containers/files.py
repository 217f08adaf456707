"""Paths, globs, directories and standard input -> files; large ones are mapped, not copied."""

from __future__ import annotations

import mmap
import os
import stat
import sys
from collections.abc import Iterator

from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.reading.containers import bounds

STANDARD_INPUT = "-"

_SMALL_BYTES = 1 << 16


class File(NamedTuple):
    """A file to look into."""

    path: str
    named: bool
    """By the user, or by a glob; else found in a directory."""


def find(path: str) -> Iterator[File | Problem]:
    """The file itself, what a glob matches, or all regular files under a directory, sorted."""
    paths = [path]
    if path != STANDARD_INPUT and "\0" not in path and not os.path.lexists(path):
        from glob import glob, has_magic

        if has_magic(path):
            paths = sorted(glob(path, recursive=True))
            if not paths:
                yield Problem(path, "matches no file; check the pattern")
    for name in paths:
        if os.path.isdir(name):
            yield from _walk(name)
        else:
            yield File(name, named=True)


def size(path: str) -> int:
    """Bytes of a file; 0 of one that cannot be read, of which `load` says why."""
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0


def load(path: str, within: Bounds = BY_DEFAULT) -> Blob | Problem:
    """All bytes of a regular file, or of standard input."""
    if path == STANDARD_INPUT:
        data = sys.stdin.buffer.read()
        if not data:
            return Problem("<stdin>", "is empty; give it a file to read")
        return whole("<stdin>", memoryview(data), within)
    try:
        # Before opening: that of a FIFO would wait for a writer.
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return Problem(path, "is no regular file; give a file, a directory or -")
        if not status.st_size:
            return Problem(path, "is empty; build it again")
        with open(path, "rb", buffering=0) as file:
            if status.st_size <= bounds.COPIED_BYTES:
                return whole(path, memoryview(file.read(status.st_size)), within)
            from kernelinfo.reading.containers.mapping import Mapping

            return whole(path, memoryview(Mapping(file.fileno())), within)
    except OSError as error:
        return _problem(path, error)
    except ValueError as error:  # a NUL in the path, or a file that shrank meanwhile
        return Problem(path, str(error))


def whole(path: str, data: memoryview, within: Bounds = BY_DEFAULT) -> Blob:
    """An outermost file, which messages call `path`."""
    return Blob(path, data, within.budget(len(data)), bounds=within)


def forget(blob: Blob) -> None:
    """Let go of what was read of a mapped file, so that memory does not grow with its size.

    Whoever looks at the bytes again reads them from the file again.
    """
    mapped = blob.data.obj
    if isinstance(mapped, mmap.mmap) and blob.offset is not None:
        start = blob.offset - blob.offset % mmap.PAGESIZE
        if len(blob.data) > _SMALL_BYTES and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            mapped.madvise(mmap.MADV_DONTNEED, start, len(blob.data))


def shrunk(blob: Blob) -> Problem | None:
    """The problem of a loaded file that has lost bytes since."""
    if len(blob.data) <= bounds.COPIED_BYTES:
        return None
    from kernelinfo.reading.containers.mapping import Mapping

    file = blob.data.obj
    if not (isinstance(file, Mapping) and file.has_shrunk()):
        return None
    return Problem(blob.path, "shrank while it was read; read it again when it is complete")


def _walk(directory: str) -> Iterator[File | Problem]:
    failures: list[OSError] = []
    seen: set[tuple[int, int]] = set()
    for folder, folders, names in os.walk(directory, onerror=failures.append, followlinks=True):
        folders.sort()
        for name in (".", *sorted(names)):
            path = os.path.join(folder, name)
            try:
                status = os.stat(path)
            except OSError:  # a link to nowhere
                continue
            # Links may lead in circles, and several names to one library.
            if (status.st_dev, status.st_ino) in seen:
                if name == ".":
                    folders.clear()
                    break
                continue
            seen.add((status.st_dev, status.st_ino))
            if stat.S_ISREG(status.st_mode):
                yield File(path, named=False)
    for failure in failures:
        yield _problem(str(failure.filename), failure)


def _problem(path: str, error: OSError) -> Problem:
    return Problem(path, (error.strerror or str(error)).lower())
