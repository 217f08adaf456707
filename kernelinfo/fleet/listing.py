"""URLs -> the files under them, with their sizes and what tells a new version of each -> tasks."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from glob import has_magic
from hashlib import blake2b
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from kernelinfo.analysis.copies import ASSEMBLY
from kernelinfo.compare.builds import root_of
from kernelinfo.errors import KernelinfoError, OptionError
from kernelinfo.fleet import web
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.containers import files

_FILE = "file://"
_STAMPS = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "mtime", "modified")
"""Keys of fsspec's `info` that change with a file's content, the surest first."""
_LONGEST_STAMP = 200  # characters
_LONGEST_MESSAGE = 300
_CHECK = "check the address and the credentials"
AT_ONCE = 16  # files that are asked for, or fetched, at the same time


class InputFile(NamedTuple):
    """One file to read."""

    url: str  # where it is read; a path of this machine for local files
    path: str  # relative to the URL that it was found under; the name of a file given itself
    size: int  # bytes
    modified: str | None  # ETag or time of modification; None reads the file again in every run
    named: bool  # by the user, or by a glob; else found in a folder

    @property
    def address(self) -> str:
        """The URL without user, password and query, as the dataset has it."""
        return address(self.url)


def is_local(url: str) -> bool:
    return "://" not in url or url.startswith(_FILE)


def address(url: str) -> str:
    """A URL without user, password and query; the absolute path of a local file."""
    if is_local(url):
        try:
            return os.path.abspath(url.removeprefix(_FILE))
        except FileNotFoundError:
            hint = "the current folder was deleted; give an absolute path"
            raise OptionError(f"{url}: {hint}") from None
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme not in ("http", "https"):  # their paths may have a `?`
        return f"{parts.scheme}://{host}{url.partition('://')[2][len(parts.netloc) :]}"
    return f"{parts.scheme}://{host}{parts.path}"


def find(url: str, seconds: float) -> Iterator[InputFile | Problem]:
    """All files under a URL, and what of it cannot be listed. A server has so many seconds for each
    answer. Raises `OptionError` for standard input."""
    if url == files.STANDARD_INPUT:
        raise OptionError("scan reads files, not standard input; give a path or URL")
    yield from _local(url.removeprefix(_FILE)) if is_local(url) else _remote(url, seconds)


def _local(path: str) -> Iterator[InputFile | Problem]:
    root = root_of(path)
    for file in files.find(path):
        if isinstance(file, Problem):
            yield file
            continue
        inside = os.path.relpath(file.path, root) if file.path != root else ""
        try:
            inside.encode()
            status = os.stat(file.path)
        except UnicodeError:
            yield Problem(ascii(file.path), "a name that is not UTF-8; rename the file")
        except ValueError as error:  # a NUL in the name
            yield Problem(file.path, str(error))
        except OSError as error:
            yield Problem(file.path, (error.strerror or str(error)).lower())
        else:
            name = inside or os.path.basename(file.path)
            modified, url = str(status.st_mtime_ns), os.path.abspath(file.path)
            yield InputFile(url, name, status.st_size, modified, file.named)


def _remote(url: str, seconds: float) -> Iterator[InputFile | Problem]:
    try:
        fs, top = web.store(url)
        fs.invalidate_cache()
        named, found = _listed(fs, top, seconds, is_folder=url.endswith("/"))
    except Exception as error:  # the libraries of stores have no common class of errors
        yield Problem(address(url), f"{first_line(error)}; {_CHECK}")
        return
    folder = top.rstrip("/") + "/"
    for path, info in sorted(found.items()):
        place = str(fs.unstrip_protocol(path))
        if wrong := _wrong(path, info):
            yield Problem(address(place), wrong)
        elif isinstance(info, dict) and info.get("type") != "directory" and path[-1:] != "/":
            yield InputFile(
                url=place,
                path=path.removeprefix(folder)
                if path.startswith(folder)
                else path.rpartition("/")[2],
                size=info.get("size") or 0,
                modified=_stamp(info),
                named=named,
            )


Info = dict[str, Any] | Exception
"""What fsspec's `info` gives, or why it does not."""


def _wrong(path: str, info: Info) -> str | None:
    """The reason why an entry of a listing is not read."""
    if isinstance(info, Exception):
        return f"cannot be fetched: {first_line(info)}; scan it again"
    if "::" in path:
        return "a name with `::`, which fsspec takes for two addresses; rename it"
    if not path.isprintable():
        return "a name that cannot be printed; rename it"
    if path.endswith("/") and info.get("size"):
        return "a name that ends in `/`, as that of a folder; rename it"
    return None


