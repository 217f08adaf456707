"""Steps of a trend: two neighbouring builds compared, library by library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import Build, KernelSummary
from kernelinfo.kernel.code_object import library_of


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
    gaps: frozenset[str] = frozenset()
    """Libraries of which a part could not be read that other builds have."""
    carried: frozenset[int] = frozenset()
    """Ids of kernels of gaps among the movers: of the last build before that has them."""

    @property
    def all_compilers(self) -> tuple[str, ...]:
        """Stamps of all libraries, sorted."""
        return tuple(sorted(frozenset[str]().union(*self.compilers.values())))


def carry(nights: Sequence[Night]) -> list[Night]:
    """The builds, with what their gaps lack: each kernel as in the build before, or in the first
    build behind gaps that a trend begins with. So a gap is no change."""
    carried = [*nights]
    for place in range(1, len(carried)):
        carried[place] = _filled(carried[place], carried[place - 1])
    for place in reversed(range(len(carried) - 1)):
        shared = frozenset[str].intersection(*(night.gaps for night in carried[: place + 1]))
        carried[place] = _filled(carried[place], carried[place + 1], shared)
    return carried


def _filled(night: Night, neighbour: Night, gaps: Set[str] | None = None) -> Night:
    """The build with the movers of its neighbour that its gaps lack."""
    gaps = night.gaps if gaps is None else gaps
    if not gaps:
        return night
    read = {_key(mover) for mover in night.movers}
    lacking = [one for one in neighbour.movers if one.library in gaps and _key(one) not in read]
    ids = night.carried | {id(mover.kernel) for mover in lacking}
    return night._replace(movers=(*night.movers, *lacking), carried=ids)


def _key(mover: Mover) -> tuple[str, str, str, str]:
    return mover.library, mover.kernel.target, mover.kernel.symbol, mover.place


class Recompiled(NamedTuple):
    """Libraries whose compilers changed in the same way."""

    old: tuple[str, ...]  # stamps that the library no longer has
    new: tuple[str, ...]  # stamps that it did not have before
    libraries: int  # number of libraries


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
    both = (old.compilers.keys() | old.gaps) & (new.compilers.keys() | new.gaps)
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
        if library in old.compilers.keys() & new.compilers.keys()
        and (before := old.compilers[library]) != (after := new.compilers[library])
    )
    return tuple(Recompiled(*stamps, count) for stamps, count in changes.most_common())
