"""Files of a task opened: local ones in place, remote ones fetched whole or read by range.

A file over 8 MiB is read by range if its store supports it: only blocks that a reader asks for are
fetched.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

from kernelinfo.errors import ReadError
from kernelinfo.fleet import listing
from kernelinfo.fleet.listing import AT_ONCE, InputFile, first_line, is_local
from kernelinfo.fleet.messages import say
from kernelinfo.reading.blob import Bounds, File, Found, Problem
from kernelinfo.reading.containers import files, formats, open_blob, open_file
from kernelinfo.reading.containers.archives import thin_members
from kernelinfo.reading.data import Data
from kernelinfo.waiting import results

_PIECE = 8 << 20  # bytes
WHOLE_BYTES = 8 << 20  # largest file that is always fetched whole
BLOCK = 256 << 10  # bytes of one request for a range
MOST_BLOCKS = 256  # blocks in memory; the least recently used is dropped
UNFETCHED = "fetch-failed"
"""Code of problems with files that the next scan reads again."""


def among(file: InputFile, roots: tuple[str, ...], scratch: str) -> tuple[str, ...]:
    """Local paths of all files that are read together with a file."""
    return roots if is_local(file.url) else (_fetched(scratch),)


def _fetched(scratch: str) -> str:
    return os.path.join(scratch, "fetched")


def _blobs_by_range(file: InputFile, path: str, folder: str, within: Bounds) -> Iterator[Found]:
    with _ranges(file) as source:
        blob = files.whole(path, Data(partial(read_range, source), file.size), within)
        yield from open_blob(blob, (folder,), required=file.named)


def _ranges(file: InputFile) -> Any:
    """An fsspec file with a cache of blocks."""
    fs, path = listing.store(file.url)
    options = {"maxblocks": MOST_BLOCKS}
    return fs.open(path, "rb", BLOCK, cache_type="blockcache", cache_options=options)


def unfetched(file: InputFile, error: Exception) -> Problem:
    return Problem(file.address, say("fetch-failed", error=first_line(error)))


def opened(
    listed: Sequence[InputFile],
    roots: tuple[str, ...],
    archives: Iterable[str],
    scratch: str,
    within: Bounds,
    seconds: float,
) -> Iterator[tuple[str, Iterator[Found]] | Problem]:
    """For each file, in the given order, its local path and the code and problems in it, or the
    problem of fetching it. A file that is read by ranges has no file at its local path.

    Files of stores are fetched below `scratch` first, each within `seconds`. `archives` become
    empty files there, so that a host library finds the archive that it names and is not reported as
    incomplete.
    """
    remote = [file for file in listed if not is_local(file.url)]
    folder = _fetched(scratch)
    by_range = {file for file in remote if _is_by_range(file)}
    whole = [file for file in remote if file not in by_range]
    copies = _fetch(whole, folder, within, seconds)
    members = [
        member
        for file, copy in copies.items()
        if isinstance(copy, str)
        for member in _thin_members(file, copy)
    ]
    _fetch(members, folder, within, seconds)
    for name in archives if remote else ():  # host libraries find them, empty
        with suppress(OSError):
            path = Path(_local_path(folder, name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    for file in listed:
        if file in by_range:
            unfilled = _local_path(folder, file.path)
            yield unfilled, _blobs_by_range(file, unfilled, folder, within)
            continue
        copy = file.url if is_local(file.url) else copies[file]
        if isinstance(copy, str):
            together = among(file, roots, scratch)
            yield copy, open_file(File(copy, file.named), among=together, within=within)
        else:
            yield unfetched(file, copy)


def _is_by_range(file: InputFile) -> bool:
    """True for a file over 8 MiB whose store answers requests for ranges."""
    if file.size <= WHOLE_BYTES:
        return False
    try:
        with _ranges(file) as source:
            source.seek(BLOCK)  # the first block comes even from servers without ranges
            return len(source.read(1)) == 1
    except Exception:  # no ranges; the fetch reports any other error
        return False


def _local_path(folder: str, path: str) -> str:
    """The local path for a relative path of a store, always below `folder`: `..` becomes `%..`."""
    parts = (f"%{part}" if part in ("", ".", "..") else part for part in path.split("/"))
    return os.path.join(folder, *(part.replace("\0", "%00") for part in parts))


def _fetch(
    sources: Sequence[InputFile], folder: str, within: Bounds, seconds: float
) -> dict[InputFile, str | Exception]:
    """Copy remote files below a folder, at their relative paths, 16 at a time. Returns, for each
    file, the path of its copy or the error of fetching it."""

    def fetch(file: InputFile) -> str | Exception:
        try:
            copy = _make_copy(folder, file.path)
            with open(copy, "wb") as target:
                came = sum(map(target.write, _pieces(file, within, seconds)))
            if file.size and came != file.size:
                raise EOFError(say("fetch-incomplete", came=came, size=file.size))
        except Exception as error:  # libraries of stores share no error class
            return error
        return copy

    if not sources:
        return {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(sources, results(pool, fetch, sources), strict=True))


def _make_copy(folder: str, path: str) -> str:
    """The path of a new, empty file for a copy. The file gets its own folder if the store has both
    `a` and `a/b.co`."""
    copy = _local_path(folder, path)
    try:
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        open(copy, "xb").close()
    except (FileExistsError, NotADirectoryError):
        copy = os.path.join(mkdtemp(dir=os.path.dirname(folder)), "file")
    return copy


def _pieces(file: InputFile, within: Bounds, seconds: float) -> Iterator[bytes]:
    fs, path = listing.store(file.url)
    limit = {"timeout": seconds} if fs.async_impl else {}
    size = file.size  # 0 for a member of a thin archive
    if not size and not listing.is_web(fs):
        size = fs.info(path, **limit).get("size") or 0
    if size > within.fetch:
        raise ReadError(listing.too_long(within.fetch))
    if listing.is_web(fs):
        yield from listing.pieces(fs, path, within, seconds)
        return
    for start in range(0, size, _PIECE):
        end = min(start + _PIECE, size)
        yield fs.cat_file(path, start=start, end=end, **limit)


def _thin_members(file: InputFile, copy: str) -> Iterator[InputFile]:
    """Members of a thin archive that is already fetched; none for other files."""
    with open(copy, "rb") as archive:
        if archive.read(len(formats.THIN_ARCHIVE)) != formats.THIN_ARCHIVE:
            return
        names = thin_members(Data.of(formats.THIN_ARCHIVE + archive.read()))
    url, path = posixpath.dirname(file.url), posixpath.dirname(file.path)
    for name in map(posixpath.normpath, names):
        if not name.startswith(("/", "..")) and "::" not in name:
            member = posixpath.join(path, name)
            yield file._replace(url=posixpath.join(url, name), path=member, size=0)


def read_range(file: IO[bytes], offset: int, size: int) -> memoryview:
    """`size` bytes at `offset` of a remote file; its latest blocks are cached. Raises `ReadError`
    if they cannot be fetched."""
    try:
        file.seek(offset)
        content = file.read(size)
    except Exception as error:  # libraries of stores share no error class
        raise ReadError(say("fetch-failed", error=first_line(error))) from error
    if len(content) != size:
        incomplete = say("fetch-incomplete", came=len(content), size=size)
        raise ReadError(say("fetch-failed", error=incomplete))
    return memoryview(content)
