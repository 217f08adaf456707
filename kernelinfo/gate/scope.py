"""What a run was asked to look at: of all else it cannot say that it is gone or unused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from kernelinfo.compare.footprint import Footprint
from kernelinfo.kernel.pattern import matches


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the project, or all of it."""

    paths: tuple[str, ...] = ()
    """Files, folders and globs; empty for all."""
    kernels: tuple[str, ...] = ()
    """Patterns, as `Options` has them."""
    exclude: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not (self.paths or self.kernels or self.exclude)

    def holds(self, kernel: Footprint, folder: Path) -> bool:
        """Whether this run would have seen a kernel of a baseline that lies in `folder`."""
        asked = not self.kernels or any(_names(self.kernels, kernel))
        return asked and not any(_names(self.exclude, kernel)) and self._covers(kernel, folder)

    def _covers(self, kernel: Footprint, folder: Path) -> bool:
        place = os.path.abspath(folder / kernel.code_object.partition(" › ")[0])
        given = [os.path.abspath(path) for path in self.paths]
        return not given or any(
            place == path or place.startswith(os.path.join(path, "")) or fnmatchcase(place, path)
            for path in given
        )


EVERYTHING = Scope()


def _names(patterns: tuple[str, ...], kernel: Footprint) -> Iterator[bool]:
    return (matches(pattern, kernel.name, kernel.symbol) for pattern in patterns)
