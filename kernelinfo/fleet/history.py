"""Steps between neighbouring builds, and the histories of kernels that are chained from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, NamedTuple

from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.changes import Match, Pair
from kernelinfo.compare.summary import Build, KernelSummary, path_under
from kernelinfo.fleet.acceptance import without_versions
from kernelinfo.kernel.code_object import library_of
from kernelinfo.kernel.columns import KernelSums

# Steps of a trend: two neighbouring builds compared, library by library.


Whereabouts = Mapping[str, tuple[str, str]]
"""Code object -> its library, and its place: path below the root and member, both without
versions."""


def locate(code_object: str) -> tuple[str, str]:
    """(library, place) of a code object. It takes 0.1 ms, so kernels share the results
    (`Whereabouts`)."""
    path, _, member = code_object.partition(" › ")
    return library_of(path), path_under("", without_versions(path), without_versions(member))


class Night(NamedTuple):
    """One build of a trend: sums over all its kernels, and the kernels that moved in some build."""

    name: str  # as --build named it
    sums: KernelSums
    problems: int  # number of problems that are not accepted; kernels may be missing
    accepted_problems: int = 0  # problems that --accept-problems accepted
    labels: Mapping[str, str] = {}  # labels that --label gave to the build
    gaps: tuple[str, ...] = ()
    """Libraries with a problem that some other build lacks. Their missing kernels are taken from
    the previous build or, at the start of a trend, from the next one."""
    compilers: Mapping[str, frozenset[str]] = {}  # library -> stamps
    targets: tuple[str, ...] = ()
    movers: tuple[KernelSummary, ...] = ()  # kernels that moved in some build
    carried: frozenset[int] = frozenset()
    """`id` of each mover that `carry` took from a neighbouring build."""

    @property
    def all_compilers(self) -> tuple[str, ...]:
        """Stamps of all libraries, sorted."""
        return tuple(sorted(frozenset[str]().union(*self.compilers.values())))


def carry(nights: Sequence[Night], places: Whereabouts) -> list[Night]:
    """The builds with their gaps filled, so that a gap does not count as a change: a kernel that is
    missing there is taken from the previous build or, if the trend begins with gaps, from the first
    build after them."""
    carried = [*nights]
    for place in range(1, len(carried)):
        carried[place] = _fill(carried[place], carried[place - 1], set(carried[place].gaps), places)
    for place in reversed(range(len(carried) - 1)):
        shared = set(carried[place].gaps).intersection(*(night.gaps for night in carried[:place]))
        carried[place] = _fill(carried[place], carried[place + 1], shared, places)
    return carried


def _fill(night: Night, neighbour: Night, gaps: Set[str], places: Whereabouts) -> Night:
    """The build, with its gaps filled by the neighbour's movers."""
    if not gaps:
        return night

    def key(kernel: KernelSummary) -> tuple[str, ...]:
        return *places[kernel.code_object], kernel.target, kernel.symbol

    read = set(map(key, night.movers))
    in_gaps = (kernel for kernel in neighbour.movers if places[kernel.code_object][0] in gaps)
    lacking = [kernel for kernel in in_gaps if key(kernel) not in read]
    ids = night.carried | set(map(id, lacking))
    return night._replace(movers=(*night.movers, *lacking), carried=ids)


class NightStep(NamedTuple):
    """A build compared with the previous one."""

    comparison: Comparison
    recompiled: Mapping[tuple[tuple[str, ...], tuple[str, ...]], int]
    """(stamps that a library no longer has, stamps that it did not have before) -> number of such
    libraries, most first."""
    libraries: int  # number of libraries of both builds
    within_steps: int  # number of all kernels that moved within the steps of the hardware alone


