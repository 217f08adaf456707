"""URLs -> files with size and version stamp -> tasks for workers."""

from __future__ import annotations

import os
import posixpath
import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from glob import has_magic
from hashlib import blake2b
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

from kernelinfo.analysis.copies import ASSEMBLY
from kernelinfo.compare.saved import root_of
from kernelinfo.errors import KernelinfoError, Message, OptionError, ReadError
from kernelinfo.fleet.messages import say
from kernelinfo.opening import bound
from kernelinfo.reading.blob import Bounds, File, Note, Problem
from kernelinfo.reading.containers import files
from kernelinfo.reading.containers.files import LOG, Seen
from kernelinfo.reading.messages import in_file
from kernelinfo.waiting import results

# Bodies of web servers in pieces, and files that pages of folders link to.
#
# fsspec itself reads a page whole and follows folders without any limit.

_PIECE = 1 << 20  # bytes
_PAGE = Bounds(fetch=16 << 20)  # limit of a folder's page; 100,000 links take 10 MB
MOST_PAGES = 10_000
DEEPEST = 32  # levels of nested folders
_LINK = re.compile(r"""href\s*=\s*["']?([^"'<>\s]+)""", re.IGNORECASE)


def store(url: str) -> tuple[Any, str]:
    """(fsspec's client, path in its terms) for a URL. Raises `OptionError` if this process may
    read and write files in one folder only (`bound`)."""
    if bound():
        raise OptionError(say("store-bound", bound=bound()))
    from fsspec.core import url_to_fs  # with asyncio it takes a sixth of a local scan

    fs, path = url_to_fs(url)
    return fs, str(path)


def is_web(fs: Any) -> bool:
    """True for fsspec's HTTP client."""
    return "http" in ([fs.protocol] if isinstance(fs.protocol, str) else fs.protocol)


def pieces(fs: Any, url: str, within: Bounds, seconds: float) -> Iterator[bytes]:
    """The body of a response in pieces of at most 1 MiB, decoded by its `Content-Encoding`.

    Raises `ReadError` for more bytes than the bounds allow, and errors of the HTTP library.
    """
    # block_size=0 makes fsspec stream; a size keeps it from asking for one first.
    with fs.open(url, block_size=0, size=1, **within_time(seconds)) as body:
        headers, limit = body.r.headers, within.fetch
        if headers.get("Content-Encoding", "identity") != "identity":
            limit = min(limit, within.streamed_bytes(int(headers.get("Content-Length", 0))))
        came = 0
        while piece := body.read(_PIECE):
            came += len(piece)
            if came > limit:
                raise ReadError(too_long(limit))
            yield piece


def within_time(seconds: float) -> dict[str, Any]:
    """The keyword argument that limits the time of a request."""
    from aiohttp import ClientTimeout  # installed with HTTP support only

    return {"timeout": ClientTimeout(total=seconds)}


def too_long(limit: int) -> Message:
    """The message for a file with more than `limit` bytes."""
    return say("fetch-too-large", most=limit)


def files_below(
    fs: Any, top: str, seconds: float, deepest: int = DEEPEST
) -> Iterator[tuple[str, Exception | None]]:
    """(address, None) of each file linked from a folder's page or from its subfolders; (address,
    error) of each folder that cannot be listed.

    Raises the error if `top` itself cannot be listed.
    """
    waiting, seen = deque([(top, 0)]), {top}
    for _ in range(MOST_PAGES):
        if not waiting:
            return
        page, depth = waiting.popleft()
        try:
            links = _links(b"".join(pieces(fs, page, _PAGE, seconds)), page)
        except Exception as error:  # libraries of stores share no error class
            if page == top:
                raise
            yield page, error
            continue
        for link in sorted(links - seen):
            seen.add(link)
            if not link.endswith("/"):
                yield link, None
            elif depth < deepest:
                waiting.append((link, depth + 1))
            elif deepest == DEEPEST:
                yield link, ReadError(say("folders-nested", deepest=deepest))
    if waiting:
        yield waiting[0][0], ReadError(say("folders-too-many", most=MOST_PAGES))


def _links(page: bytes, url: str) -> set[str]:
    """Addresses below `url` that a page links to, without the page's own sort orders (`?C=S`)."""
    hrefs = (unescape(link) for link in _LINK.findall(page.decode("utf-8", "replace")))
    links: set[str] = set()
    for link in hrefs:
        try:
            whole = urldefrag(urljoin(url, link)).url
        except ValueError:  # not an address
            continue
        if whole.startswith(url) and not whole.removeprefix(url).startswith("?"):
            links.add(whole)
    return links - {url}


_FILE = "file://"
_STAMPS = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "mtime", "modified")
"""Keys of fsspec's `info` that change with a file's content, most reliable first."""
_LONGEST_STAMP = 200  # characters
_LONGEST_MESSAGE = 300
AT_ONCE = 16  # concurrent requests to a store


