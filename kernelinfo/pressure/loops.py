"""The loops of one function: natural loops in a forest, as LLVM's LoopInfo finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")
_NONE = -1


class Loop(NamedTuple):
    """One natural loop. Back edges to the same header belong to the same loop."""

    header: int  # a block
    depth: int  # 1 for an outermost loop
    begin: int  # its first block in the text
    parent: int | None  # position of the loop around it
    position: int  # in the forest, where a loop precedes the loops inside it
    last: int  # position of the last loop inside it; its own if it has none


class Loops:
    """The forest of loops, and the innermost loop around each block."""

    def __init__(
        self, ways: Sequence[Sequence[int]], before: Sequence[Sequence[int]], order: Sequence[int]
    ) -> None:
        """Find the loops.

        `ways` holds the successors of each block, `before` its predecessors, `order` the reachable
        blocks in postorder. LLVM LoopInfoImpl.h, `LoopInfoBase::analyze`: inner headers first; each
        loop is flooded backwards from its back edges, and passes each loop inside it in one step.
        """
        enter, leave = dominance(ways, before)
        innermost = [_NONE] * len(ways)
        headers: list[int] = []
        parents: list[int] = []
        outermost: list[int] = []  # union-find: a loop around each loop
        for header in order:
            first, end = enter[header], leave[header]
            pending = [block for block in before[header] if first <= enter[block] < end]
            if not pending:
                continue
            loop = len(headers)
            headers.append(header)
            parents.append(_NONE)
            outermost.append(loop)
            innermost[header] = loop
            while pending:
                block = pending.pop()
                if enter[block] == _NONE:
                    continue
                if innermost[block] == _NONE:
                    innermost[block] = loop
                else:
                    inner = _root(outermost, innermost[block])
                    if inner == loop:
                        continue
                    parents[inner] = outermost[inner] = loop
                    block = headers[inner]
                pending += before[block]
        self.forest = _forest(headers, parents, innermost)
        """All loops. A loop precedes the loops inside it."""
        positions = {loop.header: loop.position for loop in self.forest}
        self._innermost = [
            _NONE if loop == _NONE else positions[headers[loop]] for loop in innermost
        ]

    def around(self, block: int) -> Loop | None:
        """The innermost loop around a block; None outside loops."""
        position = self._innermost[block]
        return None if position == _NONE else self.forest[position]

    def holds(self, loop: Loop, block: int) -> bool:
        """True if a block is in a loop or in one inside it."""
        return loop.position <= self._innermost[block] <= loop.last

    def gathered(self, values: dict[int, _T], add: Callable[[_T, _T], _T]) -> dict[int, _T]:
        """Position of each loop → its value combined with those of the loops inside it."""
        found = dict(values)
        for loop in reversed(self.forest):
            if loop.parent is not None and loop.position in found:
                inner = found[loop.position]
                outer = found.get(loop.parent)
                found[loop.parent] = inner if outer is None else add(outer, inner)
        return found


def _root(outermost: list[int], loop: int) -> int:
    """The outermost loop found so far around a loop. Halves the path."""
    while outermost[loop] != loop:
        outermost[loop] = outermost[outermost[loop]]
        loop = outermost[loop]
    return loop


def _forest(
    headers: Sequence[int], parents: Sequence[int], innermost: Sequence[int]
) -> tuple[Loop, ...]:
    """The loops in forest order. A loop's number is lower than that of the loop around it."""
    begins = list(headers)
    for block, loop in enumerate(innermost):
        if loop != _NONE:
            begins[loop] = min(begins[loop], block)
    sizes = [1] * len(headers)
    for loop, parent in enumerate(parents):
        if parent != _NONE:
            sizes[parent] += sizes[loop]
            begins[parent] = min(begins[parent], begins[loop])
    found: dict[int, Loop] = {}
    positions = [0] * len(headers)
    free = [0] * len(headers)  # position of the next loop inside each
    next_outermost = 0
    for loop in reversed(range(len(headers))):
        parent, depth, around = parents[loop], 1, None
        if parent == _NONE:
            at, next_outermost = next_outermost, next_outermost + sizes[loop]
        else:
            at, around = free[parent], positions[parent]
            depth = found[around].depth + 1
            free[parent] += sizes[loop]
        positions[loop], free[loop] = at, at + 1
        found[at] = Loop(headers[loop], depth, begins[loop], around, at, at + sizes[loop] - 1)
    return tuple(found[position] for position in range(len(found)))


