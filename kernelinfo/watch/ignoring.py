"""Files and folders that `.gitignore` names, for folders that are looked at again and again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.paths import ANY_FOLDERS, fits, read_document, with_parents

_FILE = ".gitignore"
_MOST_BYTES = 1 << 16
"""Bytes of a `.gitignore`; a larger one is not read. Each file is compared with each line."""


class IgnorePattern(NamedTuple):
    """One line of a `.gitignore`."""

    folder: str
    """Absolute path of the folder with the `.gitignore`."""
    pattern: str
    """Relative to the folder, as `fits` takes it."""
    only_folders: bool
    is_negated: bool
    """True for a line that begins with `!`: the files are not ignored."""

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """True if the line names this absolute path."""
        if self.only_folders and not is_folder:
            return False
        inside = path.removeprefix(os.path.join(self.folder, ""))
        return inside != path and fits(inside.replace(os.sep, "/"), self.pattern)


class Ignored:
    """The patterns above and in one folder; those of a folder below are read when it is asked
    for."""

    def __init__(self, root: str) -> None:
        """`root` is an absolute path. Its repository begins at the nearest folder with `.git`."""
        self._patterns = {root: [*_above(root), *_patterns(root)]}
        """Folder -> patterns that apply in it, the outermost first."""

    def names(self, path: str, *, is_folder: bool) -> bool:
        """True if the last pattern that matches an absolute path below the root ignores it."""
        found = False
        for one in self._of(os.path.dirname(path)):
            if one.matches(path, is_folder=is_folder):
                found = not one.is_negated
        return found

    def _of(self, folder: str) -> list[IgnorePattern]:
        unread = [*takewhile(lambda one: one not in self._patterns, with_parents(folder))]
        for one in reversed(unread):
            above = self._patterns[os.path.dirname(one)]
            self._patterns[one] = [*above, *_patterns(one)]
        return self._patterns[folder]


def is_ignored_whole(root: str) -> bool:
    """True if a folder above ignores this one, or it ignores all of itself, as Meson's build
    folders do."""
    parts = [*with_parents(root)]
    is_named = any(one.matches(part, is_folder=True) for one in _above(root) for part in parts)
    return is_named or any(one.pattern == f"{ANY_FOLDERS}/*" for one in _patterns(root))


def _above(root: str) -> Iterator[IgnorePattern]:
    """Patterns of the folders above, from the repository's root on."""
    above: list[str] = []
    for folder in with_parents(root):
        if folder != root:
            above.append(folder)
        if os.path.exists(os.path.join(folder, ".git")):
            break
    for folder in reversed(above):
        yield from _patterns(folder)


def _patterns(folder: str) -> Iterator[IgnorePattern]:
    """Patterns of one folder; none if its `.gitignore` cannot be read."""
    data = b""
    with suppress(OSError, ReadError):
        data = read_document(os.path.join(folder, _FILE), _MOST_BYTES)
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.rstrip()
        if not text or text.startswith("#"):
            continue
        is_negated, text = text.startswith("!"), text.removeprefix("!")
        name = text.rstrip("/")
        anywhere = "/" not in name
        pattern = f"{ANY_FOLDERS}/{name}" if anywhere else name.removeprefix("/")
        yield IgnorePattern(folder, pattern, text.endswith("/"), is_negated)