def _stamp(info: dict[str, Any]) -> str | None:
    """A text that changes with a file's content; None if the store gives none."""
    stamp = next((str(info[key]) for key in _STAMPS if info.get(key)), None)
    if stamp is None or len(stamp) <= _LONGEST_STAMP:
        return stamp
    return blake2b(stamp.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _listed(fs: Any, top: str, seconds: float, *, is_folder: bool) -> tuple[bool, dict[str, Info]]:
    """Whether the files are named, and fsspec's `info` of each by its path."""
    is_glob = has_magic(top) and "?" not in top
    if not is_glob and not is_folder and fs.isfile(top):
        return True, {top: fs.info(top)}
    if web.is_web(fs):
        return is_glob, _listed_by_pages(fs, top, seconds, is_glob=is_glob)
    return is_glob, fs.glob(top, detail=True) if is_glob else fs.find(top, detail=True)


def _listed_by_pages(fs: Any, top: str, seconds: float, *, is_glob: bool) -> dict[str, Info]:
    """The same for a web server, whose pages have neither sizes nor stamps."""
    folder, fits = top.rstrip("/") + "/", ""
    if is_glob:
        from fsspec.utils import glob_translate

        before = top[: next(n for n, letter in enumerate(top) if letter in "*[")]
        folder, fits = before[: before.rindex("/") + 1], glob_translate(top)
    deepest = top.count("/", len(folder)) if is_glob and "**" not in top else web.DEEPEST
    found: dict[str, Info] = {}
    asked: list[str] = []
    for path, error in web.files_below(fs, folder, seconds, deepest):
        if error is not None:
            found[path] = error
        elif not fits or re.fullmatch(fits, path):
            asked.append(path)

    def info(path: str) -> Info:
        try:
            answer: dict[str, Any] = fs.info(path, timeout=seconds)
            return answer
        except Exception as error:
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found.update(zip(asked, pool.map(info, asked), strict=True))
    return found


def store_error(url: str, error: Exception) -> KernelinfoError:
    """What a library of a store says of a URL, in one line."""
    return KernelinfoError(f"{address(url)}: {first_line(error)}; {_CHECK}")


def first_line(error: BaseException) -> str:
    """What an error of a library says; DuckDB quotes the whole traceback of a store."""
    if isinstance(error, TimeoutError):
        return "no answer in time (--timeout)"
    if isinstance(error, FileNotFoundError) and error.__cause__:  # which fsspec makes of any error
        return first_line(error.__cause__)
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    if lines[0].startswith("Traceback"):
        lines = [line for line in lines if not line.startswith(" ")][-1:]
    return lines[0][:_LONGEST_MESSAGE]


_LEAST_BYTES, _MOST_BYTES = 16 << 20, 256 << 20  # of a task
_TASKS_A_WORKER = 8
_FILE_BYTES = 64 << 10  # what it costs to open a file, as if it were that much longer
SHARED_BYTES = 512 << 20
"""A larger file goes to several workers, each of which takes some of its code objects."""
_SHARES_A_WORKER = 4
"""Where there are as many files for each worker, none is shared: each share opens the file."""


class Task(NamedTuple):
    """What a worker reads at a time, and writes as one part."""

    part: str
    files: tuple[InputFile, ...]
    share: int = 0
    shares: int = 1  # into how many tasks the one file is cut

    def by_unit(self) -> list[Task]:
        """The same, what belongs together on its own; of a share of a file the share."""
        if self.shares > 1:
            return [self]
        return [
            self._replace(part=f"{self.part}-{number:05}", files=unit)
            for number, unit in enumerate(units(self.files))
        ]


def units(files: Iterable[InputFile]) -> list[tuple[InputFile, ...]]:
    """Files that are read together: of one folder, whose names are equal up to the first dot.

    So are a code object and Triton's JSON. Copies of one compilation are known by the assemblies
    next to them: a folder of a store that has some is fetched as one.
    """
    listed = [(posixpath.dirname(file.url), file) for file in files]
    with_assembly = {
        folder for folder, file in listed if file.url.endswith(ASSEMBLY) and not is_local(file.url)
    }
    found: dict[tuple[str, str], list[InputFile]] = {}
    for folder, file in listed:
        stem = posixpath.basename(file.url).partition(".")[0]
        found.setdefault((folder, "" if folder in with_assembly else stem), []).append(file)
    return [tuple(unit) for unit in found.values()]


def tasks(together: Iterable[tuple[InputFile, ...]], workers: int, run: str) -> list[Task]:
    """The units as tasks, the largest first; `run` begins the names of their parts."""
    waiting = sorted(together, key=cost, reverse=True)
    total = sum(map(cost, waiting))
    room = min(max(total // (workers * _TASKS_A_WORKER), _LEAST_BYTES), _MOST_BYTES)
    shared = max(SHARED_BYTES, total // (workers * _SHARES_A_WORKER))
    found: list[Task] = []
    for number, batch in enumerate(_filled(waiting, room)):
        part, shares = f"{run}-{number:06}", 1
        if len(batch) == 1:
            shares = -(-batch[0].size // shared) or 1
        found += [Task(part, batch, share, shares) for share in range(shares)]
    return found


def _filled(waiting: Iterable[tuple[InputFile, ...]], room: int) -> Iterator[tuple[InputFile, ...]]:
    batch: list[InputFile] = []
    taken = 0
    for unit in waiting:
        if batch and taken + cost(unit) > room:
            yield tuple(batch)
            batch, taken = [], 0
        batch += unit
        taken += cost(unit)
    if batch:
        yield tuple(batch)


def cost(unit: tuple[InputFile, ...]) -> int:
    """Bytes to read, and to open the files."""
    return sum(file.size + _FILE_BYTES for file in unit)
