"""Lines of requests, each of which the server can answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import BinaryIO

_LONGEST_REQUEST = 1 << 20  # bytes of a line; the longest path and pattern take a hundredth
_UNREADABLE = '{{"jsonrpc":"2.0","id":{},"method":"(a request that cannot be read)"}}\n'
_ID = re.compile(r'\s*\{[^{}\[\]]*?"id"\s*:\s*(0|[1-9]\d{0,14}|"[\w.:-]{1,64}")\s*[,}]', re.ASCII)
"""Id of a request, before anything that is nested in it."""


class RequestLines:
    """Lines of a stream. In place of one that is too long or cannot be read stands a request of the
    same id that no server knows, so that the client gets an error; a blank line if it has no id."""

    def __init__(self, stream: BinaryIO, is_readable: Callable[[str], bool]) -> None:
        self._stream = stream
        self._is_readable = is_readable

    def readline(self) -> str:
        """The next line; empty at the end."""
        line = start = self._stream.readline(_LONGEST_REQUEST)
        while len(line) == _LONGEST_REQUEST and not line.endswith(b"\n"):
            line = self._stream.readline(_LONGEST_REQUEST)
        text = start.decode("utf-8", "replace")
        is_whole = len(start) < _LONGEST_REQUEST or start.endswith(b"\n")
        if not text or (is_whole and self._is_readable(text)):
            return text
        found = _id_of(text)
        return "\n" if found is None else _UNREADABLE.format(found)


def _id_of(text: str) -> str | None:
    """The id of a request as JSON; None if it has none that can be answered."""
    try:
        request = json.loads(text)
    except (ValueError, RecursionError):
        found = _ID.match(text)
        return found[1] if found else None
    known = request.get("id") if isinstance(request, dict) else None
    return json.dumps(known) if type(known) is int or _is_text(known) else None


def _is_text(known: object) -> bool:
    return isinstance(known, str) and known.isprintable()
