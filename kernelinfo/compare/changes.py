"""What moved between two summaries of one kernel, whether it costs, and under which limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel.numbers import BY_FIELD, NUMBERS
from kernelinfo.occupancy.limits import RESOURCES

_FIELDS = tuple(BY_FIELD)
_values = attrgetter(*_FIELDS)

Match = Literal["exact", "name", "namespace", "base-name"]
"""Mangled and demangled name; the demangled name; template arguments and parameters under another
namespace; only with `loose` the name without any of these. The last two only where no other kernel
that is left has it."""

Effect = Literal["worse", "mixed", "better", "changed", "moved", "same"]
"""Waves lost, spills or scratch gained; that, and better in something else; better alone; another
launch, or a number that only one build has; registers, LDS or code within their steps; nothing."""


class Move(NamedTuple):
    """One number that is not what it was; None where an input does not say."""

    measure: str
    """Its field of `KernelSummary`."""
    old: float | None
    new: float | None

    @property
    def worse(self) -> bool:
        """Waves lost, or spills or scratch gained."""
        return self._gain() < 0

    @property
    def better(self) -> bool:
        return self._gain() > 0

    @property
    def affects(self) -> bool:
        """Whether it is more than registers, LDS and code within the steps of the hardware.

        To learn that there are no spills affects nothing, to learn of some does.
        """
        return BY_FIELD[self.measure].affects and (self.old or 0) != (self.new or 0)

    def _gain(self) -> float:
        number = BY_FIELD[self.measure]
        if self.old is None or self.new is None or not (number.affects and number.better):
            return 0
        return self.new - self.old if number.is_gain else self.old - self.new


class Pair(NamedTuple):
    """A kernel in the old and in the new build."""

    old: KernelSummary
    new: KernelSummary
    match: Match = "exact"

    @property
    def renamed(self) -> bool:
        """Matched by less than its whole name."""
        return self.match != "exact"

    @property
    def one_processor(self) -> bool:
        """Whether both run on the same, whatever its features; else waves do not compare."""
        return self.old.processor == self.new.processor

    @property
    def moves(self) -> tuple[Move, ...]:
        """All numbers that differ.

        Of one processor waves are compared. Another may have other slots and waves of another size:
        there the share of its slots is, and how large a wave is says nothing.
        """
        before, after = _values(self.old), _values(self.new)
        if before == after:
            return ()
        aside = ("percent",) if self.one_processor else ("waves_per_simd", "wave_size")
        return tuple(
            Move(measure, was, now)
            for measure, was, now in zip(_FIELDS, before, after, strict=True)
            if was != now and measure not in aside
        )

    @property
    def effect(self) -> Effect:
        """What the moves come to."""
        return effect(self.moves)

    @property
    def affected(self) -> bool:
        """Whether it is not only within the steps of the hardware that something moved."""
        return any(move.affects for move in self.moves)

    @property
    def regressed(self) -> bool:
        """Waves lost, or spills or scratch gained."""
        return any(move.worse for move in self.moves)

    @property
    def why(self) -> str:
        """What moved in words: `VGPR: 94 → 98 used, 96 → 104 allocated, 5 → 4 waves/SIMD`.

        Where it affects the kernel, the limit that binds is named and what moved under it; else all
        that moved. Empty where nothing did.
        """
        moved = {move.measure: move for move in self.moves}
        if not any(move.affects for move in moved.values()):
            return "; ".join(_topics(_TOPICS, moved))
        of_occupancy = [
            _of_occupancy(self, move, moved)
            for move in moved.values()
            if BY_FIELD[move.measure].topic == "occupancy"
        ]
        launch, rest = _topics(("launch",), moved), _topics(("spills", "scratch"), moved)
        return "; ".join([*launch, *of_occupancy, *rest])

    @property
    def why_waves(self) -> str:
        """The part of it that is about waves per SIMD, of kernels that have other waves now."""
        moved = {move.measure: move for move in self.moves}
        return _of_occupancy(self, moved["waves_per_simd"], moved)


def effect(found: Sequence[Move]) -> Effect:
    """What the moves of one kernel come to."""
    worse, better = any(move.worse for move in found), any(move.better for move in found)
    if worse or better:
        return "mixed" if worse and better else "worse" if worse else "better"
    if any(move.affects for move in found):
        return "changed"
    return "moved" if found else "same"


def _of_occupancy(pair: Pair, occupancy: Move, moved: dict[str, Move]) -> str:
    """The limit that costs waves, or that gave way."""
    old, new = pair.old, pair.new
    topics = [RESOURCES[limit] for limit in (old if occupancy.better else new).limiters]
    parts = list(_topics((topic for topic in topics if topic != "scratch"), moved))
    reached = "cannot launch now"
    if occupancy.new != 0:
        unit = BY_FIELD[occupancy.measure].unit
        before, after = bounded(occupancy.old, old), bounded(occupancy.new, new)
        reached = f"{before} → {after} {unit}"
    parts[-1:] = [f"{parts[-1]}, {reached}" if parts else f"{' '.join(topics) or '?'}: {reached}"]
    if occupancy.better and new.limiters != old.limiters:
        parts.append("now limited by " + " ".join(RESOURCES[limit] for limit in new.limiters))
    return "; ".join(parts)


def bounded(value: float | None, kernel: KernelSummary) -> str:
    """`4`; `≤4` where that is an upper bound; `?` where the input does not say."""
    if value is None:
        return "?"
    return f"{'≤' if kernel.exact is False else ''}{value:.4g}"


_TOPICS = dict.fromkeys(one.topic for one in NUMBERS if one.topic != "occupancy")


def _topics(topics: Iterable[str], moved: dict[str, Move]) -> Iterator[str]:
    for topic in topics:
        parts = [
            f"{_change(moved[number.field])} {number.unit}"
            for number in NUMBERS
            if number.topic == topic and number.field in moved
        ]
        if parts:
            yield f"{topic}: {', '.join(parts)}"


def _change(move: Move) -> str:
    old, new = ("?" if value is None else f"{value:.7g}" for value in (move.old, move.new))
    return f"{old} → {new}"
