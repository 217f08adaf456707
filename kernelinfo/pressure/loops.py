"""The loops of one function: natural loops in a forest, as LLVM's LoopInfo finds them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from kernelinfo.pressure.flow import BlockLists, Flow

_T = TypeVar("_T")
_NONE = -1


class Loop(NamedTuple):
    """One natural loop. Back edges to the same header belong to the same loop."""

    header: int  # a block
    depth: int  # 1 for an outermost loop
    parent: int | None  # position of the loop around it
    position: int  # in the forest, where a loop precedes the loops inside it
    last: int  # position of the last loop inside it; its own if it has none


class Loops:
    """The forest of loops: each loop comes before the loops inside it."""

    def __init__(self, flow: Flow) -> None:
        """Find the loops.

        The search visits inner headers first, as LLVM's does (LoopInfoImpl.h,
        `LoopInfoBase::analyze`). It finds the blocks of a loop backwards from the loop's back
        edges, and passes a loop inside in one step.
        """
        starts, ways = flow.before
        enter, leave = dominance(flow)
        innermost = array("i", [_NONE]) * len(enter)
        headers, parents = array("i"), array("i")
        outermost = array("i")  # union-find: a loop around each loop
        for header in flow.order:
            first, end = enter[header], leave[header]
            pending = [
                block
                for block in ways[starts[header] : starts[header + 1]]
                if first <= enter[block] < end or block == header
            ]
            if not pending:
                continue
            loop = len(headers)
            headers.append(header)
            parents.append(_NONE)
            outermost.append(loop)
            innermost[header] = loop
            while pending:
                block = pending.pop()
                if not flow.is_reached(block):
                    continue
                if innermost[block] == _NONE:
                    innermost[block] = loop
                else:
                    inner = _root(outermost, innermost[block])
                    if inner == loop:
                        continue
                    parents[inner] = outermost[inner] = loop
                    block = headers[inner]
                pending += ways[starts[block] : starts[block + 1]]
        self._set_forest(headers, parents, innermost)

    def _set_forest(
        self, headers: Sequence[int], parents: Sequence[int], innermost: Sequence[int]
    ) -> None:
        """Store the loops by their position in the forest. The arguments number loops as they were
        found: a loop has a lower number than the loop around it. −1, `_NONE`, is a root around all
        loops."""
        positions, self._lasts = _positions(parents)
        self._headers, self._parents = array("i", headers), array("i", parents)
        for header, parent, position in zip(headers, parents, positions, strict=False):
            self._headers[position], self._parents[position] = header, positions[parent]
        self._depths = array("i", [0]) * len(positions)
        for position, parent in enumerate(self._parents):
            self._depths[position] = self._depths[parent] + 1
        self._innermost = array("i", map(positions.__getitem__, innermost))
        """Position of the innermost loop around each block; −1 outside loops."""
        sizes = array("i", [0]) * len(positions)
        for position in self._innermost:
            sizes[position + 1] += 1
        sizes[0] = 0  # of the root
        inside = (block for block, loop in enumerate(innermost) if loop != _NONE)
        blocks = array("i", sorted(inside, key=self._innermost.__getitem__))
        self.blocks = BlockLists(array("i", accumulate(sizes)), blocks)
        """Blocks of each loop that are in no loop inside it."""

    def __len__(self) -> int:
        return len(self._headers)

    def __getitem__(self, position: int) -> Loop:
        parent = self._parents[position]
        return Loop(
            self._headers[position],
            self._depths[position],
            None if parent == _NONE else parent,
            position,
            self._lasts[position],
        )

    def __iter__(self) -> Iterator[Loop]:
        return map(self.__getitem__, range(len(self)))

    def around(self, block: int) -> Loop | None:
        """The innermost loop around a block; None outside loops."""
        position = self._innermost[block]
        return None if position == _NONE else self[position]

    def holds(self, loop: Loop, block: int) -> bool:
        """True if a block is in a loop or in a loop nested in it."""
        return loop.position <= self._innermost[block] <= loop.last

    def gathered(
        self,
        positions: Sequence[int],
        value_of: Callable[[Sequence[int]], _T],
        together: Callable[[Sequence[_T]], _T],
    ) -> Iterator[tuple[int, _T]]:
        """(position, value) of the loops at the given positions, which descend.

        `value_of` returns the value of some blocks, and `together` combines values. No block is
        visited twice: an outer loop reuses the values of the requested loops inside it.
        """
        starts, blocks = self.blocks
        inner: list[tuple[int, int, _T]] = []  # begin, end and value; the last one is the next
        for position in positions:
            begin, end = position, self._lasts[position] + 1
            visited = array("i")
            values: list[_T] = []
            while inner and inner[-1][0] < end:
                inner_begin, inner_end, value = inner.pop()
                visited += blocks[starts[begin] : starts[inner_begin]]
                values.append(value)
                begin = inner_end
            visited += blocks[starts[begin] : starts[end]]
            value = together([value_of(visited), *values])
            if self._parents[position] != _NONE:  # nobody takes values of 300,000 outermost loops
                inner.append((position, end, value))
            yield position, value


def _root(outermost: array[int], loop: int) -> int:
    """The outermost known loop around a loop. Shortens the path by halving."""
    while outermost[loop] != loop:
        outermost[loop] = outermost[outermost[loop]]
        loop = outermost[loop]
    return loop


def _positions(parents: Sequence[int]) -> tuple[array[int], array[int]]:
    """The position of each loop in the forest, followed by −1; and, by position, the position of
    the last loop inside it."""
    sizes = array("i", [1]) * (len(parents) + 1)
    for loop, parent in enumerate(parents):
        sizes[parent] += sizes[loop]
    positions, lasts = array("i", [_NONE]) * len(sizes), array("i", parents)
    free = array("i", [0]) * len(sizes)  # position of the next loop inside each
    for loop in reversed(range(len(parents))):
        position = positions[loop] = free[parents[loop]]
        free[parents[loop]] += sizes[loop]
        free[loop] = position + 1
        lasts[position] = position + sizes[loop] - 1
    return positions, lasts


def dominance(flow: Flow) -> tuple[array[int], array[int]]:
    """Begin and end of each block in a tree of dominators; −1 for blocks in no cycle of several
    blocks.

    Block a dominates block b of its cycle if `begin[a] <= begin[b] < end[a]`. A path that leaves a
    strongly connected group never returns, so one tree per group, rooted where paths enter it,
    gives the dominators in it.
    """
    starts, group_of = flow.groups.starts, flow.group_of
    is_cycle = [end - begin > 1 for begin, end in pairwise(starts)]
    blocks = array(
        "i",
        [
            _NONE,
            *(
                block_in_cycle
                for block_in_cycle in flow.walked[1]
                if is_cycle[group_of[block_in_cycle]]
            ),
        ],
    )
    tree = _immediate_dominators(flow, blocks)
    sizes = array("i", [1]) * len(tree)
    for number in range(len(tree) - 1, 0, -1):
        sizes[tree[number]] += sizes[number]
    begin = array("i", [_NONE]) * len(group_of)
    end = array("i", begin)
    free = array("i", [1]) * len(tree)  # begin of the next block under each
    for number in range(1, len(tree)):
        block, position = blocks[number], free[tree[number]]
        free[tree[number]] += sizes[number]
        free[number] = position + 1
        begin[block], end[block] = position, position + sizes[number]
    return begin, end


def _immediate_dominators(flow: Flow, blocks: Sequence[int]) -> array[int]:
    """For each block of a group, by number, the number of its immediate dominator.

    A number is an index of `blocks`, which are in preorder. Number 0 is an artificial root, which
    leads to all blocks that can be reached directly from another group. Lengauer and Tarjan, "A
    Fast Algorithm for Finding Dominators in a Flowgraph", with path compression: O(m log n).
    """
    (starts, ways), group_of = flow.before, flow.group_of
    parent_of = flow.walked[2]
    numbers = array("i", [_NONE]) * len(group_of)
    dominators = array("i", [0])
    for number in range(1, len(blocks)):
        block, parent = blocks[number], parent_of[blocks[number]]
        numbers[block] = number
        is_first = parent == _NONE or group_of[parent] != group_of[block]
        dominators.append(0 if is_first else numbers[parent])
    parents, semi = array("i", dominators), array("i", range(len(dominators)))
    best, ancestors = array("i", semi), array("i", [_NONE]) * len(dominators)
    waiting, behind = array("i", ancestors), array("i", ancestors)
    """Semidominator → the first waiting block that has it; block → the next one with the same."""
    for number in range(len(dominators) - 1, 0, -1):
        block, parent = blocks[number], parents[number]
        group, least = group_of[block], parent
        for other in ways[starts[block] : starts[block + 1]] if parent else ():
            if group_of[other] != group:
                least = 0 if flow.is_reached(other) else least
                continue
            nearest = numbers[other]
            if nearest > number:
                nearest = semi[_least(ancestors, best, semi, nearest)]
            if nearest < least:
                least = nearest
        semi[number], ancestors[number] = least, parent
        if least != parent:
            waiting[least], behind[number] = number, waiting[least]
        other = waiting[parent]
        waiting[parent] = _NONE
        while other != _NONE:
            nearest = _least(ancestors, best, semi, other)
            dominators[other] = nearest if semi[nearest] < parent else parent
            other = behind[other]
    for number in range(1, len(dominators)):
        if dominators[number] != semi[number]:
            dominators[number] = dominators[dominators[number]]
    return dominators


def _least(ancestors: array[int], best: array[int], semi: array[int], number: int) -> int:
    """The block with the least semidominator on the path to the root of a linked tree.

    Compresses the path. The paper's EVAL.
    """
    above = ancestors[number]
    if above == _NONE or ancestors[above] == _NONE:
        return best[number]  # the usual case: the path has one step
    way = []
    while ancestors[above] != _NONE:
        way.append(number)
        number, above = above, ancestors[above]
    root, nearest = above, best[number]
    for below in reversed(way):
        if semi[nearest] < semi[best[below]]:
            best[below] = nearest
        else:
            nearest = best[below]
        ancestors[below] = root
    return nearest
