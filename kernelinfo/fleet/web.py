"""Bodies of web servers in pieces, and files that pages of folders link to.

fsspec itself reads a page whole and follows folders without any limit.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urljoin

from kernelinfo.errors import Message, OptionError, ReadError
from kernelinfo.fleet.messages import say
from kernelinfo.opening import bound
from kernelinfo.reading.budget import Bounds

_PIECE = 1 << 20  # bytes
_PAGE = Bounds(fetch=16 << 20)  # limit of a folder's page; 100,000 links take 10 MB
MOST_PAGES = 10_000
DEEPEST = 32  # levels of nested folders
_LINK = re.compile(r"""href\s*=\s*["']?([^"'<>\s]+)""", re.IGNORECASE)


def store(url: str) -> tuple[Any, str]:
    """(fsspec's client, path in its terms) for a URL. Raises `OptionError` if files of one folder
    alone may be read and written."""
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
    """Keyword argument of a request that limits its time."""
    from aiohttp import ClientTimeout  # installed with HTTP support only

    return {"timeout": ClientTimeout(total=seconds)}


def too_long(most: int) -> Message:
    """The message for a file with more than `most` bytes."""
    return say("fetch-too-large", most=most)


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
    found = (unescape(link) for link in _LINK.findall(page.decode("utf-8", "replace")))
    links: set[str] = set()
    for link in found:
        try:
            whole = urldefrag(urljoin(url, link)).url
        except ValueError:  # not an address
            continue
        if whole.startswith(url) and not whole.removeprefix(url).startswith("?"):
            links.add(whole)
    return links - {url}
