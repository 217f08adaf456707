"""Paths: matching patterns, relative to the repository, configuration files, small documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from kernelinfo.errors import ReadError
from kernelinfo.opening import bound, is_below, open_regular
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.messages import say

ANY_FOLDERS = "**"
_LONGEST_PART = 1 << 12
"""Characters of a pattern for one name. A name has up to 255 bytes."""
SourceLanguage = Literal["hip", "cl", "ir"]
SOURCE_LANGUAGES: dict[str, SourceLanguage] = {
    ".hip": "hip",
    ".cu": "hip",
    ".cpp": "hip",
    ".cc": "hip",
    ".cxx": "hip",
    ".cl": "cl",
    ".ll": "ir",
    ".bc": "ir",
}
"""Suffix of a source that can be compiled -> its language, as compilers call it."""
SOURCE_SUFFIXES = tuple(SOURCE_LANGUAGES)
BEFORE_FLAGS = "-Wno-unused-command-line-argument"  # hipcc adds libraries for the linker
"""The last option of kernelinfo in a command that compiles a source. Then come the user's flags and
the source."""
CONFIGURATIONS = "kernelinfo.toml", "pyproject.toml"
"""Names of configuration files: our own, and the one shared with other tools."""
CONFIGURATION_BYTES = 16 << 20
"""Most bytes of a configuration file."""


def is_source(path: str) -> bool:
    """True for a file with the suffix of a source."""
    return path.endswith(SOURCE_SUFFIXES) and os.path.isfile(path)


def fits(path: str, pattern: str) -> bool:
    """True if the pattern matches the path or a folder above it.

    `*`, `?` and `[...]` match within one name; `**` matches any number of folders, also none.
    Takes time linear in pattern × path.
    """
    names = pattern.split("/")
    parts = [
        part
        for part, before in zip(names, ("", *names), strict=False)
        if {part, before} != {ANY_FOLDERS}
    ]
    matched = _past_folders({0}, parts)
    for name in path.split("/"):
        matched.discard(len(parts))
        stays = {index for index in matched if parts[index] == ANY_FOLDERS}
        goes = {index + 1 for index in matched - stays if _matches(name, parts[index])}
        matched = _past_folders(stays | goes, parts)
        if len(parts) in matched:
            return True
    return False


def _past_folders(matched: set[int], parts: Sequence[str]) -> set[int]:
    """The indices of pattern parts that may come next, since `**` may match no folder."""
    return matched | {index + 1 for index in matched if parts[index : index + 1] == [ANY_FOLDERS]}


def _matches(name: str, part: str) -> bool:
    return len(part) <= _LONGEST_PART and fnmatchcase(name, part)


def in_repository(source: SourceLine) -> SourceLine:
    """The source line, with its file relative to the repository's root if the file is in the
    repository.

    The root is the nearest folder with a `.git`, from the current one upwards. A relative path is
    kept, as it is relative to the folder in which the compiler ran.
    """
    inside = os.path.isabs(source.file) and path_in_repository(source.file)
    return source._replace(file=inside) if inside else source


def path_in_repository(path: str) -> str | None:
    """Path relative to the repository's root; None outside of one.

    A relative `path` starts at the current folder.
    """
    try:
        root = _root(os.getcwd())
    except OSError:  # the current folder was deleted
        return None
    if root is None:
        return None
    inside = os.path.relpath(path, root)
    return None if inside.startswith(os.pardir) else inside


@cache
def _root(folder: str) -> str | None:
    for parent in with_parents(folder):
        if os.path.exists(os.path.join(parent, ".git")):
            return parent
    return None


def with_parents(folder: str) -> Iterator[str]:
    """An absolute path and all its parent folders, nearest first."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        yield (folder := parent)


def read_document(path: str | os.PathLike[str], limit: int) -> bytes:
    """Content of a regular file of up to `limit` bytes.

    Raises `ReadError` if the file is larger, and `OSError` as `open_regular` does.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size  # 0 of a file that the system makes as it is read
        data = file.read(limit + 1) if size <= limit else b""
    if max(size, len(data)) > limit:
        raise ReadError(say("document-too-large", most=limit))
    return data


def configurations(folder: str) -> Iterator[str]:
    """Paths of the configuration files in a folder (an absolute path) and above, nearest first.

    Yields each `kernelinfo.toml`, and each `pyproject.toml` that may hold `[tool.kernelinfo]` or
    cannot be read. Folders outside the bound of `opening` are not searched.
    """
    for parent in with_parents(folder):
        if bound() and not is_below(parent, bound()):
            return
        dedicated, shared = (os.path.join(parent, name) for name in CONFIGURATIONS)
        if _is_file_or_broken_link(dedicated):
            yield dedicated
        if _is_file_or_broken_link(shared):
            try:
                may = may_configure(read_document(shared, CONFIGURATION_BYTES))
            except (OSError, ReadError):
                may = True
            if may:
                yield shared


def _is_file_or_broken_link(path: str) -> bool:
    """True for a file, and for a broken link, whose reading then fails with a message."""
    return os.path.isfile(path) or (os.path.islink(path) and not os.path.exists(path))


def may_configure(pyproject: bytes) -> bool:
    """False if the bytes of a `pyproject.toml` rule out a `[tool.kernelinfo]`.

    True is a guess: only parsing decides.
    """
    dense = pyproject.translate(None, b" \t\"'")
    parent = b"[tool]" in dense or b"tool={" in dense
    return b"tool.kernelinfo" in dense or (parent and b"kernelinfo" in dense)
