"""Finds and loads files by path, glob, directory or standard input; large ones are read in
parts."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from glob import has_magic
from itertools import islice

from kernelinfo.errors import did_you_mean
from kernelinfo.opening import bound, check_below, is_below, is_named_pipe, open_regular, read_pipe
from kernelinfo.reading.blob import BY_DEFAULT, Blob, Bounds, File, Problem
from kernelinfo.reading.containers import formats
from kernelinfo.reading.containers.formats import DATABASE, HEAD_BYTES, format_of, is_named_as_code
from kernelinfo.reading.data import Data, LargeFile
from kernelinfo.reading.messages import say
from kernelinfo.reading.paths import ANY_FOLDERS, fits

STANDARD_INPUT = "-"
EMPTY = say("file-empty")  # the problem of a file without bytes
LOG = "-wal"
"""Suffix of SQLite's write-ahead log, next to its database (sqlite.org, "WAL-mode File Format")."""

_MOST_NAMES = 1 << 12  # names of a folder to compare with a missing one
_MOST_MATCHES = 1 << 16  # paths that a glob matches at one of its levels
_LEADS_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # errors of broken links
_POINTER = b"version https://git-lfs.github.com/spec/"
_POINTER_BYTES = 1 << 10  # Git LFS, docs/spec.md: a pointer is smaller
_ZEROS_BYTES = 1 << 20  # length of the file's start; no code begins with so many zeros


Seen = set[tuple[int, int] | str]
"""The files that a run has found: device and inode of each, and `-`."""


def find(path: str) -> Iterator[File | Problem]:
    """The file itself, the files that a glob matches, or all regular files under a directory;
    sorted, each once."""
    once = find_once(path, set())
    return (file for file in once if isinstance(file, Problem) or not file.is_repeated)


def find_once(path: str, seen: Seen) -> Iterator[File | Problem]:
    """The files of `find`. Those in `seen` are returned as repeated files; the others are added to
    `seen`."""
    for file in _names(path):
        if isinstance(file, File) and (inode := _inode(file)) is not None:
            file = file._replace(is_repeated=inode in seen)
            seen.add(inode)
        yield file


