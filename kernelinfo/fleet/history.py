"""Histories of kernels over several builds, chained from comparisons of neighbouring builds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Match, Pair
from kernelinfo.compare.summary import Build, KernelSummary

_WAYS: tuple[Match, ...] = ("exact", "name", "namespace", "base-name")  # strictest first


class BuildTotals(NamedTuple):
    """Sums over all kernels of one build."""

    name: str
    kernels: int
    waves_per_simd: float
    spilling: int  # number of kernels that spill
    scratch_bytes_per_lane: int
    vgprs: int  # used, per lane
    code_bytes: int
    problems: int  # number of problems; kernels may be missing


class History(NamedTuple):
    """One kernel in all builds, also across renames."""

    kernels: tuple[KernelSummary | None, ...]  # one per build; None if the build lacks the kernel
    steps: tuple[tuple[str, Pair], ...]  # (build, change since the build before)

    @property
    def first(self) -> KernelSummary | None:
        return self.kernels[0]

    @property
    def last(self) -> KernelSummary | None:
        return self.kernels[-1]

    @property
    def latest(self) -> KernelSummary:
        """The kernel in the last build that has it."""
        return next(kernel for kernel in reversed(self.kernels) if kernel)

    @property
    def match(self) -> Match:
        """The loosest match among all steps."""
        return max((pair.match for _, pair in self.steps), key=_WAYS.index, default="exact")


class Trend(NamedTuple):
    """Builds of a dataset and the kernels that moved between them."""

    dataset: str
    builds: tuple[BuildTotals, ...]  # in the order of comparison
    steps: tuple[Comparison, ...]  # neighbouring builds compared, without unmoved kernels
    histories: tuple[History, ...]  # kernels that moved, went or came
    unmatched: tuple[str, ...] = ()  # a message for each -k and --target without a kernel

    @property
    def whole(self) -> Comparison:
        """The comparison of the first build with the last."""
        return Comparison(
            pairs=tuple(
                Pair(one.first, one.last, one.match)
                for one in self.histories
                if one.first and one.last
            ),
            gone=tuple(one.latest for one in self.histories if one.last is None),
            new=tuple(one.last for one in self.histories if one.last and one.first is None),
            old_compilers=self.steps[0].old_compilers,
            new_compilers=self.steps[-1].new_compilers,
        )


def histories(
    names: Sequence[str], steps: Sequence[Comparison], builds: Sequence[Build]
) -> Iterator[History]:
    """One history per kernel; a kernel and its renamed successor share one."""
    first = [_Chain([kernel], []) for kernel in builds[0].kernels]
    chains, every = {id(chain.kernels[0]): chain for chain in first}, first
    for number, (name, step) in enumerate(zip(names[1:], steps, strict=True), 1):
        going_on: dict[int, _Chain] = {}
        for pair in step.pairs:
            chain = going_on[id(pair.new)] = chains[id(pair.old)]
            chain.kernels.append(pair.new)
            if pair.moves or pair.renamed:
                chain.steps.append((name, pair))
        for kernel in step.new:
            chain = going_on[id(kernel)] = _Chain([*[None] * number, kernel], [])
            every.append(chain)
        chains = going_on
    for chain in every:
        missing = len(builds) - len(chain.kernels)
        yield History((*chain.kernels, *[None] * missing), tuple(chain.steps))


class _Chain(NamedTuple):
    """A history under construction, up to some build."""

    kernels: list[KernelSummary | None]
    steps: list[tuple[str, Pair]]
