"""Files opened by name: regular ones, and pipes that a command line names; below one folder if
`--only-below` names it.

Every file that a user, a setting or another file names is opened here or by `atomic_write`, or is
checked here before a library opens it.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

FilePath = str | os.PathLike[str]

_BOUND = "KERNELINFO_ONLY_BELOW"
"""The variable that carries the bound. A process has one bound for all files, as it has one root
folder, and the processes that it starts inherit it."""


@contextmanager
def only_below(folder: FilePath) -> Iterator[None]:
    """Read and write only files below `folder`, with links resolved, in this process and in
    those that it starts. A nested bound has to lie inside the outer one; otherwise `OSError` is
    raised."""
    check_below(folder)
    before = bound()
    os.environ[_BOUND] = os.path.realpath(folder)
    try:
        yield
    finally:
        if before:
            os.environ[_BOUND] = before
        else:
            del os.environ[_BOUND]


def bound() -> str:
    """The folder below which all files that are read or written have to lie; empty if there is no
    bound."""
    return os.environ.get(_BOUND, "")


def check_below(path: FilePath) -> None:
    """Raise `PermissionError` for a path outside the bound."""
    folder = bound()
    if folder and not is_below(path, folder):
        raise PermissionError(errno.EPERM, f"lies outside of {folder}", os.fspath(path))


def is_below(path: FilePath, folder: FilePath) -> bool:
    """True for the folder itself and for everything in it, with links resolved."""
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return real == root or real.startswith(os.path.join(root, ""))


_PIPES: dict[str, bytearray | None] = {}
"""Path of each pipe that the command line names -> its bytes once they are read. Commands read a
path several times, and a pipe gives its bytes once."""
_PIECE = 1 << 20
_GRACE = 200
"""Milliseconds that a program waiting to write gets to begin once the pipe is open."""


@contextmanager
def pipes_named_by(words: Iterable[str]) -> Iterator[None]:
    """Let `read_pipe` read the pipes among the words of a command line, such as `<(…)` of a shell,
    until the command ends."""
    _PIPES.update((word, None) for word in words if os.name == "posix" and _is_pipe(word))
    try:
        yield
    finally:
        _PIPES.clear()


def is_named_pipe(path: FilePath) -> bool:
    """True for a pipe that the command line names."""
    return path in _PIPES


def read_pipe(path: str, most: int) -> bytearray:
    """The bytes of a pipe that the command line names, the same on every call. At most `most` + 1
    bytes are returned. Empty if no program writes to it. Raises `OSError`."""
    data = _PIPES.get(path)
    if data is None:
        data = _PIPES[path] = _read_to_end(path, most + 1)
    return data


def _read_to_end(path: str, most: int) -> bytearray:
    """Up to `most` bytes of a pipe; empty if no program opens it for writing within `_GRACE`, as a
    blocking read would then never end."""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN)
        waiting.poll(_GRACE)
        content = bytearray()
        while len(content) < most:
            try:
                piece = os.read(pipe, min(_PIECE, most - len(content)))
            except BlockingIOError:
                waiting.poll()
                continue
            if not piece:
                break
            content += piece
        return content
    finally:
        os.close(pipe)


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):  # a NUL in the path
        return False


def open_regular(path: FilePath) -> BinaryIO:
    """A regular file, open for reading.

    Raises `OSError` if it cannot be read, lies outside the bound, or is not a regular file: a FIFO
    waits for a writer, and a device may never end.
    """
    check_below(path)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is no regular file", os.fspath(path))
    return open(path, "rb")
