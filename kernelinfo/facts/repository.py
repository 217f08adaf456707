"""Paths of sources as the repository that the user stands in knows them."""

from __future__ import annotations

import os
from functools import cache

from kernelinfo.model import SourceLine


def in_repository(source: SourceLine) -> SourceLine:
    """The same place, relative to the repository's root where it lies inside.

    The root is the nearest folder with a `.git` from the current one upwards.
    """
    root = _root(os.getcwd())
    if root is None or not os.path.isabs(source.file):
        return source
    inside = os.path.relpath(source.file, root)
    return source if inside.startswith(os.pardir) else source._replace(file=inside)


@cache
def _root(folder: str) -> str | None:
    parent = os.path.dirname(folder)
    if os.path.exists(os.path.join(folder, ".git")):
        return folder
    return None if parent == folder else _root(parent)
