"""Files of a task, ready to be opened: those of a store are fetched first, large ones by range.

A large file of a store that gives ranges is read by blocks, so that each reader costs the blocks
that it reads."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any, NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.fleet import web
from kernelinfo.fleet.listing import AT_ONCE, InputFile, first_line, is_local
from kernelinfo.reading.blob import Found, Problem
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.containers import files, magic, open_blob, open_file
from kernelinfo.reading.containers.archive import thin_members
from kernelinfo.reading.containers.files import File
from kernelinfo.reading.data import Data
from kernelinfo.rules.remark import counted

_PIECE = 8 << 20  # bytes
WHOLE_BYTES = 8 << 20  # a file of a store that is no longer is fetched whole
BLOCK = 256 << 10  # bytes that are fetched at once
MOST_BLOCKS = 256  # that are held at once; the one that was not read for longest goes
UNFETCHED = "cannot be fetched: "


class Opened(NamedTuple):
    """A file that can be read."""

    path: str  # of this machine; of a file that is read by range nothing is there
    file: InputFile
    among: tuple[str, ...]  # all that is read with it, as paths of this machine
    by_range: bool = False

    def blobs(self, within: Bounds) -> Iterator[Found]:
        """The code in it, and what could not be read."""
        file = File(self.path, self.file.named)
        if not self.by_range:
            yield from open_file(file, among=self.among, within=within)
            return
        with _ranges(self.file) as source:
            data = Data(StoreFile(source), self.file.size)
            blob = files.whole(self.path, data, within)
            yield from open_blob(blob, self.among, required=self.file.named)


def _ranges(file: InputFile) -> Any:
    """A file of a store that fetches and holds blocks."""
    fs, path = web.store(file.url)
    options = {"maxblocks": MOST_BLOCKS}
    return fs.open(path, "rb", BLOCK, cache_type="blockcache", cache_options=options)


def unfetched(file: InputFile, error: Exception) -> Problem:
    return Problem(file.address, f"{UNFETCHED}{first_line(error)}; scan it again")


def opened(
    wanted: Sequence[InputFile],
    roots: tuple[str, ...],
    archives: Iterable[str],
    scratch: str,
    within: Bounds,
    seconds: float,
) -> Iterator[Opened | Problem]:
    """The files in their order; those of a store are fetched into a folder first, each in so many
    seconds."""
    remote = [file for file in wanted if not is_local(file.url)]
    folder = os.path.join(scratch, "fetched")
    by_range = {file for file in remote if _is_by_range(file)}
    fetch = _Fetch(folder, within, seconds)
    fetch.all([file for file in remote if file not in by_range])
    copies = dict(fetch.copies)
    fetch.all([member for file, copy in copies.items() for member in _thin_members(file, copy)])
    for name in archives if remote else ():  # hosts that name them are not followed
        with suppress(OSError):
            path = Path(_local_path(folder, name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    for file in wanted:
        if is_local(file.url):
            yield Opened(file.url, file, roots)
        elif file in by_range:
            yield Opened(_local_path(folder, file.path), file, (folder,), by_range=True)
        elif file in copies:
            yield Opened(copies[file], file, (folder,))
        else:
            yield unfetched(file, fetch.failed[file])


def _is_by_range(file: InputFile) -> bool:
    """True for a large file of a store that gives parts of it."""
    if file.size <= WHOLE_BYTES:
        return False
    try:
        with _ranges(file) as source:
            source.seek(BLOCK)  # servers without ranges send the first block, too
            return len(source.read(1)) == 1
    except Exception:  # an HTTP server without ranges; other errors return when it is fetched
        return False


def _local_path(folder: str, path: str) -> str:
    """Where a file of that relative path is put; names that lead elsewhere are spelled out."""
    parts = (f"%{part}" if part in ("", ".", "..") else part for part in path.split("/"))
    return os.path.join(folder, *(part.replace("\0", "%00") for part in parts))


class _Fetch:
    """Whole files of stores, each put where its path says below a folder."""

    def __init__(self, folder: str, within: Bounds, seconds: float) -> None:
        self.copies: dict[InputFile, str] = {}
        self.failed: dict[InputFile, Exception] = {}
        self._folder, self._within, self._seconds = folder, within, seconds

    def all(self, wanted: Sequence[InputFile]) -> None:
        """Fetch many at once."""
        if wanted:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(self._one, wanted))

    def _one(self, file: InputFile) -> None:
        try:
            copy = self._placed(file.path)
            with open(copy, "wb") as target:
                came = sum(map(target.write, self._pieces(file)))
            if file.size and came != file.size:
                raise EOFError(f"{counted(came, 'byte')} of {file.size} came; it changed meanwhile")
            self.copies[file] = copy
        except Exception as error:  # the libraries of stores have no common class of errors
            self.failed[file] = error

    def _placed(self, path: str) -> str:
        """A path for the copy, in a folder of its own where a store has `a` beside `a/b.co`."""
        copy = _local_path(self._folder, path)
        try:
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            open(copy, "xb").close()
        except (FileExistsError, NotADirectoryError):
            copy = os.path.join(mkdtemp(dir=os.path.dirname(self._folder)), "file")
        return copy

    def _pieces(self, file: InputFile) -> Iterator[bytes]:
        fs, path = web.store(file.url)
        limit = {"timeout": self._seconds} if fs.async_impl else {}
        size = file.size  # 0 of a member of a thin archive
        if not size and not web.is_web(fs):
            size = fs.info(path, **limit).get("size") or 0
        if size > self._within.fetch:
            raise ReadError(web.too_long(self._within.fetch))
        if web.is_web(fs):
            yield from web.pieces(fs, path, self._within, self._seconds)
            return
        for start in range(0, size, _PIECE):
            end = min(start + _PIECE, size)
            yield fs.cat_file(path, start=start, end=end, **limit)


def _thin_members(file: InputFile, copy: str) -> Iterator[InputFile]:
    """The files that a thin archive, which is fetched already, is made of."""
    with open(copy, "rb") as archive:
        if archive.read(len(magic.THIN_ARCHIVE)) != magic.THIN_ARCHIVE:
            return
        names = thin_members(Data.of(magic.THIN_ARCHIVE + archive.read()))
    url, path = posixpath.dirname(file.url), posixpath.dirname(file.path)
    for name in map(posixpath.normpath, names):
        if not name.startswith(("/", "..")) and "::" not in name:
            member = posixpath.join(path, name)
            yield file._replace(url=posixpath.join(url, name), path=member, size=0)


class StoreFile:
    """A file of a store, of which blocks are fetched when they are read; the latest are held."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, offset: int, size: int) -> memoryview:
        """The bytes. Raises `ReadError` if they cannot be fetched."""
        try:
            self._file.seek(offset)
            content = self._file.read(size)
        except Exception as error:  # the libraries of stores have no common class of errors
            raise ReadError(f"{UNFETCHED}{first_line(error)}; scan it again") from error
        if len(content) != size:
            came = f"{counted(len(content), 'byte')} of {size} came; it changed meanwhile"
            raise ReadError(f"{UNFETCHED}{came}; scan it again")
        return memoryview(content)
