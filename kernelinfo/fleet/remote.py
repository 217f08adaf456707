"""Files of a task, ready to be opened: those of a store are fetched first, large ones by range.

A large file of a store that gives ranges is read by blocks, so that each reader costs the blocks
that it reads."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from fsspec.core import url_to_fs

from kernelinfo.errors import ReadError
from kernelinfo.fleet.listing import InputFile, first_line, is_local
from kernelinfo.reading.blob import Found, Problem
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.containers import files, magic, open_blob, open_file
from kernelinfo.reading.containers.archive import thin_members
from kernelinfo.reading.containers.files import File
from kernelinfo.reading.data import Data

WHOLE_BYTES = 8 << 20  # a file of a store that is no longer is fetched whole
BLOCK = 256 << 10  # bytes that are fetched at once
MOST_BLOCKS = 256  # that are held at once; the one that was not read for longest goes
_UNFETCHED = "cannot be fetched: {}; scan it again"


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
    fs, path = url_to_fs(file.url)
    options = {"maxblocks": MOST_BLOCKS}
    return fs.open(path, "rb", BLOCK, cache_type="blockcache", cache_options=options)


def unfetched(file: InputFile, error: Exception) -> Problem:
    return Problem(file.address, _UNFETCHED.format(first_line(error)))


def opened(
    wanted: Sequence[InputFile], roots: tuple[str, ...], archives: Iterable[str], scratch: str
) -> Iterator[Opened | Problem]:
    """The files in their order; those of a store are fetched into a folder first."""
    remote = [file for file in wanted if not is_local(file.url)]
    folder = os.path.join(scratch, "fetched")
    by_range = {file for file in remote if _is_by_range(file)}
    whole = [file for file in remote if file not in by_range]
    failed = _fetch(whole, folder)
    _fetch([member for file in whole for member in _thin_members(file, folder)], folder)
    for name in archives if remote else ():  # hosts that name them are not followed
        path = Path(_local_path(folder, name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for file in wanted:
        if is_local(file.url):
            yield Opened(file.url, file, roots)
        elif error := failed.get(file):
            yield unfetched(file, error)
        else:
            yield Opened(_local_path(folder, file.path), file, (folder,), file in by_range)


def _is_by_range(file: InputFile) -> bool:
    """True for a large file of a store that gives parts of it."""
    if file.size <= WHOLE_BYTES:
        return False
    try:
        with _ranges(file) as source:
            source.seek(1)
            return len(source.read(1)) == 1
    except Exception:  # an HTTP server without ranges; other errors return when it is fetched
        return False


def _local_path(folder: str, path: str) -> str:
    """Where a file of that relative path is put; names that lead elsewhere are spelled out."""
    parts = (f"%{part}" if part in ("", ".", "..") else part for part in path.split("/"))
    return os.path.join(folder, *(part.replace("\0", "%00") for part in parts))


def _fetch(wanted: Sequence[InputFile], folder: str) -> dict[InputFile, Exception]:
    """Fetch whole files, many at once; the errors of those that cannot be fetched."""
    if not wanted:
        return {}
    failed: dict[InputFile, Exception] = {}
    fs, _ = url_to_fs(wanted[0].url)
    paths = [fs._strip_protocol(file.url) for file in wanted]
    copies = [_local_path(folder, file.path) for file in wanted]
    for copy in copies:
        os.makedirs(os.path.dirname(copy), exist_ok=True)
    try:
        fs.get(paths, copies)
    except Exception:  # of one of them: which, is found one by one
        for file, path, copy in zip(wanted, paths, copies, strict=True):
            try:
                fs.get_file(path, copy)
            except Exception as error:  # the libraries of stores have no common class of errors
                failed[file] = error
    return failed


def _thin_members(file: InputFile, folder: str) -> Iterator[InputFile]:
    """The files that a thin archive, which is fetched already, is made of."""
    copy = _local_path(folder, file.path)
    if not os.path.isfile(copy):
        return
    with open(copy, "rb") as archive:
        if archive.read(len(magic.THIN_ARCHIVE)) != magic.THIN_ARCHIVE:
            return
        names = thin_members(Data.of(magic.THIN_ARCHIVE + archive.read()))
    url, path = posixpath.dirname(file.url), posixpath.dirname(file.path)
    for name in map(posixpath.normpath, names):
        if not name.startswith(("/", "..")):
            member = posixpath.join(path, name)
            yield file._replace(url=posixpath.join(url, name), path=member)


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
            raise ReadError(_UNFETCHED.format(first_line(error))) from error
        if len(content) != size:
            came = f"{len(content)} bytes of {size} came; it changed meanwhile"
            raise ReadError(_UNFETCHED.format(came))
        return memoryview(content)
