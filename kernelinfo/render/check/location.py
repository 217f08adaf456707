"""Where a finding is shown: the line of its source, of the assembly, or the file alone."""

from __future__ import annotations

from pathlib import PurePath

from kernelinfo.kernel import Kernel
from kernelinfo.light_typing import NamedTuple
from kernelinfo.reading.paths import path_in_repository


class Location(NamedTuple):
    path: str
    """Relative to the repository's root where it lies inside; always with `/`."""
    line: int | None
    """1-based; None where only the file is known."""


def location_of(kernel: Kernel) -> Location:
    """The line that debug information names, else the one in the assembly, else the file."""
    if kernel.source is not None:
        return Location(PurePath(kernel.source.file).as_posix(), kernel.source.line)
    return location_in(kernel.code_object.path, kernel.line)


def location_in(path: str, line: int | None = None) -> Location:
    """A file as it was given on the command line."""
    return Location(PurePath(path_in_repository(path) or path).as_posix(), line)
