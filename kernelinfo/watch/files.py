"""Files of the paths, each with the stamp by which a change is seen."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple, TypeVar

from kernelinfo.atomic_write import name_of_aside
from kernelinfo.errors import ReadError
from kernelinfo.reading.containers import files
from kernelinfo.reading.containers.files import File
from kernelinfo.reading.paths import ANY_FOLDERS, fits, read_document, with_parents


class Stamp(NamedTuple):
    """Attributes of a file that a change of its content changes; no content is read."""

    size: int  # bytes
    modified: int  # nanoseconds
    inode: int


Snapshot = dict[str, Stamp]
"""Path -> stamp of each file that was there."""

Stamps = TypeVar("Stamps", bound=Mapping[str, Stamp | None])

_PAUSE = 0.05
"""Seconds between two looks at files that are just being saved."""
_MOST_PAUSES = 10
_UNFINISHED = "tmp.pid_*"
"""Folders in which Triton writes a file before it moves it into its cache
(triton/runtime/cache.py, `FileCacheManager.put`)."""
_STREAMS = (1, 2)
"""Descriptors of standard output and standard error."""
_SETTLED = 2 * 10**9
"""Nanoseconds after which a folder's time tells another change: FAT counts in two seconds."""
_BESIDE_SAVES = (
    *(".*", "*~", "#*#", "*.swp", "*.tmp"),
    *("4913", "___jb_tmp___", "___jb_old___", "*___jb_tmp___", "*___jb_old___"),
)
"""Names of the temporary files of editors (vim, Emacs, JetBrains)."""


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a regular file; None if there is none, it cannot be looked at, or this process
    writes its own output or messages to it."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    is_seen = stat.S_ISREG(status.st_mode) and not any(
        os.path.samestat(status, stream) for stream in _streams()
    )
    return _stamp(status) if is_seen else None


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def _streams() -> Iterator[os.stat_result]:
    """The files that the shell made standard output and standard error."""
    for stream in _STREAMS:
        with suppress(OSError):  # closed
            yield os.fstat(stream)


def rested(look: Callable[[], Stamps], *, absent: Collection[str] = ()) -> Stamps:
    """The stamps once two looks in a row are equal and no file is gone, or after half a second:
    a save takes several steps. Files in `absent` were not there before either."""
    before, now = None, look()
    for _ in range(_MOST_PAUSES):
        if before == now and not any(now[path] is None for path in now.keys() - absent):
            break
        time.sleep(_PAUSE)
        before, now = now, look()
    return now


def _is_same(path: str, other: str) -> bool:
    """True if both name one file: inodes are those of a device."""
    try:
        return os.path.samefile(path, other)
    except OSError:  # gone meanwhile
        return False


