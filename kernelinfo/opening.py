"""Files opened by name: regular ones only, and below one folder if `--only-below` names it.

Every file that a user, a setting or another file names is opened here or by `atomic_write`, or is
checked here before a library opens it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

FilePath = str | os.PathLike[str]

_BOUND = "KERNELINFO_ONLY_BELOW"
"""The variable that carries the bound. A process has one bound for all files, as it has one root
folder, and the processes that it starts inherit it."""


@contextmanager
def only_below(folder: FilePath) -> Iterator[None]:
    """Read and write files below `folder` only, with links resolved, also in processes started
    meanwhile. A bound inside of another one lies below it; else `OSError` is raised."""
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
    """The folder that holds all files that may be read and written; empty if any file may."""
    return os.environ.get(_BOUND, "")


def check_below(path: FilePath) -> None:
    """Raise `PermissionError` for a path that lies outside of the bound."""
    folder = bound()
    if folder and not is_below(path, folder):
        raise PermissionError(errno.EPERM, f"lies outside of {folder}", os.fspath(path))


def is_below(path: FilePath, folder: FilePath) -> bool:
    """True for the folder itself and all that lies in it, with links resolved."""
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return real == root or real.startswith(os.path.join(root, ""))


def open_regular(path: FilePath) -> BinaryIO:
    """A regular file, open for reading.

    Raises `OSError` if it cannot be read, lies outside of the bound, or is no regular file: a FIFO
    waits for a writer, and a device may never end.
    """
    check_below(path)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is no regular file", os.fspath(path))
    return open(path, "rb")