class InputFile(NamedTuple):
    """One file to read."""

    url: str  # address to read from; an absolute path for a local file
    path: str  # relative to the URL given by the user; the base name if that is the file
    size: int  # bytes
    modified: str | None  # ETag or modification time; None: read again in every run
    named: bool  # True if named by the user or a glob, False if found in a folder
    root: str = ""  # address of the URL given by the user

    @property
    def address(self) -> str:
        """The URL without user, password and query, as stored in the dataset."""
        return address(self.url)


def is_local(url: str) -> bool:
    return "://" not in url or url.startswith(_FILE)


def address(url: str) -> str:
    """A URL without user, password and query; the absolute path of a local file."""
    if is_local(url):
        try:
            return os.path.abspath(url.removeprefix(_FILE))
        except FileNotFoundError:
            raise OptionError(in_file(url, say("folder-deleted"))) from None
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme not in ("http", "https"):  # paths of object stores may contain `?`
        return f"{parts.scheme}://{host}{url.partition('://')[2][len(parts.netloc) :]}"
    return f"{parts.scheme}://{host}{parts.path}"


def with_own_paths(listed: Iterable[InputFile]) -> list[InputFile]:
    """The files, each with a distinct path. Files of several roots that share a path get the end of
    their address as path, from the first part that differs; the whole address if another file
    already has that path."""
    by_path: dict[str, list[InputFile]] = {}
    for file in listed:
        by_path.setdefault(file.path, []).append(file)
    files: list[InputFile] = []
    for same in by_path.values():
        folders = [file.address.split("/") for file in same]
        parts = zip(*folders, strict=False)
        shared = next((n for n, part in enumerate(parts) if len(set(part)) > 1), 0)
        for file, folder in zip(same, folders, strict=True):
            end = "/".join(folder[shared:])
            other = file.address if not end or end in by_path else end
            files.append(file._replace(path=other) if len(same) > 1 else file)
    return files


def find(url: str, seconds: float, seen: Seen) -> Iterator[InputFile | File | Problem]:
    """Files at or below a URL, and a problem for each entry that cannot be listed.

    A local file in `seen` is returned as a repeated `File`; the others are added to `seen`.
    `seconds` limits each answer of a server. Raises `OptionError` for standard input.
    """
    if url == files.STANDARD_INPUT:
        raise OptionError(say("scan-of-stdin"))
    yield from _local(url.removeprefix(_FILE), seen) if is_local(url) else _remote(url, seconds)


def _local(path: str, seen: Seen) -> Iterator[InputFile | File | Problem]:
    root = root_of(path)
    for file in files.find_once(path, seen):
        if isinstance(file, Problem) or file.is_repeated:
            yield file
            continue
        inside = os.path.relpath(file.path, root) if file.path != root else ""
        try:
            inside.encode()
            status = os.stat(file.path)
        except UnicodeError:
            yield Problem(ascii(file.path), say("name-not-utf8"))
        except ValueError as error:  # the name contains NUL
            yield Problem(file.path, say("file-not-listed", error=error))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            yield Problem(file.path, say("file-not-listed", error=reason))
        else:
            name = inside or os.path.basename(file.path)
            modified, url = str(status.st_mtime_ns), os.path.abspath(file.path)
            yield InputFile(url, name, status.st_size, modified, file.named)


def _remote(url: str, seconds: float) -> Iterator[InputFile | Problem]:
    try:
        fs, top = store(url)
        fs.invalidate_cache()
        named, entries = _listed(fs, top, seconds, is_folder=url.endswith("/"))
    except Exception as error:  # libraries of stores share no error class
        yield Problem(address(url), say("store-failed", error=first_line(error)))
        return
    folder = top.rstrip("/") + "/"
    for path, info in sorted(entries.items()):
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
"""fsspec's `info` of a file, or the error that it raised."""


def _wrong(path: str, info: Info) -> Message | None:
    """The reason not to read an entry of a listing; None if it can be read."""
    if isinstance(info, Exception):
        return say("fetch-failed", error=first_line(info))
    if "::" in path:
        return say("name-of-two-addresses")
    if not path.isprintable():
        return say("name-not-printable")
    if path.endswith("/") and info.get("size"):
        return say("name-of-folder")
    return None


