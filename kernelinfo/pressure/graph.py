"""Blocks and the ways between them, in flat arrays: a function may have 300,000 blocks."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

_NONE = -1


class BlockLists(NamedTuple):
    """Lists of blocks, one behind the other in one array."""

    starts: array[int]  # position of the first block of each list; at the end, number of blocks
    blocks: array[int]

    def of(self, number: int) -> array[int]:
        """The blocks of one list."""
        return self.blocks[self.starts[number] : self.starts[number + 1]]


class Graph:
    """A flow graph. Block 0 is the entry."""

    def __init__(self, after: BlockLists) -> None:
        """`after` holds the successors of each block."""
        self.after = after
        self.before = _reversed(after)
        """Predecessors of each block."""
        self.order, self.preorder, self.parents = _walked(after)
        """Reachable blocks in postorder and in preorder; the block before each in its tree."""
        self.groups = _groups(self.order, self.before)
        """Strongly connected blocks. A group precedes the groups that it leads to."""
        self.group_of = array("i", [_NONE]) * (len(after.starts) - 1)
        """Number of each block's group; −1 for an unreachable block."""
        starts, blocks = self.groups
        for group in range(len(starts) - 1):
            for position in range(starts[group], starts[group + 1]):
                self.group_of[blocks[position]] = group

    def is_reached(self, block: int) -> bool:
        """True if a path leads from the entry to a block."""
        return self.group_of[block] != _NONE


def _reversed(edges: BlockLists) -> BlockLists:
    """For each block, the blocks in whose list it is, in ascending order."""
    starts, ways = edges
    sizes = array("i", [0]) * len(starts)
    for way in ways:
        sizes[way + 1] += 1
    begins = array("i", accumulate(sizes))
    free, found = begins[:], array("i", ways)
    for block in range(len(starts) - 1):
        for way in ways[starts[block] : starts[block + 1]]:
            found[free[way]] = block
            free[way] += 1
    return BlockLists(begins, found)


def _walked(after: BlockLists) -> tuple[array[int], array[int], array[int]]:
    """A depth-first walk: blocks in postorder, in preorder, and the parent of each block."""
    starts, ways = after
    postorder, preorder = array("i"), array("i")
    seen = bytearray(len(starts) - 1)
    parents = array("i", [_NONE]) * len(seen)
    pending = [0] if seen else []
    while pending:
        block = pending.pop()
        if block < 0:
            postorder.append(~block)
        elif not seen[block]:
            seen[block] = 1
            preorder.append(block)
            pending.append(~block)
            for way in ways[starts[block] : starts[block + 1]][::-1]:
                if not seen[way]:
                    parents[way] = block
                    pending.append(way)
    return postorder, preorder, parents


def _groups(order: Sequence[int], before: BlockLists) -> BlockLists:
    """The strongly connected blocks, by Kosaraju's algorithm."""
    starts, ways = before
    left = bytearray(len(starts) - 1)
    for block in order:
        left[block] = 1
    begins, found = array("i"), array("i")
    for first in reversed(order):
        if not left[first]:
            continue
        left[first] = 0
        begins.append(len(found))
        found.append(first)
        position = begins[-1]
        while position < len(found):
            block = found[position]
            position += 1
            for other in ways[starts[block] : starts[block + 1]]:
                if left[other]:
                    left[other] = 0
                    found.append(other)
    begins.append(len(found))
    return BlockLists(begins, found)
