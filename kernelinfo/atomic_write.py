"""Files written atomically."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import BinaryIO

from kernelinfo.opening import check_below

_SUFFIX = ".part"
_DAY = 86_400


@contextmanager
def atomic_write(path: str) -> Iterator[BinaryIO]:
    """A new file that replaces `path` once it is complete; before that the old file stays.

    A link at `path` is replaced, not followed. Pipes and devices are written directly. Raises
    `OSError`, also for a path outside of the bound of `opening`.
    """
    check_below(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.islink(path)):
        with open(path, "wb") as file:
            yield file
        return
    folder, name = os.path.split(path)
    _remove_old_parts(folder, f"{name}.")
    part = f"{path}.{os.getpid()}{_SUFFIX}"
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            if os.path.isfile(path):
                os.chmod(part, os.stat(path).st_mode)
            os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def _remove_old_parts(folder: str, prefix: str) -> None:
    """Remove `.part` files of this prefix that are older than a day: killed runs left them."""
    for name in _old_parts(folder or "."):
        if name.startswith(prefix):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


@cache  # a run may write thousands of files into one folder
def _old_parts(folder: str) -> tuple[str, ...]:
    begun = time.time() - _DAY
    try:
        parts = [entry for entry in os.scandir(folder) if entry.name.endswith(_SUFFIX)]
        return tuple(part.name for part in parts if part.stat().st_mtime < begun)
    except OSError:  # the write reports it
        return ()
