"""Two builds compared: pairs of the same kernel, kernels that are gone, kernels that are new."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

from kernelinfo.compare.changes import Match
from kernelinfo.compare.changes import Pair as Pair
from kernelinfo.compare.summary import Build as Build
from kernelinfo.compare.summary import KernelSummary as KernelSummary
from kernelinfo.kernel import in_html
from kernelinfo.kernel.names import base_name, stem, without_namespace, without_unit
from kernelinfo.reading.blob import Problem


class Totals(NamedTuple):
    """Sums over the kernels of both builds. A kernel counts if both builds state the number."""

    waves_per_simd: float  # sum over the kernels
    percent: float
    """Occupancy in percent of the wave slots, summed over the kernels."""
    spilling: int
    """Number of kernels that spill."""
    scratch_bytes_per_lane: int  # sum in bytes over the kernels


class Comparison(NamedTuple):
    """All kernels of two builds, as pairs, gone or new."""

    pairs: tuple[Pair, ...]
    """In the order of the new build."""
    gone: tuple[KernelSummary, ...]
    """In the order of the old build."""
    new: tuple[KernelSummary, ...]
    """In the order of the new build."""
    old_compilers: tuple[str, ...]
    new_compilers: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    """Unread parts of either build. A kernel in them may seem gone or new."""
    notes: tuple[str, ...] = ()
    """Sentences on numbers that a build's file does not store."""
    names: tuple[str, str] | None = None
    """(old, new) as the user named the builds; None for reports in memory."""

    def _repr_html_(self) -> str:
        """What notebooks show: the text of `diff`."""
        return in_html(self)

    def pairs_of(self, kernels: Iterable[KernelSummary]) -> Iterator[Pair | None]:
        """The pair of each kernel of the new build; None for a kernel that the old one lacks."""
        waiting = [*reversed(self.pairs)]
        for kernel in kernels:
            yield waiting.pop() if waiting and waiting[-1].new is kernel else None

    @property
    def is_of_other_targets(self) -> bool:
        """True if no kernel is paired and the builds share no processor."""
        old, new = ({kernel.processor for kernel in side} for side in (self.gone, self.new))
        return not self.pairs and bool(old and new) and not old & new

    @property
    def retargeted(self) -> Mapping[tuple[str, str], int]:
        """(old target, new target) → number of pairs whose targets, features included, differ."""
        changes = ((pair.old.target, pair.new.target) for pair in self.pairs)
        return Counter((old, new) for old, new in changes if old != new)

    @property
    def totals(self) -> tuple[Totals, Totals]:
        """(old, new) totals."""
        waves, percent, scratch = (
            _known_sums(self.pairs, measure)
            for measure in ("waves_per_simd", "percent", "scratch_bytes_per_lane")
        )
        spilling = [
            sum(1 for kernel in kernels if kernel.numbers.vgpr_spills or kernel.numbers.sgpr_spills)
            for kernels in ([pair.old for pair in self.pairs], [pair.new for pair in self.pairs])
        ]
        old, new = map(Totals, waves, percent, spilling, scratch)
        return old, new


def _known_sums(pairs: Iterable[Pair], measure: str) -> tuple[Any, Any]:
    """(old, new) sums of a measure over the pairs in which both kernels have it."""
    amount = attrgetter(measure)
    values = ((amount(pair.old.numbers), amount(pair.new.numbers)) for pair in pairs)
    both_known = [both for both in values if None not in both]
    return sum(old for old, _ in both_known), sum(new for _, new in both_known)


def compare(
    old: Build, new: Build, *, across_targets: bool = False, loose: bool = False
) -> Comparison:
    """The comparison of two builds: each kernel is in one pair, in `gone` or in `new`.

    Kernels of a pair have the same target. If only the features of a processor changed, and each
    build has it with one set of features, the two targets count as the same. `across_targets` then
    pairs the remaining kernels of any target. `loose` also pairs kernels that share only a unique
    base name. The result does not depend on the order of kernels in a build.
    """
    scopes = [_scopes_by_target(old, new)]
    if across_targets:
        scopes.append(dict.fromkeys(scopes[0], ""))
    pairs, ours, theirs = _unchanged(old.kernels, new.kernels)
    levels = [level for level in _LEVELS if loose or level[0] != "base-name"]
    for scope, level in product(scopes, levels):
        if ours and theirs:
            for number, pair in _matched(ours, theirs, scope, level).items():
                pairs[number] = pair
    return Comparison(
        pairs=tuple(filter(None, pairs)),
        gone=tuple(ours.values()),
        new=tuple(theirs.values()),
        old_compilers=old.compilers,
        new_compilers=new.compilers,
        notes=(*old.notes, *new.notes),
    )


_Summaries = dict[int, KernelSummary]  # position in the build → kernel


