"""Unfinished `.part` files, which a killed run leaves behind."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache

SUFFIX = ".part"
_DAY = 86_400


def remove_old_parts(folder: str, prefix: str) -> None:
    """Remove a folder's `.part` files that begin with `prefix` and are older than a day."""
    for name in _old_parts(folder or "."):
        if name.startswith(prefix):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


@cache  # a run may write thousands of files into one folder
def _old_parts(folder: str) -> tuple[str, ...]:
    begun = time.time() - _DAY
    try:
        parts = [entry for entry in os.scandir(folder) if entry.name.endswith(SUFFIX)]
        return tuple(part.name for part in parts if part.stat().st_mtime < begun)
    except OSError:  # which writing reports
        return ()
