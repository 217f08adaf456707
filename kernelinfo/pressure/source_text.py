"""Source text that debug information names, read only if the user asks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath

_MOST_BYTES = 4 << 20


class SourceText:
    """Lines of source files. Each file is read once."""

    def __init__(self, root: str | None, folders: Sequence[str] = ()) -> None:
        """`root` is searched first, by the whole path and by its last parts. A relative path is
        also searched in `folders` and in the current folder."""
        self._root = root
        self._folders = (*folders, "")
        self._read: dict[str, list[str] | str] = {}

    def lines(self, file: str) -> list[str] | str:
        """The lines of a file, or the reason why there are none."""
        if file not in self._read:
            self._read[file] = self._lines(file)
        return self._read[file]

    def _lines(self, file: str) -> list[str] | str:
        path = next((path for path in self._paths(file) if os.path.isfile(path)), None)
        if path is None:
            return f"{file} is not found; give --source-root DIR"
        try:
            with open(path, "rb") as opened:
                data = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            return f"{path}: {error.strerror}"
        if len(data) > _MOST_BYTES:
            return f"{path} has more than 4 MiB"
        if b"\0" in data:
            return f"{path} is no text"
        return data.decode("utf-8", "replace").splitlines()

    def _paths(self, file: str) -> Iterator[str]:
        parts = [part for part in PurePath(file).parts if part not in ("/", "..")]
        if self._root is not None:
            for first in range(len(parts)):
                yield os.path.join(self._root, *parts[first:])
        if os.path.isabs(file):
            yield file
        else:
            yield from (os.path.join(folder, file) for folder in self._folders)