def is_under(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


class Outputs:
    """Outputs of a build: files, globs, and folders without the folders that `.gitignore` names.

    Files that `.gitignore` names by suffix stay: they are what a compiler writes. A folder that is
    ignored as a whole is looked at, because the user named it.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._trees: dict[str, FolderTree] = {}

    def snapshot(self) -> Snapshot:
        """The stamps of all files, in the order of the paths; each file once."""
        stamps: Snapshot = {}
        names: dict[int, str] = {}
        for path in self._paths:
            for name, stamp in self._under(path).items():
                first = names.setdefault(stamp.inode, name)
                if first == name or not _is_same(first, name):
                    stamps[name] = stamp
        return stamps

    def is_named(self, path: str) -> bool:
        """True if the user or a glob names the file itself."""
        return not any(is_under(path, folder) for folder in self._paths)

    def missing(self) -> list[str]:
        """The paths without any file now."""
        return [path for path in self._paths if not self._under(path)]

    def _under(self, path: str) -> Snapshot:
        if os.path.isdir(path):
            if path not in self._trees:
                self._trees[path] = FolderTree(path, only_folders=True)
            return self._trees[path].snapshot()
        if os.path.lexists(path):
            names = [path]
        else:
            names = [file.path for file in files.find(path) if isinstance(file, File)]
        stamps = ((name, stamp_of(name)) for name in names)
        return {name: stamp for name, stamp in stamps if stamp is not None}


class _FolderNames(NamedTuple):
    """The names in a folder that are not left out."""

    stamp: Stamp  # of the folder
    is_settled: bool  # False if the folder had just changed: it may change again at the same time
    files: tuple[str, ...]
    folders: tuple[str, ...]


class FolderTree:
    """A folder that is looked at again and again, without what `.gitignore` names.

    A folder is listed again only when its time changes, which a new, renamed or deleted file does.
    Listing 3,000 files takes twice as long as asking each for its stamp.
    """

    def __init__(
        self, root: str, *, only_folders: bool = False, without: Sequence[str] = ()
    ) -> None:
        """`only_folders` leaves out ignored folders, but not ignored files. `without` are real
        paths to leave out."""
        self._root = root
        self._only_folders = only_folders
        self._without = frozenset(without)
        real = os.path.abspath(root)
        self._patterns: dict[str, list[IgnorePattern]] | None = None
        """Folder -> patterns that apply in it, the outermost first; None to ignore nothing."""
        if not (only_folders and is_ignored_whole(real)):
            self._patterns = {real: [*_above(real), *_patterns(real)]}
        self._listings: dict[str, _FolderNames] = {}

    def snapshot(self) -> Snapshot:
        """The stamps of all regular files; folders that vanish meanwhile are left out."""
        stamps: Snapshot = {}
        linked: set[str] = set()
        waiting = [self._root]
        while waiting:
            folder = waiting.pop()
            if os.path.islink(folder) and not self._is_followed(folder, linked):
                continue
            listing = self._listing(folder)
            for path in listing.files if listing else ():
                if stamp := stamp_of(path):
                    stamps[path] = stamp
            waiting += reversed(listing.folders) if listing else ()
        return stamps

    def _is_followed(self, link: str, linked: set[str]) -> bool:
        """True for a link to a folder that neither holds the root nor was linked before."""
        real = os.path.realpath(link)
        inside = os.path.join(os.path.realpath(self._root), "")
        is_circle = link != self._root and inside.startswith(os.path.join(real, ""))
        is_followed = not is_circle and real not in linked
        linked.add(real)
        return is_followed

    def _listing(self, folder: str) -> _FolderNames | None:
        """The names in a folder, listed again if it changed; None if it cannot be read."""
        try:
            stamp = _stamp(os.stat(folder))
            listing = self._listings.get(folder)
            if listing is None or listing.stamp != stamp or not listing.is_settled:
                listing = self._listings[folder] = self._listed(folder, stamp)
            return listing
        except OSError:
            self._listings.pop(folder, None)
            return None

    def _listed(self, folder: str, stamp: Stamp) -> _FolderNames:
        is_settled = abs(time.time_ns() - stamp.modified) > _SETTLED
        files, folders = [], []
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=attrgetter("name")):
                is_folder = entry.is_dir()
                if not self._leaves_out(entry.path, entry.name, is_folder):
                    if is_folder:
                        folders.append(entry.path)
                    elif entry.is_file():
                        files.append(entry.path)
        return _FolderNames(stamp, is_settled, tuple(files), tuple(folders))

    def _leaves_out(self, path: str, name: str, is_folder: bool) -> bool:
        if name == ".git" or (is_folder and fnmatchcase(name, _UNFINISHED)):
            return True
        if name_of_aside(name):
            return True
        if self._without and os.path.realpath(path) in self._without:
            return True
        if not self._only_folders and any(fnmatchcase(name, pattern) for pattern in _BESIDE_SAVES):
            return True
        if self._patterns is None or (self._only_folders and not is_folder):
            return False
        return _is_ignored(os.path.abspath(path), self._patterns, is_folder=is_folder)


# Files and folders that `.gitignore` names, for folders that are looked at again and again.

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


def _is_ignored(path: str, patterns: dict[str, list[IgnorePattern]], *, is_folder: bool) -> bool:
    """True if the last pattern that matches an absolute path ignores it.

    `patterns` has those of a folder above; those of the folders below it are added.
    """
    folder = os.path.dirname(path)
    for inner in reversed([*takewhile(lambda inner: inner not in patterns, with_parents(folder))]):
        patterns[inner] = [*patterns[os.path.dirname(inner)], *_patterns(inner)]
    matching = (p for p in reversed(patterns[folder]) if p.matches(path, is_folder=is_folder))
    last = next(matching, None)
    return last is not None and not last.is_negated


def is_ignored_whole(root: str) -> bool:
    """True if a folder above ignores this one, or it ignores all of itself, as Meson's build
    folders do."""
    parts = [*with_parents(root)]
    is_named = any(
        pattern.matches(part, is_folder=True) for pattern in _above(root) for part in parts
    )
    return is_named or any(pattern.pattern == f"{ANY_FOLDERS}/*" for pattern in _patterns(root))


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
