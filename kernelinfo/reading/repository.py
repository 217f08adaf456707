"""Paths as the repository that the user stands in knows them."""

from __future__ import annotations

import os
from functools import cache

from kernelinfo.reading.facts import SourceLine


def in_repository(source: SourceLine) -> SourceLine:
    """The same path, relative to the repository's root where it lies inside.

    The root is the nearest folder with a `.git` from the current one upwards. A relative path is
    the compiler's, from a folder of its own, and stays.
    """
    inside = os.path.isabs(source.file) and path_in_repository(source.file)
    return source._replace(file=inside) if inside else source


def path_in_repository(path: str) -> str | None:
    """A path, if relative then to the current folder, from the repository's root; None outside."""
    try:
        root = _root(os.getcwd())
    except OSError:  # the current folder was deleted
        return None
    if root is None:
        return None
    inside = os.path.relpath(path, root)
    return None if inside.startswith(os.pardir) else inside


@cache
def _root(folder: str) -> str | None:
    parent = os.path.dirname(folder)
    if os.path.exists(os.path.join(folder, ".git")):
        return folder
    return None if parent == folder else _root(parent)
