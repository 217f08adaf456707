"""Source text that debug information names, read only if the user asks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from kernelinfo.errors import OptionError
from kernelinfo.opening import is_below, open_regular
from kernelinfo.pressure.messages import say

_MOST_BYTES = 4 << 20
"""Most bytes of one file."""
_MOST_IN_ALL = 64 << 20
"""Most bytes of all files: debug information may name thousands."""
_LONGEST = 4096
"""Characters of a path, PATH_MAX of Linux."""
_MOST_PARTS = 64
"""Last parts of a path that are looked for below `--source-root`."""
_OF_SYSTEM = ("/proc", "/dev", "/sys")
"""Folders whose files are no text, although some are regular files."""


class SourceText:
    """Lines of source files, from below the folders that the user named. Each file is read once.

    Debug information may name any file. What it names elsewhere, also by a link, is not read.
    """

    def __init__(self, root: str | None, paths: Sequence[str] = ()) -> None:
        """`root` is searched first, by the whole path and by its last parts. Text is also read
        below the current folder and the folders of the inputs, `paths`.

        Raises `OptionError` if `root` is no folder.
        """
        if root is not None and not os.path.isdir(root):
            raise OptionError(say("source-root-no-folder", root=root))
        self._root = root
        inputs = (path if os.path.isdir(path) else os.path.dirname(path) for path in paths)
        # The root of all files, as the current folder, names none.
        folders = [folder for folder in (os.curdir, *inputs) if not _is_top(folder)]
        self._folders = [*folders, *([root] if root is not None else [])]
        self._answers: dict[tuple[str, str], list[str] | str] = {}
        self._texts: dict[str, list[str] | str] = {}
        self._left = _MOST_IN_ALL
        self.shown: list[str] = []
        """Paths of the files whose text was given, in the order in which they were asked for."""

    def lines(self, file: str, folder: str = "") -> list[str] | str:
        """The lines of a file, or the reason why there are none.

        A relative path is searched in `folder`, that of the input, and in the current folder.
        Names of one file share its lines.
        """
        if (file, folder) not in self._answers:
            self._answers[file, folder] = self._lines(file, folder)
        return self._answers[file, folder]

    def _lines(self, file: str, folder: str) -> list[str] | str:
        if len(file) > _LONGEST:
            return say("source-path-long", size=len(file))
        path = next((path for path in self._paths(file, folder) if os.path.isfile(path)), None)
        if path is None:
            return say("source-missing", file=file)
        real = os.path.realpath(path)
        if any(is_below(real, system) for system in _OF_SYSTEM):
            return say("source-of-system", path=path)
        own = [] if _is_top(folder) else [folder]
        if not any(is_below(real, one or os.curdir) for one in (*self._folders, *own)):
            return say("source-outside", path=path)
        if real not in self._texts:
            self._texts[real] = text = self._text(path)
            if not isinstance(text, str):
                self.shown.append(path)
        return self._texts[real]

    def _text(self, path: str) -> list[str] | str:
        try:
            with open_regular(path) as opened:
                data = opened.read(_MOST_BYTES + 1)
        except OSError as error:
            return say("source-unreadable", path=path, error=error.strerror)
        if len(data) > _MOST_BYTES:
            return say("source-too-large", path=path)
        if b"\0" in data:
            return say("source-no-text", path=path)
        self._left -= len(data)
        if self._left < 0:
            return say("source-left-out", path=path)
        return _as_compilers_count(data.decode("utf-8", "replace"))

    def _paths(self, file: str, folder: str) -> Iterator[str]:
        parts = [part for part in PurePath(file).parts if part not in ("/", "..")]
        if self._root is not None:
            for first in range(max(len(parts) - _MOST_PARTS, 0), len(parts)):
                yield os.path.join(self._root, *parts[first:])
        if os.path.isabs(file):
            yield file
        else:
            yield from (os.path.join(folder, file), file)


def _is_top(folder: str) -> bool:
    """True for the root of all files."""
    real = os.path.realpath(folder or os.curdir)
    return os.path.dirname(real) == real


def _as_compilers_count(text: str) -> list[str]:
    """The lines. A form feed ends none, unlike in `str.splitlines`."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
