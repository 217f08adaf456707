"""The part of a build that a run covers. Pinned kernels outside it are not gone."""

from __future__ import annotations

import os
from typing import NamedTuple

from kernelinfo.analysis.options import Options
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.opening import FilePath
from kernelinfo.reading.paths import fits

_MOST_NAMED = 2
"""Most paths to name; more are counted."""


class Scope(NamedTuple):
    """The part of a build that a run covers, or all of it."""

    paths: tuple[str, ...] = ()
    """Files, folders and globs; empty for all of the build."""
    options: Options = Options()
    """Choice of kernels by name and target."""
    may_hold_none: bool = False
    """True if the paths are a few of the build's files, perhaps without kernels (--subset)."""

    @property
    def whole(self) -> bool:
        """True if the run covers the whole build."""
        return not (self.paths or self.options.choices)

    @property
    def description(self) -> str:
        """The part in words: `3 paths, -k vgpr*`. Empty for the whole build."""
        many = self.may_hold_none or len(self.paths) > _MOST_NAMED
        number = f"{len(self.paths)} path{'s' if self.paths[1:] else ''}"
        paths = (number,) if self.paths and many else self.paths
        return ", ".join((*paths, *self.options.choices))

    def holds(self, kernel: KernelSummary, folder: FilePath) -> bool:
        """True if the run covers a pinned kernel; `folder` is the baseline's.

        A baseline cannot tell whether --where holds: no kernel is gone then.
        """
        if self.options.where is not None:
            return False
        if not self.options.asks_for(kernel.name, kernel.symbol, kernel.target):
            return False
        if not self.options.asks_for_member(kernel.code_object):
            return False
        location = os.path.abspath(os.path.join(folder, kernel.code_object.partition(" › ")[0]))
        given = [os.path.abspath(path) for path in self.paths]
        return not given or any(
            location == path
            or location.startswith(os.path.join(path, ""))
            or fits(location.replace(os.sep, "/"), path.replace(os.sep, "/"))
            for path in given
        )
