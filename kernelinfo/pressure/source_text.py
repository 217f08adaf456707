"""Source text that debug information names, read only if the user asks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath

from kernelinfo.errors import OptionError

_MOST_BYTES = 4 << 20


class SourceText:
    """Lines of source files. Each file is read once."""

    def __init__(self, root: str | None) -> None:
        """`root` is searched first, by the whole path and by its last parts.

        Raises `OptionError` if it is no folder.
        """
        if root is not None and not os.path.isdir(root):
            raise OptionError(f"--source-root {root}: is no folder; give an existing one")
        self._root = root
        self._read: dict[tuple[str, str], list[str] | str] = {}

    def lines(self, file: str, folder: str = "") -> list[str] | str:
        """The lines of a file, or the reason why there are none.

        A relative path is searched in `folder` and in the current folder.
        """
        if (file, folder) not in self._read:
            self._read[file, folder] = self._lines(file, folder)
        return self._read[file, folder]

    def _lines(self, file: str, folder: str) -> list[str] | str:
        path = next((path for path in self._paths(file, folder) if os.path.isfile(path)), None)
        if path is None:
            return f"{file} is not found; give --source-root DIR"
        try:
            # Files of the kernel, such as /proc/kmsg, have no size, and reading may wait for ever.
            if not os.path.getsize(path):
                return []
            with open(path, "rb") as opened:
                data = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            return f"{path}: {error.strerror}"
        if len(data) > _MOST_BYTES:
            return f"{path} has more than 4 MiB"
        if b"\0" in data:
            return f"{path} is no text"
        return _as_compilers_count(data.decode("utf-8", "replace"))

    def _paths(self, file: str, folder: str) -> Iterator[str]:
        parts = [part for part in PurePath(file).parts if part not in ("/", "..")]
        if self._root is not None:
            for first in range(len(parts)):
                yield os.path.join(self._root, *parts[first:])
        if os.path.isabs(file):
            yield file
        else:
            yield from (os.path.join(folder, file), file)


def _as_compilers_count(text: str) -> list[str]:
    """The lines. A form feed ends none, unlike in `str.splitlines`."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
