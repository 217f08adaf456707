"""Which paths a pattern of folders and files matches."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

ANY_FOLDERS = "**"


def fits(path: str, pattern: str) -> bool:
    """True if the pattern matches the path, or a folder that the path is in.

    `*`, `?` and `[...]` match within one name, `**` any number of folders, none included.
    """
    names = path.split("/")
    return any(_fits(names[:end], pattern.split("/")) for end in range(1, len(names) + 1))


def _fits(names: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == ANY_FOLDERS:
        rest = range(len(names) + 1)
        return any(_fits(names[start:], pattern[1:]) for start in rest)
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _fits(names[1:], pattern[1:])
