"""Where a finding is shown: the line of its source, of the assembly, or the file alone."""

from __future__ import annotations

from pathlib import PurePath

from kernelinfo.kernel import Kernel
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.repository import path_in_repository


class Place(NamedTuple):
    path: str
    """Relative to the repository's root where it lies inside; always with `/`."""
    line: int | None
    """1-based; None where only the file is known."""


def place_of(kernel: Kernel) -> Place:
    """The line that debug information names, else the one in the assembly, else the file."""
    if kernel.source is not None:
        return Place(PurePath(kernel.source.file).as_posix(), kernel.source.line)
    return place_in(kernel.code_object.path, kernel.line)


def place_in(path: str, line: int | None = None) -> Place:
    """A file as it was given on the command line."""
    return Place(PurePath(path_in_repository(path) or path).as_posix(), line)
