"""Files of a build and its sources, each with the stamp by which a change is seen."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import blake2b
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple, TypeVar

from kernelinfo.atomic_write import name_of_aside
from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import File
from kernelinfo.reading.containers import files
from kernelinfo.reading.paths import ANY_FOLDERS, fits, read_document, with_parents


class Stamp(NamedTuple):
    """Attributes of a file that change when its content does; no content is read."""

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
"""Nanoseconds after which another change of a folder gives it another time: FAT stores times in
steps of two seconds."""
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
    """The `os.fstat` of standard output and standard error, without closed ones."""
    for stream in _STREAMS:
        with suppress(OSError):  # closed
            yield os.fstat(stream)


def rested(look: Callable[[], Stamps], *, absent: Collection[str] = ()) -> Stamps:
    """Wait until two looks in a row give the same stamps and no file is missing, at most half a
    second, because a save takes several steps. Returns the stamps. Files in `absent` may be
    missing: they were missing before."""
    before, now = None, look()
    for _ in range(_MOST_PAUSES):
        if before == now and not any(now[path] is None for path in now.keys() - absent):
            break
        time.sleep(_PAUSE)
        before, now = now, look()
    return now


def _is_same(path: str, other: str) -> bool:
    """True if both name the same file. Inodes are unique only within a device."""
    try:
        return os.path.samefile(path, other)
    except OSError:  # gone meanwhile
        return False


def is_under(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def snapshot(trees: Iterable[FileTree]) -> Snapshot:
    """The stamps of all files, in the order of the paths; each file once."""
    stamps: Snapshot = {}
    names: dict[int, str] = {}
    for tree in trees:
        for name, stamp in tree.snapshot().items():
            first = names.setdefault(stamp.inode, name)
            if first == name or not _is_same(first, name):
                stamps[name] = stamp
    return stamps


class FileTree:
    """What a path names, looked at repeatedly: a file, the files of a glob, or a folder without
    what `.gitignore` names.

    A folder is listed again only when its modification time changes, as it does when a file is
    created, renamed or deleted. Listing 3,000 files takes twice as long as asking each for its
    stamp.
    """

    def __init__(
        self, path: str, *, only_folders: bool = False, without: Sequence[str] = ()
    ) -> None:
        """`only_folders` leaves out ignored folders and keeps ignored files, which a compiler may
        have written. It leaves out nothing if `path` itself is ignored, because the user named it.
        `without` are real paths to leave out."""
        self.path = path
        self._only_folders = only_folders
        self._without = frozenset(without)
        self._patterns: dict[str, list[IgnorePattern]] | None = None
        """Folder -> patterns that apply in it, the outermost first; empty to ignore nothing."""
        self._listings: dict[str, tuple[Stamp, list[str], list[str]]] = {}
        """Folder -> its stamp, and the paths of its files and folders that are not left out."""

    def snapshot(self) -> Snapshot:
        """The stamps of all regular files; folders that vanish meanwhile are left out."""
        if os.path.isdir(self.path):
            if self._patterns is None:
                self._patterns = _patterns_of(self.path, is_named=self._only_folders)
            paths = self._below()
        elif os.path.lexists(self.path):
            paths = iter([self.path])
        else:
            paths = (file.path for file in files.find(self.path) if isinstance(file, File))
        stamps = ((path, stamp_of(path)) for path in paths)
        return {path: stamp for path, stamp in stamps if stamp is not None}

    def _below(self) -> Iterator[str]:
        """The files below the folder."""
        linked: set[str] = set()
        waiting = [self.path]
        while waiting:
            folder = waiting.pop()
            if os.path.islink(folder) and not self._is_followed(folder, linked):
                continue
            paths, folders = self._listing(folder)
            yield from paths
            waiting += reversed(folders)

    def _is_followed(self, link: str, linked: set[str]) -> bool:
        """True for a link to a folder that does not contain the root and that no earlier link led
        to; `linked` has the real paths of those."""
        real = os.path.realpath(link)
        inside = os.path.join(os.path.realpath(self.path), "")
        is_circle = link != self.path and inside.startswith(os.path.join(real, ""))
        is_followed = not is_circle and real not in linked
        linked.add(real)
        return is_followed

    def _listing(self, folder: str) -> tuple[list[str], list[str]]:
        """The files and folders in a folder, listed again if it changed; none if it is gone."""
        try:
            stamp = _stamp(os.stat(folder))
            before, files, folders = self._listings.get(folder, (None, [], []))
            if before != stamp:
                # A folder that has just changed may change again at the same time.
                is_settled = abs(time.time_ns() - stamp.modified) > _SETTLED
                files, folders = self._list(folder)
                if is_settled:
                    self._listings[folder] = stamp, files, folders
        except OSError:
            self._listings.pop(folder, None)
            return [], []
        return files, folders

    def _list(self, folder: str) -> tuple[list[str], list[str]]:
        files, folders = [], []
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=attrgetter("name")):
                is_folder = entry.is_dir()
                if not self._leaves_out(entry.path, entry.name, is_folder):
                    if is_folder:
                        folders.append(entry.path)
                    elif entry.is_file():
                        files.append(entry.path)
        return files, folders

    def _leaves_out(self, path: str, name: str, is_folder: bool) -> bool:
        if name == ".git" or (is_folder and fnmatchcase(name, _UNFINISHED)):
            return True
        if name_of_aside(name):
            return True
        if self._without and os.path.realpath(path) in self._without:
            return True
        if not self._only_folders and any(fnmatchcase(name, pattern) for pattern in _BESIDE_SAVES):
            return True
        if not self._patterns or (self._only_folders and not is_folder):
            return False
        return _is_ignored(os.path.abspath(path), self._patterns, is_folder=is_folder)


# Files and folders that `.gitignore` names, for folders that are looked at again and again.

_FILE = ".gitignore"
_MOST_IGNORED = 1 << 16
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
    """True if the last pattern that matches an absolute path ignores it. `patterns` holds the
    patterns of a folder above; those of the folders in between are added to it."""
    folder = os.path.dirname(path)
    for inner in reversed([*takewhile(lambda inner: inner not in patterns, with_parents(folder))]):
        patterns[inner] = [*patterns[os.path.dirname(inner)], *_patterns(inner)]
    matching = (p for p in reversed(patterns[folder]) if p.matches(path, is_folder=is_folder))
    last = next(matching, None)
    return last is not None and not last.is_negated


def _patterns_of(folder: str, *, is_named: bool) -> dict[str, list[IgnorePattern]]:
    """The patterns that apply in a folder.

    With `is_named`, the user named the folder: no patterns apply if it is ignored as a whole, by a
    folder above or by its own `.gitignore`, like the build folders of Meson.
    """
    root = os.path.abspath(folder)
    above, inside = [*_above(root)], [*_patterns(root)]
    is_ignored = any(pattern.pattern == f"{ANY_FOLDERS}/*" for pattern in inside) or any(
        pattern.matches(part, is_folder=True) for part in with_parents(root) for pattern in above
    )
    return {} if is_named and is_ignored else {root: [*above, *inside]}


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
        data = read_document(os.path.join(folder, _FILE), _MOST_IGNORED)
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.rstrip()
        if not text or text.startswith("#"):
            continue
        is_negated, text = text.startswith("!"), text.removeprefix("!")
        name = text.rstrip("/")
        anywhere = "/" not in name
        pattern = f"{ANY_FOLDERS}/{name}" if anywhere else name.removeprefix("/")
        yield IgnorePattern(folder, pattern, text.endswith("/"), is_negated)


# Sources of the user's own command: which of them were saved.

_MOST_BYTES = 1 << 24
"""Bytes of a source whose content is compared."""


class Sources:
    """Files of the current folder, without hidden, temporary and ignored ones and the outputs."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self._tree = FileTree(os.curdir, without=[os.path.realpath(path) for path in outputs])
        self._seen: Snapshot | None = None
        """None before the first build."""
        self._contents: dict[str, bytes] = {}
        """Path -> digest of the content when the file was last seen to change."""

    def have_changed(self, *, only_saved: bool) -> bool:
        """True if a file changed since the build began; also True before the first build.

        With `only_saved`, only files that existed before and whose content now differs count:
        others, such as a regenerated header, may be the build's own.
        """
        if self._seen is None:
            return True
        now = self._tree.snapshot()
        if not only_saved:
            return now != self._seen
        both = now.keys() & self._seen.keys()
        changed = sorted(path for path in both if now[path] != self._seen[path])
        self._seen |= {path: now[path] for path in changed if not self._is_other(path)}
        return any(now[path] != self._seen[path] for path in changed)

    def rest(self) -> None:
        """Wait until no file changes: a save takes several steps. All files then count as built."""
        self._seen = rested(self._tree.snapshot)

    def absorb(self) -> None:
        """Count files that appeared or vanished in a build as built."""
        now, seen = self._tree.snapshot(), self._seen or {}
        self._seen = {path: seen.get(path, stamp) for path, stamp in now.items()}

    def _is_other(self, path: str) -> bool:
        """True if the content differs from that at the last change, or if the two cannot be
        compared."""
        try:
            content = blake2b(read_document(path, _MOST_BYTES)).digest()
        except (OSError, ReadError):
            return True
        before, self._contents[path] = self._contents.get(path), content
        return before != content
