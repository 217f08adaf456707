"""The loops of a kernel in two builds, paired, and what moved in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from kernelinfo.compare.messages import say
from kernelinfo.kernel.code_object import CLASSES, NONE, LoopCounts, matrix_loops

_IN_WORDS = ("copies", "instructions", *(name for name in CLASSES if name != "copies"))
_MOST_TOLD = 3


class LoopMove(NamedTuple):
    """A loop of which the counts moved, or that one build has alone."""

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
        old, new = ((loop.counts if loop else NONE).by_class for loop in self)
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

    Loops that one build has alone are left out unless they have matrix instructions and no loop
    inside them has. Empty if the loops of a build are not known.
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
    """The first moves. A loop that moved as one inside it did is left out."""
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
"""What two loops have in common, and the share of their instructions, by class, that they need to
have in common. The strictest first."""


def paired(old: Sequence[LoopCounts], new: Sequence[LoopCounts]) -> _Pairs:
    """Each loop once, with the same loop of the other build or None.

    Loops of one source line and depth are paired first, then those of one line that are alike, then
    those of one depth with matrix instructions, those that are nearly equal, and those of one depth
    that are alike. Among several the order of both builds is kept, and the pairs are those that
    have most in common.
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
    """Positions of loops that are pairs: as many in order as have most in common together."""
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
    """How many of the instructions two loops have in common by class, from above 0 to 1."""
    common = sum(map(min, before.counts.by_class, after.counts.by_class))
    return (1 + 2 * common) / (1 + before.counts.instructions + after.counts.instructions)
