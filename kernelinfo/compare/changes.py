"""Changes between two summaries of one kernel: the numbers, their effect and their limit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from kernelinfo.compare.messages import say
from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.kernel.code_object import CLASSES, LoopCounts, matrix_loops
from kernelinfo.kernel.record import BY_FIELD, INSTRUCTIONS
from kernelinfo.model.limits import RESOURCES

# The loops of a kernel in two builds, paired, and what moved in them.

_IN_WORDS = ("copies", "instructions", *(name for name in CLASSES if name != "copies"))
_MOST_TOLD = 3


class LoopMove(NamedTuple):
    """A loop whose counts moved, or that only one build has."""

    old: LoopCounts | None  # as it was; None for a new loop
    new: LoopCounts | None  # as it is; None for a loop that is gone

    @property
    def loop(self) -> LoopCounts:
        """The loop in the new build, or in the old one if it is gone."""
        loop = self.new or self.old
        assert loop is not None
        return loop

    @property
    def change(self) -> tuple[int, ...]:
        """How many more instructions of each class the loop has."""
        none = (0,) * len(CLASSES)
        old, new = (loop.counts.by_class if loop else none for loop in self)
        return tuple(after - before for before, after in zip(old, new, strict=True))

    def __str__(self) -> str:
        """`loop gemm.hip:21: copies 9 → 46, instructions 216 → 253, matrix 32`."""
        place, counts = name_of(self.loop), self.loop.counts
        if self.old is None or self.new is None:
            return say(
                "loop-gone" if self.new is None else "loop-new",
                loop=place,
                instructions=counts.instructions,
                matrix=counts.matrix,
            )
        parts = []
        for field in _IN_WORDS:
            before, after = getattr(self.old.counts, field), getattr(counts, field)
            noun = "LDS" if field == "lds" else field.replace("_", " ")
            if before != after:
                parts.append(f"{noun} {before} → {after}")
            elif field == "matrix" and after:
                parts.append(f"{noun} {after}")
        return say("loop-moved", loop=place, counts=", ".join(parts))


def name_of(loop: LoopCounts) -> str:
    """`gemm.hip:21`, the label of its header, or its depth."""
    if loop.source:
        return f"{loop.source.file.rpartition('/')[2]}:{loop.source.line}"
    return loop.label or say("loop-depth", depth=loop.depth)


def moved_loops(
    old: Sequence[LoopCounts] | None, new: Sequence[LoopCounts] | None
) -> tuple[LoopMove, ...]:
    """The loops whose counts moved: those with matrix instructions first, then the most moved.

    Loops that only one build has are left out, unless they are the innermost with matrix
    instructions. Empty if the loops of a build are not known.
    """
    if old is None or new is None or [*map(_content, old)] == [*map(_content, new)]:
        return ()
    innermost = {id(loop) for loops in (old, new) for loop in matrix_loops(loops)}

    def is_matrix_loop(move: LoopMove) -> bool:
        return any(id(loop) in innermost for loop in move)

    moves = []
    for before, after in paired(old, new):
        move = LoopMove(before, after)
        if before and after:
            if before.counts.by_class != after.counts.by_class:
                moves.append(move)
        elif is_matrix_loop(move):
            moves.append(move)
    moves.sort(key=lambda move: (not is_matrix_loop(move), -sum(map(abs, move.change))))
    return tuple(moves)


def in_words(moves: Sequence[LoopMove]) -> Iterator[str]:
    """The first moves, in words. A loop that moved exactly like a loop inside it is left out."""
    told: dict[tuple[int, ...], LoopMove] = {}
    for move in moves:
        told.setdefault(move.change, move)
    yield from map(str, [*told.values()][:_MOST_TOLD])
    if len(told) > _MOST_TOLD:
        yield say("loops-further", loops=len(told) - _MOST_TOLD)


def _content(loop: LoopCounts) -> tuple[object, ...]:
    return loop.source, loop.depth, loop.counts


_NumberedLoop = tuple[int, LoopCounts]
"""A loop, and its position among those of its build."""
_Pairs = list[tuple[LoopCounts | None, LoopCounts | None]]
_LEVELS: tuple[tuple[Callable[[LoopCounts], Hashable], float], ...] = (
    (lambda loop: loop.source and (loop.source, loop.depth), 0.0),
    (lambda loop: loop.source, 0.5),
    (lambda loop: loop.counts.matrix and (loop.depth,), 0.0),
    (lambda loop: True, 0.9),
    (lambda loop: (loop.depth,), 0.5),
)
"""(key that two loops must share, least share of their instructions, by class, that must agree),
strictest first. A loop with a false key is not paired by it."""


def paired(old: Sequence[LoopCounts], new: Sequence[LoopCounts]) -> _Pairs:
    """Each loop once, with the same loop of the other build, or None if there is none.

    First, loops of one source line and depth are paired. Then follow, among the rest, similar loops
    of one line, loops of one depth with matrix instructions, nearly equal loops, and similar loops
    of one depth. Of several candidates, the pairs with the most in common are taken; they keep the
    order of both builds.
    """
    ours, theirs = dict(enumerate(old)), dict(enumerate(new))
    pairs: _Pairs = []
    for key_of, least in _LEVELS:
        groups: dict[Hashable, tuple[list[_NumberedLoop], list[_NumberedLoop]]] = {}
        for side, loops in enumerate((ours, theirs)):
            for place in loops.items():
                if key := key_of(place[1]):
                    groups.setdefault(key, ([], []))[side].append(place)
        for left, right in groups.values():
            for before, after in _aligned(left, right, least):
                pairs.append((ours.pop(before), theirs.pop(after)))
    return [
        *pairs,
        *((loop, None) for loop in ours.values()),
        *((None, n) for n in theirs.values()),
    ]


def _aligned(
    left: Sequence[_NumberedLoop], right: Sequence[_NumberedLoop], least: float
) -> Iterator[tuple[int, int]]:
    """Positions of the loops that form pairs, in order, such that they have the most in common in
    total."""
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    shares = [[_share(before, after) for _, after in right] for _, before in left]
    for row in reversed(range(len(left))):
        for column in reversed(range(len(right))):
            alone = max(best[row + 1][column], best[row][column + 1])
            share = shares[row][column]
            both = best[row + 1][column + 1] + share if share >= least else 0.0
            best[row][column] = max(alone, both)
    row = column = 0
    while row < len(left) and column < len(right):
        here = best[row][column]
        if here == best[row + 1][column]:
            row += 1
        elif here == best[row][column + 1]:
            column += 1
        else:
            yield left[row][0], right[column][0]
            row, column = row + 1, column + 1


def _share(before: LoopCounts, after: LoopCounts) -> float:
    """The share of instructions, by class, that two loops have in common; above 0, at most 1."""
    common = sum(map(min, before.counts.by_class, after.counts.by_class))
    return (1 + 2 * common) / (1 + before.counts.instructions + after.counts.instructions)


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
    """A number that differs between two builds; a side is None if that input does not state it."""

    measure: str
    """Name of a field of `KernelNumbers`; `percent` in place of `waves_per_simd` if processor or
    wave size differs."""
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
        """True if the kernels matched by less than their whole names."""
        return self.match != "exact"

    @property
    def one_processor(self) -> bool:
        """True if both kernels are for the same processor, features ignored. Only then are waves
        comparable."""
        return self.old.processor == self.new.processor

    @property
    def compares_waves(self) -> bool:
        """True if the waves per SIMD of the two are comparable: same processor and same wave
        size."""
        sizes = {self.old.numbers.wave_size, self.new.numbers.wave_size} - {None}
        return self.one_processor and len(sizes) < 2

    @property
    def moves(self) -> tuple[Move, ...]:
        """All numbers that differ.

        Waves are compared if processor and wave size are the same; otherwise percent. The wave
        sizes of different processors are not compared.
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
        """Loops that moved; see `moved_loops`."""
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

        For an affected kernel: launch, the binding limit with its moves, spills, scratch and
        instructions; otherwise all moves. Empty if no number moved.
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
        """The part of `why` on waves per SIMD, which must have moved."""
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
    """In words, the limit that costs waves in the new build; if waves were gained, the limit in the
    old build."""
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