def compare_nights(old: Night, new: Night, within_steps: int, places: Whereabouts) -> NightStep:
    """The step between two builds.

    `within_steps` is the number of kernels of the same name that moved only within the hardware's
    steps. Kernels are paired within their library, those of the same name and place first.
    Libraries that only one build has may have been renamed, so they are compared together.
    """
    both = (old.compilers.keys() | old.gaps) & (new.compilers.keys() | new.gaps)
    ours, theirs = (_group_by_library(night, both, places) for night in (old, new))
    shown: dict[int, KernelSummary] = {}
    comparisons = []
    for library in dict.fromkeys((*theirs, *ours)):
        before, after = (
            Build(tuple(_place(side.get(library, ()), places, shown)), (), targets=night.targets)
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
    """The number of pairs whose names, libraries or targets differ and that moved only within the
    hardware's steps."""
    renamed = (pair for pair in pairs if identify(pair.old) != identify(pair.new))
    return sum(pair.effect == "moved" for pair in renamed)


def identify(kernel: KernelSummary) -> tuple[str, str, str]:
    """Library without version, target and symbol."""
    return library_of(kernel.file), kernel.target, kernel.symbol


def _group_by_library(
    night: Night, both: Set[str], places: Whereabouts
) -> dict[str, list[KernelSummary]]:
    """The movers by library; libraries that only one build has form one group with an empty
    name."""
    movers: dict[str, list[KernelSummary]] = {}
    for kernel in night.movers:
        library, _ = places[kernel.code_object]
        movers.setdefault(library if library in both else "", []).append(kernel)
    return movers


def _place(
    movers: Iterable[KernelSummary], places: Whereabouts, shown: dict[int, KernelSummary]
) -> Iterator[KernelSummary]:
    """The kernels, with paths replaced by places, since paths differ from build to build. Adds to
    `shown`: each such kernel → the kernel with its path."""
    for kernel in movers:
        placed = kernel._replace(code_object=places[kernel.code_object][1])
        shown[id(placed)] = kernel
        yield placed


def _count_recompiled(
    old: Night, new: Night, both: Iterable[str]
) -> dict[tuple[tuple[str, ...], tuple[str, ...]], int]:
    changes = Counter(
        (tuple(sorted(before - after)), tuple(sorted(after - before)))
        for library in both
        if library in old.compilers.keys() & new.compilers.keys()
        and (before := old.compilers[library]) != (after := new.compilers[library])
    )
    return dict(changes.most_common())


_WAYS: tuple[Match, ...] = ("exact", "name", "namespace", "base-name")  # strictest first


By = Literal["library", "target", "limiter", "waves"]
"""Keys of groups: `limiter` is the limiters together, `waves` the waves per SIMD."""


class KernelGroup(NamedTuple):
    """Kernels with one value of `By`, in the first and in the last build."""

    key: str  # library, target, limiters or waves per SIMD
    old: KernelSums  # sums of the first build
    new: KernelSums  # sums of the last build
    waves_lost: float  # waves per SIMD that kernels of both builds lost


class History(NamedTuple):
    """One kernel in all builds, also across renames."""

    filled: tuple[KernelSummary | None, ...]
    """The kernel in each build: as read or, in a gap, as in a neighbouring build (`carry`); None if
    the build lacks it."""
    steps: tuple[tuple[str, Pair], ...]  # (build, change since the build before)
    unread: frozenset[int] = frozenset()  # indexes of builds in which it is in a gap

    @property
    def kernels(self) -> tuple[KernelSummary | None, ...]:
        """The kernel in each build; None if the build lacks it or could not be read there."""
        if not self.unread:
            return self.filled
        return tuple(None if n in self.unread else k for n, k in enumerate(self.filled))

    @property
    def first(self) -> KernelSummary | None:
        return self.filled[0]

    @property
    def last(self) -> KernelSummary | None:
        return self.filled[-1]

    @property
    def latest(self) -> KernelSummary:
        """The kernel in the last build that has it."""
        return next(kernel for kernel in reversed(self.filled) if kernel)

    @property
    def library(self) -> str:
        """The library in the latest build, without version."""
        return library_of(self.latest.file)

    @property
    def match(self) -> Match:
        """The loosest match among all steps."""
        return max((pair.match for _, pair in self.steps), key=_WAYS.index, default="exact")


class Trend(NamedTuple):
    """Builds of a dataset and the kernels that moved between them."""

    dataset: str  # address, without user, password and query
    builds: tuple[Night, ...]  # in the order of comparison
    steps: tuple[NightStep, ...]  # neighbouring builds compared, without unmoved kernels
    histories: tuple[History, ...]  # kernels that moved, went or came
    unmatched: tuple[str, ...] = ()  # a message per -k, --target or --member without a kernel
    unfinished: tuple[str, ...] = ()  # builds left out: their scan has not ended
    by: By | None = None  # as --by asked; None without it
    groups: tuple[KernelGroup, ...] = ()  # all kernels of the first and last build, by `by`
    same_names_within_steps: int = 0
    """Number of kernels with the same name in the first and last build that moved, but only within
    the hardware's steps."""

    @property
    def within_steps(self) -> int:
        """The number of kernels that moved only within the hardware's steps, from the first build
        to the last."""
        return self.same_names_within_steps + count_renamed_within_steps(self.whole.pairs)

    @property
    def whole(self) -> Comparison:
        """The comparison of the first build with the last."""
        first, last = self.steps[:1], self.steps[-1:]
        return Comparison(
            pairs=tuple(
                Pair(history.first, history.last, history.match)
                for history in self.histories
                if history.first and history.last
            ),
            gone=tuple(h.latest for h in self.histories if h.first and h.last is None),
            new=tuple(h.last for h in self.histories if h.last and h.first is None),
            old_compilers=first[0].comparison.old_compilers if first else (),
            new_compilers=last[0].comparison.new_compilers if last else (),
        )


def trace_histories(nights: Sequence[Night], steps: Sequence[NightStep]) -> list[History]:
    """One history per kernel. A renamed kernel continues the history of its old name. A kernel that
    reappears continues an ended history if exactly one has its library, target and symbol."""
    histories = [History((kernel,), ()) for kernel in nights[0].movers]
    places = {id(history.first): place for place, history in enumerate(histories)}
    """Id of a kernel of the build before -> place of its history."""
    ended = defaultdict[tuple[str, str, str], list[int]](list)
    for number, (night, step) in enumerate(zip(nights[1:], steps, strict=True), 1):
        going_on: dict[int, int] = {}
        for pair in step.comparison.pairs:
            place = going_on[id(pair.new)] = places[id(pair.old)]
            has_moved = bool(pair.moves or pair.renamed)
            histories[place] = _go_on(histories[place], pair, night.name, has_moved=has_moved)
        for kernel in step.comparison.new:
            before = ended.pop(identify(kernel), [])
            if len(before) == 1:
                place = before[0]
                pair = Pair(histories[place].latest, kernel)
                history = _pad(histories[place], number)
                histories[place] = _go_on(history, pair, night.name, has_moved=bool(pair.moves))
            else:
                place = len(histories)
                histories.append(History((*[None] * number, kernel), ()))
            going_on[id(kernel)] = place
        for kernel in step.comparison.gone:
            ended[identify(kernel)].append(places[id(kernel)])
        places = going_on
    carried = [night.carried for night in nights]
    return [_mark_unread(_pad(history, len(nights)), carried) for history in histories]


def _pad(history: History, builds: int) -> History:
    """The history, padded to this number of builds; None in those that it lacks."""
    return history._replace(filled=(*history.filled, *[None] * (builds - len(history.filled))))


def _go_on(history: History, pair: Pair, build: str, *, has_moved: bool) -> History:
    """The history, continued by the kernel of the next build."""
    steps = (*history.steps, (build, pair)) if has_moved else history.steps
    return history._replace(filled=(*history.filled, pair.new), steps=steps)


def _mark_unread(history: History, carried: Sequence[Set[int]]) -> History:
    unread = frozenset(n for n, kernel in enumerate(history.filled) if id(kernel) in carried[n])
    return history._replace(unread=unread)


def sum_waves_lost(histories: Iterable[History], by: By) -> Mapping[str, float]:
    """For each key of `by`, the waves per SIMD that its kernels lost from the first build to the
    last."""
    lost = defaultdict[str, float](float)
    for history in histories:
        first, last = history.first, history.last
        if first and last and Pair(first, last).compares_waves:
            fewer = (first.numbers.waves_per_simd or 0) - (last.numbers.waves_per_simd or 0)
            if fewer > 0:
                lost[_group_of(history, last, by)] += fewer
    return lost


def _group_of(history: History, kernel: KernelSummary, by: By) -> str:
    if by == "library":
        return history.library
    if by == "target":
        return kernel.target
    if by == "limiter":
        return " ".join(kernel.numbers.limiters) or "?"
    waves = kernel.numbers.waves_per_simd
    return "?" if waves is None else str(waves)
