"""Two builds beside each other: which kernels are the same, and what moved."""

from __future__ import annotations

from dataclasses import dataclass

from kernelinfo.footprint import Footprint


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel in the old and in the new build."""

    old: Footprint
    new: Footprint
    renamed: bool = False
    """Matched by less than its whole identity."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the kernels of the old build."""

    pairs: tuple[Pair, ...]
    """In the order of the new build."""
    gone: tuple[Footprint, ...]
    new: tuple[Footprint, ...]
    old_compilers: tuple[str, ...]
    new_compilers: tuple[str, ...]
