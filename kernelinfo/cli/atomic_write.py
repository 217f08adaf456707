"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from kernelinfo.light_typing import TYPE_CHECKING
from kernelinfo.part_files import SUFFIX, remove_old_parts

if TYPE_CHECKING:
    from typing import BinaryIO


@contextmanager
def atomic_write(path: str) -> Iterator[BinaryIO]:
    """A file that takes its name when it is complete; until then what was there stays.

    A link of that name is replaced, not followed. Pipes and devices are written as they are.
    Raises `OSError`.
    """
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.islink(path)):
        with open(path, "wb") as file:
            yield file
        return
    folder, name = os.path.split(path)
    remove_old_parts(folder, f"{name}.")
    part = f"{path}.{os.getpid()}{SUFFIX}"
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
