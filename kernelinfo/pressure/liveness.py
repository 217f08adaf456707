"""Registers that may have been written before each block, and that are needed from it on."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from kernelinfo.pressure.graph import Graph

MOST_VISITS = 16  # of each block, on average; compiled code needs 2
_MOST_SHARED = 1 << 16  # sets; 300,000 blocks of one loop need some hundred different ones


class BlockEffects(NamedTuple):
    """Register sets of each block."""

    reads: list[int]  # read before the block writes them
    writes: list[int]
    defines: list[int]  # written with a defined value


def may_be_written(graph: Graph, defines: Sequence[int], entry: int) -> list[int]:
    """Registers that may have been written before each block.

    Nothing undoes a write, so all blocks of a group have the same registers. Equal sets of
    neighbours are one object.
    """
    begin, end = [0] * len(defines), [0] * len(defines)
    starts, ways = graph.before
    begins, blocks = graph.groups
    earlier = entry
    for number in range(len(begins) - 1):
        group = blocks[begins[number] : begins[number + 1]]
        for block in group:
            for other in ways[starts[block] : starts[block + 1]]:
                later = end[other] | earlier
                if later != earlier:
                    earlier = end[other] if later == end[other] else later
        is_loop = len(group) > 1 or group[0] in ways[starts[group[0]] : starts[group[0] + 1]]
        for block in group if is_loop else ():
            if defines[block] | earlier != earlier:
                earlier |= defines[block]
        for block in group:
            later = defines[block] | earlier
            begin[block], end[block] = earlier, earlier if later == earlier else later
        earlier = 0
    return begin


class _Progress(NamedTuple):
    """State of `needed_from`."""

    needed: list[int]  # of each block
    rank: array[int]  # of each block: its position in postorder, in the end in that of its group
    shared: dict[int, int]  # one object for equal sets

    def need(self, block: int, found: int) -> None:
        """Note what a block needs."""
        is_full = len(self.shared) >= _MOST_SHARED
        share = self.shared.get if is_full else self.shared.setdefault
        self.needed[block] = share(found, found)


def needed_from(graph: Graph, effects: BlockEffects) -> tuple[list[int], bool]:
    """Registers that each block or a later one may read before writing them.

    False if it took too long and registers are missing.
    """
    needed = [0] * len(effects.reads)
    rank = array("i", needed)
    for position, block in enumerate(graph.order):
        rank[block] = position
    progress = _Progress(needed, rank, {})
    starts, ways = graph.after
    begins, blocks = graph.groups
    left = MOST_VISITS * len(graph.order) + 1000
    for group in reversed(range(len(begins) - 1)):
        if begins[group + 1] - begins[group] > 1:
            left = _settle(graph, effects, group, progress, left)
            continue
        block, later = blocks[begins[group]], 0
        for way in ways[starts[block] : starts[block + 1]]:
            later = later | needed[way] if later else needed[way]
        progress.need(block, effects.reads[block] | later & ~effects.writes[block])
    return needed, left > 0


def _settle(graph: Graph, effects: BlockEffects, group: int, progress: _Progress, left: int) -> int:
    """Update what the blocks of a group need, in at most `left` visits. Returns the visits left."""
    (starts, ways), (befores, others) = graph.after, graph.before
    reads, writes, _ = effects
    (needed, rank, _), group_of = progress, graph.group_of
    order = sorted(graph.groups.of(group), key=rank.__getitem__)
    for position, block in enumerate(order):
        rank[block] = position
    is_waiting = bytearray(b"\1") * len(order)
    position = 0
    while position >= 0 and left:
        left -= 1
        is_waiting[position] = 0
        block, found = order[position], 0
        for way in ways[starts[block] : starts[block + 1]]:
            found = found | needed[way] if found else needed[way]
        if writes[block]:
            found &= ~writes[block]
        if reads[block]:
            found |= reads[block]
        if found != needed[block]:
            progress.need(block, found)
            for other in others[befores[block] : befores[block + 1]]:
                if group_of[other] == group:
                    is_waiting[rank[other]] = 1
        position = is_waiting.find(1, position + 1)
        if position < 0:
            position = is_waiting.find(1)
    return left
