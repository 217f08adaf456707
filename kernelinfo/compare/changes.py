"""Changes between two summaries of one kernel: the numbers, their effect and their limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from kernelinfo.compare.loops import LoopMove, moved_loops
from kernelinfo.compare.messages import say
from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.kernel.record import BY_FIELD, INSTRUCTIONS
from kernelinfo.model.limits import RESOURCES

_FIELDS = tuple(BY_FIELD)
_values = attrgetter(*_FIELDS)

Match = Literal["exact", "name", "namespace", "base-name"]
"""The part of the name that both kernels share. exact: mangled and demangled name. name: demangled
name. namespace: template arguments and parameters, in another namespace. base-name (only with
`loose`): the name without these. The last two must be unique among unpaired kernels."""

Effect = Literal["worse", "mixed", "better", "changed", "moved", "same"]
"""worse: waves lost, or spills or scratch gained. better: waves gained, or spills or scratch lost.
mixed: worse in one of these and better in another. changed: another launch, or a number that only
one build states. moved: only registers, LDS or code, within the steps of the hardware, or counts of
a loop. same: no number differs."""


class Move(NamedTuple):
    """One number that differs; None if an input does not state it."""

    measure: str
    """Name of a number, as of a `KernelNumbers`; percent in place of waves_per_simd if the
    processors differ."""
    old: float | None  # as it was
    new: float | None  # as it is

    @property
    def worse(self) -> bool:
        """Waves lost, or spills or scratch gained."""
        return self._gain() < 0

    @property
    def better(self) -> bool:
        return self._gain() > 0

    @property
    def affects(self) -> bool:
        """True unless only registers, LDS or code moved within a hardware step.

        None and 0 count as equal: a build that first states 0 spills is not affected.
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
        """True if less than the whole name matched."""
        return self.match != "exact"

    @property
    def one_processor(self) -> bool:
        """True if both kernels are for one processor, features ignored. Only then waves compare."""
        return self.old.processor == self.new.processor

    @property
    def compares_waves(self) -> bool:
        """True if waves per SIMD of the two compare: one processor, and one size of waves."""
        sizes = {self.old.numbers.wave_size, self.new.numbers.wave_size} - {None}
        return self.one_processor and len(sizes) < 2

    @property
    def moves(self) -> tuple[Move, ...]:
        """All numbers that differ.

        Same processor and wave size: compare waves. Otherwise compare percent, and ignore the wave
        size of different processors.
        """
        before, after = _values(self.old.numbers), _values(self.new.numbers)
        if before == after:
            return ()
        aside = ["percent" if self.compares_waves else "waves_per_simd"]
        aside += [] if self.one_processor else ["wave_size"]
        return tuple(
            Move(measure, was, now)
            for measure, was, now in zip(_FIELDS, before, after, strict=True)
            if was != now and measure not in aside
            if measure not in _COUNTED or None not in (was, now)
        )

    @property
    def loops(self) -> tuple[LoopMove, ...]:
        """Loops that moved; see `loops.moved_loops`."""
        return moved_loops(self.old.loops, self.new.loops)

    @property
    def effect(self) -> Effect:
        """The effect of all moves together."""
        of_numbers = effect(self.moves)
        return "moved" if of_numbers == "same" and self.loops else of_numbers

    @property
    def affected(self) -> bool:
        """True if a number moved by more than a hardware step allows."""
        return any(move.affects for move in self.moves)

    @property
    def regressed(self) -> bool:
        """Waves lost, or spills or scratch gained."""
        return any(move.worse for move in self.moves)

    @property
    def why(self) -> str:
        """The moves in words: `VGPR: 96 → 104 allocated, 94 → 98 used, 5 → 4 waves/SIMD`.

        If the kernel is affected, only the binding limit and its moves; otherwise all moves. Empty
        if no number moved.
        """
        moved = {move.measure: move for move in self.moves}
        if not any(move.affects for move in moved.values()):
            return "; ".join(_topics(_TOPICS, moved))
        of_occupancy = [
            _of_occupancy(self, move, moved)
            for move in moved.values()
            if BY_FIELD[move.measure].topic == "occupancy"
        ]
        launch, rest = (
            _topics(("launch",), moved),
            _topics(("spills", "scratch", "instructions"), moved),
        )
        return "; ".join([*launch, *of_occupancy, *rest])

    @property
    def beside(self) -> str:
        """Moved registers and LDS that `why` leaves out, because they limit nothing."""
        moved = {move.measure: move for move in self.moves}
        if not any(move.affects for move in moved.values()):
            return ""
        limiting = {
            RESOURCES[limit]
            for move in moved.values()
            if BY_FIELD[move.measure].topic == "occupancy"
            for limit in (self.old if move.better else self.new).numbers.limiters
        }
        return "; ".join(_topics((topic for topic in _RESOURCES if topic not in limiting), moved))

    @property
    def why_waves(self) -> str:
        """The part of `why` on waves per SIMD. The waves must have moved."""
        moved = {move.measure: move for move in self.moves}
        old, new = self.old.numbers.waves_per_simd, self.new.numbers.waves_per_simd
        waves = Move("waves_per_simd", old, new)
        return _of_occupancy(self, waves, moved)


def effect(moves: Sequence[Move]) -> Effect:
    """The effect of all moves of one kernel."""
    worse, better = any(move.worse for move in moves), any(move.better for move in moves)
    if worse or better:
        return "mixed" if worse and better else "worse" if worse else "better"
    if any(move.affects for move in moves):
        return "changed"
    return "moved" if moves else "same"


def _of_occupancy(pair: Pair, occupancy: Move, moved: dict[str, Move]) -> str:
    """The limit that costs waves now, or the old limit if waves were gained, in words."""
    old, new = pair.old.numbers, pair.new.numbers
    topics = [RESOURCES[limit] for limit in (old if occupancy.better else new).limiters]
    parts = list(_topics((topic for topic in topics if topic != "scratch"), moved))
    reached: str = say("moved-to-no-launch")
    if occupancy.new != 0:
        unit = BY_FIELD[occupancy.measure].unit
        before, after = bounded(occupancy.old, old), bounded(occupancy.new, new)
        reached = f"{before} → {after} {unit}"
    parts[-1:] = [f"{parts[-1]}, {reached}" if parts else f"{' '.join(topics) or '?'}: {reached}"]
    if occupancy.better and new.limiters != old.limiters:
        limiters = " ".join(RESOURCES[limit] for limit in new.limiters)
        parts.append(say("moved-to-limit", limiters=limiters))
    return "; ".join(parts)


def bounded(value: float | None, numbers: KernelNumbers) -> str:
    """The value as text: `4`, `≤4` for an upper bound other than 0, `?` for an unknown one."""
    if value is None:
        return "?"
    return f"{'≤' if numbers.exact is False and value else ''}{value:.4g}"


_RESOURCES = ("VGPR", "SGPR", "LDS")
_COUNTED = {column.field for column in INSTRUCTIONS}
"""Numbers that are compared only if both builds count instructions."""
_TOPICS = dict.fromkeys(column.topic for column in BY_FIELD.values() if column.topic != "occupancy")


def _topics(topics: Iterable[str], moved: dict[str, Move]) -> Iterator[str]:
    for topic in topics:
        parts = [
            f"{_change(moved[number.field])} {number.unit}"
            for number in BY_FIELD.values()
            if number.topic == topic and number.field in moved
        ]
        if parts:
            yield f"{topic}: {', '.join(parts)}"


def _change(move: Move) -> str:
    old, new = ("?" if value is None else f"{value:.7g}" for value in (move.old, move.new))
    return f"{old} → {new}"
