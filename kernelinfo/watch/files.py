"""Files of the paths, each with the stamp by which a change is seen."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import NamedTuple

from kernelinfo.reading.containers import files
from kernelinfo.reading.containers.files import File
from kernelinfo.watch.ignoring import Ignored, is_ignored_whole


class Stamp(NamedTuple):
    """Attributes of a file that a change of its content changes; no content is read."""

    size: int  # bytes
    modified: int  # nanoseconds
    inode: int


Snapshot = dict[str, Stamp]
"""Path -> stamp of each file that was there."""

_BESIDE_SAVES = (
    *(".*", "*~", "#*#", "*.swp", "*.tmp"),
    *("4913", "___jb_tmp___", "___jb_old___", "*___jb_tmp___", "*___jb_old___"),
)
"""Names of the temporary files of editors (vim, Emacs, JetBrains)."""


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a regular file; None if there is none or it cannot be looked at."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return _stamp(found) if stat.S_ISREG(found.st_mode) else None


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


class Outputs:
    """Outputs of a build: files, globs, and folders without the folders that `.gitignore` names.

    Files that `.gitignore` names by suffix stay: they are what a compiler writes. A folder that is
    ignored as a whole is looked at, because the user named it.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._trees: dict[str, FolderTree] = {}

    def snapshot(self) -> Snapshot:
        """The stamps of all files, in the order of the paths."""
        return {path: one for named in self._paths for path, one in self._under(named)}

    def is_named(self, path: str) -> bool:
        """True if the user or a glob names the file itself."""
        return not any(path.startswith(os.path.join(one, "")) for one in self._paths)

    def missing(self) -> list[str]:
        """The paths without any file now."""
        return [path for path in self._paths if next(self._under(path), None) is None]

    def _under(self, path: str) -> Iterator[tuple[str, Stamp]]:
        if os.path.isdir(path):
            if path not in self._trees:
                self._trees[path] = FolderTree(path, only_folders=True)
            yield from self._trees[path].stamps()
        elif found := stamp_of(path):
            yield path, found
        elif not os.path.lexists(path):
            for file in files.find(path):
                if isinstance(file, File) and (found := stamp_of(file.path)):
                    yield file.path, found


class FolderTree:
    """A folder that is looked at again and again, without what `.gitignore` names."""

    def __init__(
        self, root: str, *, only_folders: bool = False, without: Sequence[str] = ()
    ) -> None:
        """`only_folders` leaves out ignored folders, but not ignored files. `without` are real
        paths to leave out."""
        self._root = root
        self._only_folders = only_folders
        self._without = frozenset(without)
        real = os.path.abspath(root)
        is_whole = only_folders and is_ignored_whole(real)
        self._ignored = None if is_whole else Ignored(real)
        self._left_out: dict[str, bool] = {}
        """Path -> True if it is left out. Patterns are matched once for each path."""

    def stamps(self) -> Iterator[tuple[str, Stamp]]:
        """(path, stamp) of each regular file now; folders that vanish meanwhile are left out."""
        yield from self._stamps(self._root, {})

    def _stamps(
        self, folder: str, seen: dict[tuple[int, int], None]
    ) -> Iterator[tuple[str, Stamp]]:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = entry.path
                with suppress(OSError):
                    if entry.is_dir():
                        if not self._leaves_out(path, entry.name, is_folder=True):
                            yield from self._inside(path, entry, seen)
                    elif not self._leaves_out(path, entry.name, is_folder=False):
                        found = entry.stat()
                        if stat.S_ISREG(found.st_mode):
                            yield path, _stamp(found)

    def _inside(
        self, path: str, entry: os.DirEntry[str], seen: dict[tuple[int, int], None]
    ) -> Iterator[tuple[str, Stamp]]:
        """The files of a folder below; links that lead in a circle are followed once."""
        if entry.is_symlink():
            found = entry.stat()
            place = found.st_dev, found.st_ino
            inside = os.path.join(os.path.realpath(self._root), "")
            if place in seen or inside.startswith(os.path.join(os.path.realpath(path), "")):
                return
            seen[place] = None
        yield from self._stamps(path, seen)

    def _leaves_out(self, path: str, name: str, *, is_folder: bool) -> bool:
        known = self._left_out.get(path)
        if known is None:
            known = self._left_out[path] = self._is_left_out(path, name, is_folder)
        return known

    def _is_left_out(self, path: str, name: str, is_folder: bool) -> bool:
        if name == ".git" or (self._without and os.path.realpath(path) in self._without):
            return True
        if not self._only_folders and any(fnmatchcase(name, one) for one in _BESIDE_SAVES):
            return True
        if self._ignored is None or (self._only_folders and not is_folder):
            return False
        return self._ignored.names(os.path.abspath(path), is_folder=is_folder)
