"""The loops of a function: natural loops of its graph, as LLVM's own LoopInfo finds them."""

from __future__ import annotations

from collections.abc import Sequence

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.flow import Block, postorder, predecessors


class Loop(NamedTuple):
    """One natural loop."""

    header: int
    """A block."""
    blocks: frozenset[int]
    """Inner loops included."""
    depth: int
    """1 for an outermost loop."""


def find_loops(blocks: Sequence[Block]) -> tuple[Loop, ...]:
    """Every loop, in the order of the text; back edges to one header make one loop."""
    ways = [block.branches for block in blocks]
    before = predecessors(ways)
    order = postorder(ways)
    dominators = _dominators(order, before)
    rank = {block: position for position, block in enumerate(order)}
    bodies: dict[int, set[int]] = {}
    for block in order:
        for way in ways[block]:
            if rank[way] >= rank[block] and _dominates(dominators, way, block):
                body = bodies.setdefault(way, {way})
                _collect(body, block, before, dominators)
    return tuple(
        Loop(header, frozenset(bodies[header]), sum(header in body for body in bodies.values()))
        for header in sorted(bodies)
    )


def _dominators(order: Sequence[int], before: Sequence[Sequence[int]]) -> dict[int, int]:
    """The immediate dominator of each block that is reached.

    Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    """
    rank = {block: position for position, block in enumerate(order)}
    found = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [other for other in before[block] if other in found]
            nearest = known[0]
            for other in known[1:]:
                nearest = _common(found, rank, nearest, other)
            changed |= found.get(block) != nearest
            found[block] = nearest
    return found


def _common(dominators: dict[int, int], rank: dict[int, int], one: int, other: int) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = dominators[one]
        while rank[other] < rank[one]:
            other = dominators[other]
    return one


def _dominates(dominators: dict[int, int], one: int, other: int) -> bool:
    while other != one and other != dominators[other]:
        other = dominators[other]
    return other == one


def _collect(
    body: set[int], block: int, before: Sequence[Sequence[int]], reached: dict[int, int]
) -> None:
    """Add all blocks from which a back edge's start is reached without the header."""
    pending = [block]
    while pending:
        found = pending.pop()
        if found not in body and found in reached:
            body.add(found)
            pending += before[found]
