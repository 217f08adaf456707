"""The part of a project that a run covers; the rest is neither gone nor unused."""

from __future__ import annotations

import os
from typing import NamedTuple

from kernelinfo.analysis.options import Options
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.gate.config.file import FilePath
from kernelinfo.reading.paths import fits

_MOST_NAMED = 2
"""Paths that are named; of more, and of files of many, their number is."""


class Scope(NamedTuple):
    """A part of the project, or all of it."""

    paths: tuple[str, ...] = ()
    """Files, folders and globs; empty for all."""
    options: Options = Options()
    """By name and target, they choose kernels."""
    may_hold_none: bool = False
    """The paths are some files of many, maybe without any kernel."""

    @property
    def whole(self) -> bool:
        """True if the run covers the whole project."""
        return not (self.paths or self.options.choices)

    @property
    def description(self) -> str:
        """`3 paths, -k vgpr*`; empty where the run covers the whole project."""
        many = self.may_hold_none or len(self.paths) > _MOST_NAMED
        number = f"{len(self.paths)} path{'s' if self.paths[1:] else ''}"
        paths = (number,) if self.paths and many else self.paths
        return ", ".join((*paths, *self.options.choices))

    def holds(self, kernel: KernelSummary, folder: FilePath) -> bool:
        """True if the run covers a kernel of a baseline in `folder`."""
        if not self.options.asks_for(kernel.name, kernel.symbol, kernel.processor):
            return False
        location = os.path.abspath(os.path.join(folder, kernel.code_object.partition(" › ")[0]))
        given = [os.path.abspath(path) for path in self.paths]
        return not given or any(
            location == path
            or location.startswith(os.path.join(path, ""))
            or fits(location.replace(os.sep, "/"), path.replace(os.sep, "/"))
            for path in given
        )