def _unchanged(
    old: Sequence[KernelSummary], new: Sequence[KernelSummary]
) -> tuple[list[Pair | None], _Summaries, _Summaries]:
    """(pair or None for each kernel of the new build, remaining old kernels, remaining new
    kernels). The pairs are of equal kernels."""
    first: dict[KernelSummary, int] = {}
    after: dict[int, int] = {}  # position in the old build → the next one of an equal kernel
    for number in reversed(range(len(old))):
        if (later := first.get(old[number])) is not None:
            after[number] = later
        first[old[number]] = number
    pairs: list[Pair | None] = [None] * len(new)
    theirs: _Summaries = {}
    for number, kernel in enumerate(new):
        if (equal := first.pop(kernel, None)) is None:
            theirs[number] = kernel
            continue
        pairs[number] = Pair(old[equal], kernel)
        if equal in after:
            first[kernel] = after.pop(equal)
    left = sorted((*first.values(), *after.values()))
    return pairs, {number: old[number] for number in left}, theirs


_MatchKey = Callable[[KernelSummary], Hashable]
_Level = tuple[Match, _MatchKey]
"""One way to recognise a kernel: the name of the match and the key that both kernels share."""

_LEVELS: tuple[_Level, ...] = (
    ("exact", attrgetter("content")),  # those with unchanged numbers pair before changed ones
    ("exact", attrgetter("name", "symbol", "code_object")),
    ("exact", attrgetter("name", "symbol", "unit")),
    ("exact", attrgetter("name", "symbol", "options")),
    ("exact", attrgetter("name", "symbol")),
    ("name", lambda kernel: (without_unit(kernel.name), kernel.unit)),
    ("name", lambda kernel: without_unit(kernel.name)),
    ("namespace", lambda kernel: (_without_namespace(kernel), kernel.unit)),
    ("namespace", lambda kernel: _without_namespace(kernel)),
    ("base-name", lambda kernel: (stem(kernel.name), kernel.unit)),
    ("base-name", lambda kernel: stem(kernel.name)),
    ("base-name", lambda kernel: (base_name(kernel.name), kernel.unit)),
    ("base-name", lambda kernel: base_name(kernel.name)),
)
"""Strictest match first."""
_UNIQUE: tuple[Match, ...] = ("namespace", "base-name")
"""Matches that count only if each build has one unpaired kernel with the key."""


def _without_namespace(kernel: KernelSummary) -> str:
    """The name without namespace: `gemm<float>(float*)` of `void v1::gemm<float>(float*)`."""
    return without_namespace(without_unit(kernel.name))


Scopes = dict[str, str]  # target → scope; kernels of different scopes never pair


def _matched(old: _Summaries, new: _Summaries, scopes: Scopes, level: _Level) -> dict[int, Pair]:
    """Position in the new build → pair, for one level. Paired kernels leave `old` and `new`."""
    match, key_of = level
    by_key, pairs = _by_key(old, scopes, key_of), {}
    for key, theirs in _by_key(new, scopes, key_of).items():
        ours = by_key.get(key, ())
        if match in _UNIQUE and len(ours) + len(theirs) != 2:
            continue
        # Sorted by content, so that pairs do not depend on the order of a build.
        if len(ours) > 1:
            ours = sorted(ours, key=lambda number: _order(old[number]))
        if ours and len(theirs) > 1:
            theirs = sorted(theirs, key=lambda number: _order(new[number]))
        for before, after in zip(ours, theirs, strict=False):
            pairs[after] = Pair(old.pop(before), new.pop(after), match)
    return pairs


def _by_key(kernels: _Summaries, scopes: Scopes, key_of: _MatchKey) -> dict[Hashable, list[int]]:
    numbers: dict[Hashable, list[int]] = {}
    for number, kernel in kernels.items():
        numbers.setdefault((scopes[kernel.target], key_of(kernel)), []).append(number)
    return numbers


def _order(kernel: KernelSummary) -> tuple[tuple[bool, object], ...]:
    return tuple((value is not None, value) for value in kernel.content)


def _scopes_by_target(old: Build, new: Build) -> Scopes:
    """The scope of each target; only kernels of one scope are paired. Two targets of a processor
    share a scope if only one set of its features is gone and one is new."""
    ours, theirs = (
        dict.fromkeys((*build.targets, *(kernel.target for kernel in build.kernels)))
        for build in (old, new)
    )
    before = _by_processor(target for target in ours if target not in theirs)
    after = _by_processor(target for target in theirs if target not in ours)
    same = {
        targets[0]: after[processor][0]
        for processor, targets in before.items()
        if len(targets) == len(after.get(processor, ())) == 1
    }
    return {target: same.get(target, target) for target in (*ours, *theirs)}


def _by_processor(targets: Iterable[str]) -> dict[str, list[str]]:
    by_processor: dict[str, list[str]] = defaultdict(list)
    for target in targets:
        by_processor[target.partition(":")[0]].append(target)
    return by_processor
