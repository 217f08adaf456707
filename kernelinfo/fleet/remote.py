"""Files of a task, ready to be opened: those of a store are fetched first, large ones by range.

A file of a store that is read by range is memory of which a block is fetched when a reader first
touches it. Readers see a `memoryview` as of any mapped file, so that each costs the bytes that it
looks at. The file behind the map is empty, so that the system reports each block that is missing
(mapping.py)."""

from __future__ import annotations

import ctypes
import mmap
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from fsspec.core import url_to_fs

from kernelinfo.fleet.listing import InputFile, first_line, is_local
from kernelinfo.reading.blob import Found, Problem
from kernelinfo.reading.budget import Bounds
from kernelinfo.reading.containers import files, magic, open_blob, open_file
from kernelinfo.reading.containers.archive import thin_members
from kernelinfo.reading.containers.files import File
from kernelinfo.reading.containers.mapping import IS_WATCHED, MAP_FIXED, Mapping, filled_by, libc

WHOLE_BYTES = 8 << 20  # a file of a store that is no longer is fetched whole


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
        with _ranges(self.file) as source, remote_mapping(source, self.file.size) as mapping:
            blob = files.whole(self.path, memoryview(mapping), within)
            yield from open_blob(blob, self.among, required=self.file.named)
            if mapping.failure is not None:
                yield unfetched(self.file, mapping.failure)


def _ranges(file: InputFile) -> Any:
    """A file of a store, each read of which fetches just what it gives."""
    fs, path = url_to_fs(file.url)
    return fs.open(path, "rb", cache_type="none")


def unfetched(file: InputFile, error: Exception) -> Problem:
    return Problem(file.address, f"cannot be fetched: {first_line(error)}; scan it again")


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
    if file.size <= WHOLE_BYTES or not IS_WATCHED:
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
        names = thin_members(memoryview(magic.THIN_ARCHIVE + archive.read()))
    url, path = posixpath.dirname(file.url), posixpath.dirname(file.path)
    for name in map(posixpath.normpath, names):
        if not name.startswith(("/", "..")):
            member = posixpath.join(path, name)
            yield file._replace(url=posixpath.join(url, name), path=member)


BLOCK = 256 << 10  # bytes that are fetched at once
_MOST_BLOCKS = 256  # that are held at once; the first that came goes


@contextmanager
def remote_mapping(source: IO[bytes], size: int) -> Iterator[RemoteMapping]:
    """A map of so many bytes that `source` reads."""
    with TemporaryFile() as file:
        os.ftruncate(file.fileno(), size)
        mapping = RemoteMapping(file.fileno())
        os.ftruncate(file.fileno(), 0)
        mapping.source, mapping.nothing = source, file.fileno()
        mapping.held, mapping.failure = {}, None
        with filled_by(mapping.addresses, mapping.fill):
            yield mapping


class RemoteMapping(Mapping):
    """A whole file that `source` reads."""

    source: IO[bytes]
    nothing: int  # the descriptor of the empty file
    held: dict[int, None]  # blocks that are here, the first that came first
    failure: Exception | None  # why zeros stand where bytes should be

    def madvise(self, option: int, start: int = 0, length: int = 0) -> None:
        """Let go of the blocks that lie in this range; they are fetched again if need be."""
        for block in range(-(-start // BLOCK), (start + length) // BLOCK):
            if block in self.held:
                self._drop(block)

    def fill(self, address: int) -> None:
        """Fetch the block of an address; zeros and a `failure` where that is not possible."""
        block = (address - self.addresses.start) // BLOCK
        size = self._bytes(block)
        try:
            self.source.seek(block * BLOCK)
            data = self.source.read(size)
            if len(data) != size:
                raise EOFError(f"{len(data)} bytes of {size} came; it changed meanwhile")
        except Exception as error:  # the libraries of stores have no common class of errors
            self.failure, data = self.failure or error, bytes(size)
        self._map(block, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        ctypes.memmove(self.addresses.start + block * BLOCK, data, size)
        self.held[block] = None
        if len(self.held) > _MOST_BLOCKS:
            self._drop(next(iter(self.held)))

    def _drop(self, block: int) -> None:
        """Put the empty file back."""
        del self.held[block]
        self._map(block, mmap.PROT_READ, mmap.MAP_SHARED)

    def _map(self, block: int, protection: int, flags: int) -> None:
        file = -1 if flags & mmap.MAP_ANONYMOUS else self.nothing
        start, at = self.addresses.start, block * BLOCK
        libc().mmap(start + at, self._bytes(block), protection, flags | MAP_FIXED, file, at)

    def _bytes(self, block: int) -> int:
        return min(BLOCK, len(self) - block * BLOCK)