def dominance(
    ways: Sequence[Sequence[int]], before: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]]:
    """Begin and end of each block in the dominator tree; −1 for unreachable blocks.

    Block a dominates block b if `begin[a] <= begin[b] < end[a]`.
    """
    number, blocks, parents = _depth_first(ways)
    tree = _immediate_dominators(number, blocks, parents, before)
    sizes = [1] * len(blocks)
    for block in range(len(blocks) - 1, 0, -1):
        sizes[tree[block]] += sizes[block]
    begin, end = [_NONE] * len(ways), [_NONE] * len(ways)
    free = [0] * len(blocks)  # begin of the next block under each
    for block, size in enumerate(sizes):
        at = free[tree[block]]
        free[tree[block]] += size
        free[block] = at + 1
        begin[blocks[block]], end[blocks[block]] = at, at + size
    return begin, end


def _immediate_dominators(
    number: Sequence[int],
    blocks: Sequence[int],
    parents: Sequence[int],
    before: Sequence[Sequence[int]],
) -> list[int]:
    """The number of the immediate dominator of each numbered block; 0 for the first.

    Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", with path
    compression: O(m log n).
    """
    semi = list(range(len(blocks)))
    best, found = list(semi), [0] * len(blocks)
    ancestors = [_NONE] * len(blocks)
    waiting: dict[int, list[int]] = {}
    """Semidominator → blocks below its children that have it."""
    for block in range(len(blocks) - 1, 0, -1):
        least = block
        for other in before[blocks[block]]:
            nearest = number[other]
            if nearest > block:
                nearest = _least(ancestors, best, semi, nearest)
            if nearest != _NONE and semi[nearest] < least:
                least = semi[nearest]
        semi[block] = least
        parent = ancestors[block] = parents[block]
        if least == parent:
            found[block] = parent
        else:
            waiting.setdefault(least, []).append(block)
        for other in waiting.pop(parent, ()):
            nearest = _least(ancestors, best, semi, other)
            found[other] = nearest if semi[nearest] < semi[other] else parent
    for block in range(1, len(blocks)):
        if found[block] != semi[block]:
            found[block] = found[found[block]]
    return found


def _depth_first(ways: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[int]]:
    """Depth-first number of each block, blocks by number, and number of each one's parent.

    The number of an unreachable block is −1.
    """
    number = [_NONE] * len(ways)
    blocks: list[int] = []
    parents: list[int] = []
    pending = [(0, _NONE)] if ways else []
    while pending:
        block, parent = pending.pop()
        if number[block] == _NONE:
            own = number[block] = len(blocks)
            blocks.append(block)
            parents.append(parent)
            for way in ways[block]:
                if number[way] == _NONE:
                    pending.append((way, own))
    return number, blocks, parents


def _least(ancestors: list[int], best: list[int], semi: Sequence[int], block: int) -> int:
    """The block with the least semidominator on the path to the root of a linked tree.

    Compresses the path. The paper's EVAL.
    """
    above = ancestors[block]
    if above == _NONE or ancestors[above] == _NONE:
        return best[block]  # the usual case: the path has one step
    way = []
    while ancestors[above] != _NONE:
        way.append(block)
        block, above = above, ancestors[above]
    root, nearest = above, best[block]
    for below in reversed(way):
        if semi[nearest] < semi[best[below]]:
            best[below] = nearest
        else:
            nearest = best[below]
        ancestors[below] = root
    return nearest
