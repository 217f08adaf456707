"""Sources of the user's own command: which of them were saved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b

from kernelinfo.errors import ReadError
from kernelinfo.reading.paths import read_document
from kernelinfo.watch.files import FolderTree, Snapshot, rested

_MOST_BYTES = 1 << 24
"""Bytes of a source whose content is compared."""


class Sources:
    """Files of the current folder, without hidden, temporary and ignored ones and the outputs."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self._tree = FolderTree(os.curdir, without=[os.path.realpath(path) for path in outputs])
        self._seen: Snapshot | None = None
        """None before the first build."""
        self._contents: dict[str, bytes] = {}
        """Path -> digest of the content when the file was last seen to change."""

    def have_changed(self, *, only_saved: bool) -> bool:
        """True if a file changed since the build began, and before the first build.

        `only_saved` counts files that were there before and have another content now. Others may
        be the build's own: a header that it generates anew.
        """
        if self._seen is None:
            return True
        now = self._tree.snapshot()
        if not only_saved:
            return now != self._seen
        both = now.keys() & self._seen.keys()
        changed = sorted(path for path in both if now[path] != self._seen[path])
        self._seen |= {path: now[path] for path in changed if not self._is_other(path)}
        return any(now[path] != self._seen[path] for path in changed)

    def rest(self) -> None:
        """Wait until no file changes: a save takes several steps. All count as built then."""
        self._seen = rested(self._tree.snapshot)

    def absorb(self) -> None:
        """Count files that appeared or vanished in a build as built."""
        now, seen = self._tree.snapshot(), self._seen or {}
        self._seen = {path: seen.get(path, stamp) for path, stamp in now.items()}

    def _is_other(self, path: str) -> bool:
        """True if the content differs from when the file last changed, or cannot be compared."""
        try:
            content = blake2b(read_document(path, _MOST_BYTES)).digest()
        except (OSError, ReadError):
            return True
        before, self._contents[path] = self._contents.get(path), content
        return before != content