def _stamp(info: dict[str, Any]) -> str | None:
    """A file's version stamp, at most 200 characters: it changes with the content. None if the
    store gives none."""
    stamp = next((str(info[key]) for key in _STAMPS if info.get(key)), None)
    if stamp is None or len(stamp) <= _LONGEST_STAMP:
        return stamp
    return blake2b(stamp.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _listed(fs: Any, top: str, seconds: float, *, is_folder: bool) -> tuple[bool, dict[str, Info]]:
    """(True if the user named the files, path → fsspec's `info`) for a URL of a store."""
    is_glob = has_magic(top) and "?" not in top
    if not is_glob and not is_folder and fs.isfile(top):
        return True, {top: fs.info(top)}
    if is_web(fs):
        return is_glob, _listed_by_pages(fs, top, seconds, is_glob=is_glob)
    return is_glob, fs.glob(top, detail=True) if is_glob else fs.find(top, detail=True)


def _listed_by_pages(fs: Any, top: str, seconds: float, *, is_glob: bool) -> dict[str, Info]:
    """The `info` by path of the files that the pages of a web server link to. `info` is requested
    for each file: pages state neither size nor stamp."""
    folder, fits = top.rstrip("/") + "/", ""
    if is_glob:
        from fsspec.utils import glob_translate

        before = top[: next(n for n, letter in enumerate(top) if letter in "*[")]
        folder, fits = before[: before.rindex("/") + 1], glob_translate(top)
    deepest = top.count("/", len(folder)) if is_glob and "**" not in top else DEEPEST
    infos: dict[str, Info] = {}
    paths: list[str] = []
    for path, error in files_below(fs, folder, seconds, deepest):
        if error is not None:
            infos[path] = error
        elif not fits or re.fullmatch(fits, path):
            paths.append(path)

    def info(path: str) -> Info:
        try:
            answer: dict[str, Any] = fs.info(path, timeout=seconds)
            return answer
        except Exception as error:
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        infos.update(zip(paths, results(pool, info, paths), strict=True))
    return infos


def store_error(url: str, error: Exception) -> KernelinfoError:
    """The error of a store's library as one line that names the URL."""
    return KernelinfoError(in_file(address(url), say("store-failed", error=first_line(error))))


def first_line(error: BaseException) -> str:
    """The first line of a library's error, at most 300 characters; the last line if DuckDB quotes a
    traceback."""
    if isinstance(error, TimeoutError):
        return say("store-silent")
    if isinstance(error, FileNotFoundError) and error.__cause__:  # fsspec hides any error so
        return first_line(error.__cause__)
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    if lines[0].startswith("Traceback"):
        lines = [line for line in lines if not line.startswith(" ")][-1:]
    return lines[0][:_LONGEST_MESSAGE]


_LEAST_BYTES, _MOST_BYTES = 16 << 20, 256 << 20  # size of a task
_TASKS_A_WORKER = 8
_FILE_BYTES = 64 << 10  # cost of opening a file, in bytes read
SHARED_BYTES = 512 << 20
"""Size in bytes above which several workers share the code objects of one file."""
_SHARES_A_WORKER = 4
"""No file is shared if each worker has this many files: every share opens the file again."""


class ScanTask(NamedTuple):
    """Files that one worker reads and whose rows it writes as one part; afterwards, also the
    outcome."""

    part: str
    files: tuple[InputFile, ...]
    share: int = 0
    shares: int = 1  # number of tasks that share the one file
    kernels: int = 0  # kernels read
    notes: tuple[Note, ...] = ()
    fetched: frozenset[str] = frozenset()
    """Addresses of files read; the next run reads the others again."""
    given_up: bool = False
    """True if the task ended its worker: a longer --timeout reads it again."""

    def by_unit(self) -> list[ScanTask]:
        """The task cut into one task per unit. A share of a file is not cut."""
        if self.shares > 1:
            return [self]
        return [
            self._replace(part=f"{self.part}-{number:05}", files=unit)
            for number, unit in enumerate(units(self.files))
        ]


def units(files: Iterable[InputFile]) -> list[tuple[InputFile, ...]]:
    """Files in groups that must be read together.

    A group consists of the files of a folder whose names are equal up to the first dot, such as a
    code object and Triton's JSON, or a database and its log. A folder of a store that contains
    assemblies is one group: `analysis.copies` needs all its files to find copies of one
    compilation.
    """
    listed = [(posixpath.dirname(file.url), file) for file in files]
    with_assembly = {
        folder for folder, file in listed if file.url.endswith(ASSEMBLY) and not is_local(file.url)
    }
    groups: dict[tuple[str, str], list[InputFile]] = {}
    for folder, file in listed:
        stem = posixpath.basename(file.url).removesuffix(LOG).partition(".")[0]
        groups.setdefault((folder, "" if folder in with_assembly else stem), []).append(file)
    return [tuple(unit) for unit in groups.values()]


def tasks(together: Iterable[tuple[InputFile, ...]], workers: int, run: str) -> list[ScanTask]:
    """The units as tasks, largest first; a large file alone in its task becomes one task per share.
    `run` is the prefix of part names."""
    waiting = sorted(together, key=cost, reverse=True)
    total = sum(map(cost, waiting))
    room = min(max(total // (workers * _TASKS_A_WORKER), _LEAST_BYTES), _MOST_BYTES)
    shared = max(SHARED_BYTES, total // (workers * _SHARES_A_WORKER))
    work: list[ScanTask] = []
    for number, batch in enumerate(_filled(waiting, room)):
        part, shares = f"{run}-{number:06}", 1
        if len(batch) == 1:
            shares = -(-batch[0].size // shared) or 1
        work += [ScanTask(part, batch, share, shares) for share in range(shares)]
    return work


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
    """Cost of reading a unit, in bytes: file sizes plus 64 KiB for each file opened."""
    return sum(file.size + _FILE_BYTES for file in unit)