def _inode(file: File) -> tuple[int, int] | str | None:
    """The device and inode of a file, which are the same for all its names; `-` for standard input;
    None if the status cannot be read."""
    if file.inode is not None or file.path == STANDARD_INPUT:
        return file.inode or file.path
    try:
        status = os.stat(file.path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _names(path: str) -> Iterator[File | Problem]:
    """The files of `find`; a file with several names is returned once for each of them."""
    is_path = path == STANDARD_INPUT or "\0" in path or os.path.lexists(path)
    if is_path or not has_magic(path):
        yield from _file_or_folder(path)
        return
    matching = _matching(path)
    yield next(matching, Problem(path, say("glob-without-match", name=path)))
    yield from matching


def _file_or_folder(path: str) -> Iterator[File | Problem]:
    if os.path.isdir(path):
        yield from _walk(path, set())
    else:
        yield File(path, named=True)


def _matching(pattern: str) -> Iterator[File | Problem]:
    """Files that a glob matches, and files in folders that it matches; `**` finds files as `_walk`
    does."""
    folders = pattern.split("/")
    if ANY_FOLDERS not in folders:
        paths, problems = _expanded(pattern)
        for path in paths:
            yield from _file_or_folder(path)
        yield from problems
        return
    before = folders.index(ANY_FOLDERS)
    top = "/".join(folders[:before]) or ("/" if before else ".")
    rest = "/".join(folders[before:])
    seen: set[tuple[int, int]] = set()
    tops, problems = ([top], []) if os.path.isdir(top) else _expanded(top)
    for folder in tops:
        for file in _walk(folder, seen):
            inside = os.path.relpath(file.path, folder).replace(os.sep, "/")
            if isinstance(file, Problem) or fits(inside, rest):
                path = file.path.removeprefix("./") if top == "." else file.path
                file = file._replace(path=path)
                if isinstance(file, File) and not rest.endswith(ANY_FOLDERS):
                    file = file._replace(named=True)
                yield file
    yield from problems


def _expanded(pattern: str) -> tuple[list[str], list[Problem]]:
    """(paths that a glob without `**` matches, sorted; problems of folders that cannot be listed).

    Each name of the pattern is matched in all folders that the preceding names match. Links can
    multiply these folders without end, so a pattern matches at most `_MOST_MATCHES` paths.
    """
    drive, below = os.path.splitdrive(pattern)
    paths = [drive + "/" if below.startswith("/") else drive]
    problems: list[Problem] = []
    is_glob = False
    for name in filter(None, below.split("/")):
        is_glob = is_glob or has_magic(name)
        if is_glob:
            problems += _unlisted(paths, name)
        paths = [path for folder in paths for path in _named(folder, name)]
        if len(paths) > _MOST_MATCHES:
            return [], [Problem(pattern, say("glob-too-wide", most=_MOST_MATCHES))]
    return sorted(
        filter(os.path.isdir if below.endswith("/") else os.path.lexists, paths)
    ), problems


def _named(folder: str, pattern: str) -> Iterator[str]:
    """Paths in a folder whose names match a glob. A name without wildcards is returned even if no
    such file exists."""
    if not has_magic(pattern):
        yield os.path.join(folder, pattern)
        return
    with suppress(OSError):
        for name in os.listdir(folder or os.curdir):
            if (pattern[0] == "." or name[0] != ".") and fits(name, pattern):
                yield os.path.join(folder, name)


def _unlisted(folders: Iterable[str], name: str) -> Iterator[Problem]:
    """A problem for each folder that a glob has to search for a name, but that cannot be listed."""
    needed = os.R_OK | os.X_OK if has_magic(name) else os.X_OK
    for folder in folders:
        if os.path.isdir(folder or os.curdir) and not os.access(folder or os.curdir, needed):
            denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            yield _problem(folder or os.curdir, denied)


def is_read(path: str, among: Sequence[str]) -> bool:
    """True if a run over the paths, folders and globs `among` reads this file."""
    for pattern in among:
        if pattern == STANDARD_INPUT:
            continue
        if is_below(path, pattern):
            return True
        if has_magic(pattern) and fits(os.path.abspath(path), os.path.abspath(pattern)):
            return True
    return False


def log_of(database: str) -> str | None:
    """Path of the write-ahead log that belongs to a database; tinygrad always leaves one.

    None if there is no log or an empty one, if database and log are too large to copy, or if the
    log is a link out of the folder that may be read.
    """
    log = database + LOG
    if not os.path.isfile(log) or (bound() and not is_below(log, bound())):
        return None
    room = formats.DATABASE_COPY_BYTES - os.path.getsize(database)
    return log if 0 < os.path.getsize(log) <= room else None


def is_read_as_log(path: str, among: Sequence[str]) -> bool:
    """True for a write-ahead log that a run over the paths `among` reads with its database."""
    database = path.removesuffix(LOG)
    if database == path or not os.path.isfile(database) or not is_read(database, among):
        return False
    try:
        with open_regular(database) as file:
            is_database = format_of(file.read(HEAD_BYTES)) == DATABASE
        return is_database and log_of(database) is not None
    except OSError:
        return False


def is_read_once(path: str) -> bool:
    """True for standard input and for a pipe that the command line names: only this process can
    read them."""
    return path == STANDARD_INPUT or is_named_pipe(path)


def size(file: File) -> int:
    """Bytes of a file to read; 0 if it is repeated, if it is standard input or a pipe, or if it has
    no status (`load` then returns the problem)."""
    if file.is_repeated:
        return 0
    if file.bytes is not None:
        return file.bytes
    try:
        return os.path.getsize(file.path)
    except (OSError, ValueError):
        return 0


def load(path: str, within: Bounds = BY_DEFAULT, size: int | None = None) -> Blob | Problem:
    """A regular file, standard input or a pipe that the command line names, as a blob; a problem if
    it is empty, of another kind, or cannot be read.

    `size` in bytes is given for a file that is known to be regular."""
    if path == STANDARD_INPUT:
        data = sys.stdin.buffer.read(formats.STANDARD_INPUT_BYTES + 1)
        if len(data) > formats.STANDARD_INPUT_BYTES:
            return Problem("<stdin>", say("stdin-too-large", most=formats.STANDARD_INPUT_BYTES))
        if not data:
            return Problem("<stdin>", say("stdin-empty"))
        return whole("<stdin>", Data.of(data), within)
    try:
        check_below(path)
        if is_named_pipe(path):
            data = read_pipe(path, formats.STANDARD_INPUT_BYTES)
            if len(data) > formats.STANDARD_INPUT_BYTES:
                return Problem(path, say("stdin-too-large", most=formats.STANDARD_INPUT_BYTES))
            return whole(path, Data.of(data), within) if data else Problem(path, say("pipe-empty"))
        if size is None:
            status = os.stat(path)  # before opening: opening a FIFO would wait for a writer
            if not stat.S_ISREG(status.st_mode):
                return Problem(path, say("file-not-regular"))
            size = status.st_size
        if not size:
            return Problem(path, EMPTY)
        if size > formats.COPIED_BYTES:
            return whole(path, Data(LargeFile(path).read, size), within)
        with open(path, "rb", buffering=0) as file:
            data = file.read(size)
        return whole(path, Data.of(data), within) if data else Problem(path, EMPTY)
    except OSError as error:
        return _problem(path, error)
    except ValueError as error:  # a NUL in the path
        return Problem(path, say("path-invalid", error=error))


def is_pointer(blob: Blob) -> bool:
    """True for a Git LFS pointer: it stands in for a file that is not fetched."""
    return len(blob.data) <= _POINTER_BYTES and bytes(blob.data).startswith(_POINTER)


def is_all_zero(blob: Blob) -> bool:
    """True if the first MiB of the file is all zero."""
    return not any(blob.data.read(0, _ZEROS_BYTES))


def whole(path: str, data: Data, within: Bounds = BY_DEFAULT) -> Blob:
    """The blob of an outermost file with its budgets; messages call it `path`."""
    return Blob(path, data, within.budget(len(data)), bounds=within)


def _walk(directory: str, seen: set[tuple[int, int]]) -> Iterator[File | Problem]:
    """All regular files under a directory, sorted, under all their names. Folders in `seen` are
    skipped; the others are added to it."""
    failures: list[OSError] = []
    for folder, folders, names in os.walk(directory, onerror=failures.append, followlinks=True):
        folders.sort()
        try:
            check_below(folder)
        except OSError as error:
            yield _problem(folder, error)
            folders.clear()
            continue
        for name in (".", *sorted(names)):
            path = os.path.join(folder, name)
            try:
                status = os.stat(path)
            except OSError as error:
                if error.errno not in _LEADS_NOWHERE:
                    failures.append(error)
                elif is_named_as_code(name):
                    yield Problem(path, say("file-link-broken"))
                continue
            inode = status.st_dev, status.st_ino
            if name == "." and inode in seen:  # links may form circles
                folders.clear()
                break
            if name == ".":
                seen.add(inode)
            elif stat.S_ISREG(status.st_mode):
                yield File(path, named=False, bytes=status.st_size, inode=inode)
    for failure in failures:
        yield _problem(str(failure.filename), failure)


def _problem(path: str, error: OSError) -> Problem:
    reason = (error.strerror or str(error)).lower()
    folder = os.path.dirname(path)
    inside, suggestion = folder or ".", ""
    if error.errno == errno.ENOENT and os.path.isdir(inside) and os.access(inside, os.R_OK):
        names = islice(os.scandir(inside), _MOST_NAMES)
        suggestion = did_you_mean(path, (os.path.join(folder, entry.name) for entry in names))
    if not suggestion and fits(path, "gfx*"):
        suggestion = say("file-or-target", name=path)
    elif not suggestion and re.fullmatch(r"[A-Za-z_][\w:<>, *]*", path):
        suggestion = say("file-or-kernel", name=path)
    if error.errno == errno.ENOENT:
        suggestion = f"; {suggestion}" if suggestion else ""
        return Problem(path, say("file-missing", error=reason, suggestion=suggestion))
    return Problem(path, say("file-unreadable", error=reason))
