"""Steps of a trend: two neighbouring builds compared, library by library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import NamedTuple

from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import Build, KernelSummary
from kernelinfo.kernel.library import library_of


class Mover(NamedTuple):
    """A kernel of a build that moved in some build."""

    library: str
    place: str  # path below the root and member, without versions
    kernel: KernelSummary


class Night(NamedTuple):
    """One build of a trend."""

    name: str
    compilers: Mapping[str, frozenset[str]]  # library -> stamps
    targets: tuple[str, ...]
    movers: tuple[Mover, ...] = ()

    @property
    def all_compilers(self) -> tuple[str, ...]:
        """Stamps of all libraries, sorted."""
        return tuple(sorted(frozenset[str]().union(*self.compilers.values())))


class Recompiled(NamedTuple):
    """Libraries whose compilers changed in the same way."""

    old: tuple[str, ...]  # stamps that the library no longer has
    new: tuple[str, ...]  # stamps that it did not have before
    libraries: int


class NightStep(NamedTuple):
    """A build compared with the one before."""

    comparison: Comparison
    recompiled: tuple[Recompiled, ...]  # most libraries first
    libraries: int  # number of libraries of both builds
    within_steps: int  # number of all kernels that moved within the steps of the hardware alone


def compared(old: Night, new: Night, within_steps: int) -> NightStep:
    """The step between two builds, in which `within_steps` kernels of one name in both moved within
    the steps of the hardware alone.

    Kernels pair within their library: first those of one name and place. A library of only one of
    the builds may have another name in the other one, so such libraries are compared together.
    """
    both = old.compilers.keys() & new.compilers.keys()
    ours, theirs = _by_library(old, both), _by_library(new, both)
    shown: dict[int, KernelSummary] = {}
    found = []
    for library in dict.fromkeys((*theirs, *ours)):
        before, after = (
            Build(tuple(_placed(side.get(library, ()), shown)), (), targets=night.targets)
            for side, night in ((ours, old), (theirs, new))
        )
        found.append((compare(before, after), before, after))
    pairs = tuple(
        Pair(shown[id(pair.old)], shown[id(pair.new)], pair.match)
        for comparison, *_ in found
        for pair in comparison.pairs
    )
    return NightStep(
        Comparison(
            pairs=pairs,
            gone=tuple(shown[id(one)] for comparison, *_ in found for one in comparison.gone),
            new=tuple(shown[id(one)] for comparison, *_ in found for one in comparison.new),
            old_compilers=old.all_compilers,
            new_compilers=new.all_compilers,
        ),
        _recompiled(old, new, both),
        len(both),
        within_steps + renamed_within_steps(pairs),
    )


def renamed_within_steps(pairs: Iterable[Pair]) -> int:
    """Number of pairs of kernels of two names, libraries or targets that moved within the steps of
    the hardware alone."""
    renamed = (pair for pair in pairs if identity(pair.old) != identity(pair.new))
    return sum(pair.effect == "moved" for pair in renamed)


def identity(kernel: KernelSummary) -> tuple[str, str, str]:
    """Library without version, target and symbol."""
    return library(kernel), kernel.target, kernel.symbol


def library(kernel: KernelSummary) -> str:
    """The library of a kernel, without version."""
    return library_of(kernel.code_object.partition(" › ")[0])


def _by_library(night: Night, both: Set[str]) -> dict[str, list[Mover]]:
    """The movers by library; libraries of only one of the builds are one group, named ``."""
    found: dict[str, list[Mover]] = {}
    for mover in night.movers:
        library = mover.library if mover.library in both else ""
        found.setdefault(library, []).append(mover)
    return found


def _placed(movers: Iterable[Mover], shown: dict[int, KernelSummary]) -> Iterator[KernelSummary]:
    """The kernels with their places in place of paths, which differ from build to build. `shown`
    maps each to the kernel with its path."""
    for mover in movers:
        placed = mover.kernel._replace(code_object=mover.place)
        shown[id(placed)] = mover.kernel
        yield placed


def _recompiled(old: Night, new: Night, both: Iterable[str]) -> tuple[Recompiled, ...]:
    changes = Counter(
        (tuple(sorted(before - after)), tuple(sorted(after - before)))
        for library in both
        if (before := old.compilers[library]) != (after := new.compilers[library])
    )
    return tuple(Recompiled(*stamps, count) for stamps, count in changes.most_common())
