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
        carried[place] = _fill(carried[place], carried[place - 1])
    for place in reversed(range(len(carried) - 1)):
        shared = frozenset[str].intersection(*(night.gaps for night in carried[: place + 1]))
        carried[place] = _fill(carried[place], carried[place + 1], shared)
    return carried


def _fill(night: Night, neighbour: Night, gaps: Set[str] | None = None) -> Night:
    """The build with the movers of its neighbour that its gaps lack."""
    gaps = night.gaps if gaps is None else gaps
    if not gaps:
        return night
    read = {_key(mover) for mover in night.movers}
    lacking = [m for m in neighbour.movers if m.library in gaps and _key(m) not in read]
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


def compare_nights(old: Night, new: Night, within_steps: int) -> NightStep:
    """The step between two builds, in which `within_steps` kernels of one name in both moved within
    the steps of the hardware alone.

    Kernels pair within their library: first those of one name and place. A library of only one of
    the builds may have another name in the other one, so such libraries are compared together.
    """
    both = (old.compilers.keys() | old.gaps) & (new.compilers.keys() | new.gaps)
    ours, theirs = _group_by_library(old, both), _group_by_library(new, both)
    shown: dict[int, KernelSummary] = {}
    comparisons = []
    for library in dict.fromkeys((*theirs, *ours)):
        before, after = (
            Build(tuple(_place(side.get(library, ()), shown)), (), targets=night.targets)
            for side, night in ((ours, old), (theirs, new))
        )
        comparisons.append(compare(before, after))
    pairs = tuple(
        Pair(shown[id(pair.old)], shown[id(pair.new)], pair.match)
        for comparison in comparisons
        for pair in comparison.pairs
    )
    return NightStep(
        Comparison(
            pairs=pairs,
            gone=tuple(shown[id(kernel)] for each in comparisons for kernel in each.gone),
            new=tuple(shown[id(kernel)] for each in comparisons for kernel in each.new),
            old_compilers=old.all_compilers,
            new_compilers=new.all_compilers,
        ),
        _count_recompiled(old, new, both),
        len(both),
        within_steps + count_renamed_within_steps(pairs),
    )


def count_renamed_within_steps(pairs: Iterable[Pair]) -> int:
    """Number of pairs of kernels of two names, libraries or targets that moved within the steps of
    the hardware alone."""
    renamed = (pair for pair in pairs if identify(pair.old) != identify(pair.new))
    return sum(pair.effect == "moved" for pair in renamed)


def identify(kernel: KernelSummary) -> tuple[str, str, str]:
    """Library without version, target and symbol."""
    return library_of(kernel.file), kernel.target, kernel.symbol


def _group_by_library(night: Night, both: Set[str]) -> dict[str, list[Mover]]:
    """The movers by library; libraries of only one of the builds are one group, named ``."""
    movers: dict[str, list[Mover]] = {}
    for mover in night.movers:
        library = mover.library if mover.library in both else ""
        movers.setdefault(library, []).append(mover)
    return movers


def _place(movers: Iterable[Mover], shown: dict[int, KernelSummary]) -> Iterator[KernelSummary]:
    """The kernels with their places in place of paths, which differ from build to build. `shown`
    maps each to the kernel with its path."""
    for mover in movers:
        placed = mover.kernel._replace(code_object=mover.place)
        shown[id(placed)] = mover.kernel
        yield placed


def _count_recompiled(old: Night, new: Night, both: Iterable[str]) -> tuple[Recompiled, ...]:
    changes = Counter(
        (tuple(sorted(before - after)), tuple(sorted(after - before)))
        for library in both
        if library in old.compilers.keys() & new.compilers.keys()
        and (before := old.compilers[library]) != (after := new.compilers[library])
    )
    return tuple(Recompiled(*stamps, count) for stamps, count in changes.most_common())
