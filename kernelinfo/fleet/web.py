"""Stores and web servers: a body piece by piece, and the files that the pages of folders link to.

fsspec reads a page whole, however long it is, and follows folders without end.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urljoin

from kernelinfo.errors import ReadError
from kernelinfo.reading.budget import Bounds

_PIECE = 1 << 20  # bytes
_PAGE = Bounds(fetch=16 << 20)  # of a folder's page; 100,000 links take 10 MB
MOST_PAGES = 10_000
DEEPEST = 32  # folders in folders
_LINK = re.compile(r"""href\s*=\s*["']?([^"'<>\s]+)""", re.IGNORECASE)


def store(url: str) -> tuple[Any, str]:
    """fsspec's client for a URL, and the path that it knows it by."""
    from fsspec.core import url_to_fs  # and asyncio: a sixth of a scan of local files

    fs, path = url_to_fs(url)
    return fs, str(path)


def is_web(fs: Any) -> bool:
    """True for fsspec's client of HTTP."""
    return "http" in ([fs.protocol] if isinstance(fs.protocol, str) else fs.protocol)


def pieces(fs: Any, url: str, within: Bounds, seconds: float) -> Iterator[bytes]:
    """The body that a server sends, as its `Content-Encoding` is undone.

    Raises `ReadError` for more bytes than the bounds allow, and the library's errors.
    """
    # Without a block size fsspec streams; with a size it does not ask for one before.
    with fs.open(url, block_size=0, size=1, **within_time(seconds)) as body:
        headers, most = body.r.headers, within.fetch
        if headers.get("Content-Encoding", "identity") != "identity":
            most = min(most, within.streamed_bytes(int(headers.get("Content-Length", 0))))
        came = 0
        while piece := body.read(_PIECE):
            came += len(piece)
            if came > most:
                raise ReadError(too_long(most))
            yield piece


def within_time(seconds: float) -> dict[str, Any]:
    """The option of a request that takes no longer."""
    from aiohttp import ClientTimeout  # of servers alone

    return {"timeout": ClientTimeout(total=seconds)}


def too_long(most: int) -> str:
    """The message of a file that has more bytes than are fetched."""
    return f"more than the {most} bytes allowed here; --bound fetch=N and ratio=N allow more"


def files_below(
    fs: Any, top: str, seconds: float, deepest: int = DEEPEST
) -> Iterator[tuple[str, Exception | None]]:
    """The address of each file that the page of a folder, or of a folder in it, links to, and of
    each folder that cannot be listed with the reason. Raises the reason for `top` itself."""
    waiting, seen = deque([(top, 0)]), {top}
    for _ in range(MOST_PAGES):
        if not waiting:
            return
        page, depth = waiting.popleft()
        try:
            links = _links(b"".join(pieces(fs, page, _PAGE, seconds)), page)
        except Exception as error:  # the libraries of stores have no common class of errors
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
                yield link, ReadError(f"folders nested more than {deepest} deep")
    if waiting:
        yield waiting[0][0], ReadError(f"more than {MOST_PAGES} folders; scan fewer at once")


def _links(page: bytes, url: str) -> set[str]:
    """What a page links to below its own address; orders of the same page, as `?C=S`, are not."""
    found = (unescape(link) for link in _LINK.findall(page.decode("utf-8", "replace")))
    links: set[str] = set()
    for link in found:
        try:
            whole = urldefrag(urljoin(url, link)).url
        except ValueError:  # no address at all
            continue
        if whole.startswith(url) and not whole.removeprefix(url).startswith("?"):
            links.add(whole)
    return links - {url}
