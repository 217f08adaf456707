"""Files written atomically: to a temporary file in the same folder, which is renamed once
complete."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import BinaryIO

from kernelinfo.opening import check_below

_ASIDE = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.part", re.DOTALL)
_RANDOM_BYTES = 8
_LONGEST_NAME = 200
"""Most bytes of a file's name that its temporary file's name repeats; names have at most 255."""
_DAY = 86_400
_PERMISSIONS = 0o777
"""Mode bits that a new file takes over from the old one; set-uid and set-gid are not among them."""


@contextmanager
def atomic_write(path: str) -> Iterator[BinaryIO]:
    """A new file that replaces `path` once it is complete; until then the old file stays.

    A link at `path` is replaced, not followed. Pipes and devices are written directly. Raises
    `OSError`, also for a path outside the bound of `opening`.
    """
    check_below(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.islink(path)):
        with open(path, "wb") as file:
            yield file
        return
    _remove_old(path)
    aside = _name_aside(path)
    try:  # from before it exists: Ctrl-C may come at any moment
        with open(aside, "xb") as file:
            yield file
            file.flush()
            if os.path.isfile(path):
                os.chmod(aside, os.stat(path).st_mode & _PERMISSIONS)
            os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise


def create_aside(path: str) -> str:
    """The path of a new, empty file beside `path` under a name that did not exist before:
    `.NAME.0123456789abcdef.part`. Raises `OSError`."""
    aside = _name_aside(path)
    open(aside, "xb").close()
    return aside


def _name_aside(path: str) -> str:
    """A path for a temporary file of `path`, in the same folder, made unique by a random part. The
    file is not created."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{_kept(name)}.{os.urandom(_RANDOM_BYTES).hex()}.part")


def _kept(name: str) -> str:
    """The start of a file's name, short enough to begin the name of the temporary file."""
    return os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])


def name_of_aside(name: str) -> str | None:
    """The name of the file, cut to 200 bytes, whose temporary file is called `name`; None if this
    module gives no temporary file such a name."""
    match = _ASIDE.fullmatch(name)
    return match["name"] if match else None


def _remove_old(path: str) -> None:
    """Remove the temporary files of `path` that are older than a day: killed runs left them."""
    folder, name = os.path.split(path)
    for aside in _old_asides(folder or "."):
        if name_of_aside(aside) == _kept(name):
            with suppress(OSError):
                os.unlink(os.path.join(folder, aside))


@cache  # a run may write thousands of files into one folder
def _old_asides(folder: str) -> tuple[str, ...]:
    begun = time.time() - _DAY
    try:
        entries = [
            (entry.name, entry.stat(follow_symlinks=False))
            for entry in os.scandir(folder)
            if name_of_aside(entry.name)
        ]
    except OSError:  # the write reports it
        return ()
    return tuple(
        name for name, status in entries if stat.S_ISREG(status.st_mode) and status.st_mtime < begun
    )
