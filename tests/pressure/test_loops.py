"""Loops of random graphs against the definition of a natural loop."""

from __future__ import annotations

from array import array
from itertools import accumulate, chain

from hypothesis import given
from hypothesis import strategies as st

from kernelinfo.pressure.graph import BlockLists, Graph
from kernelinfo.pressure.loops import Loops

Ways = list[tuple[int, ...]]


@st.composite
def graphs(draw: st.DrawFn) -> Ways:
    """Graphs with at most three ways per block, mostly to the next block."""
    size = draw(st.integers(1, 12))
    block = st.integers(0, size - 1)
    ways = [draw(st.sets(block, max_size=2)) for _ in range(size)]
    for number in range(size - 1):
        if draw(st.integers(0, 3)):
            ways[number].add(number + 1)
    return [tuple(sorted(one)) for one in ways]


def reached(ways: Ways, start: int, without: int = -1) -> set[int]:
    """Blocks reachable from `start` without passing `without`; `start` included."""
    found, pending = set[int](), [start]
    while pending:
        block = pending.pop()
        if block not in found and block != without:
            found.add(block)
            pending += ways[block]
    return found


def natural_loops(ways: Ways) -> dict[int, set[int]]:
    """Header → blocks of its loop (Aho, Sethi and Ullman, "Compilers", 10.4)."""
    live = reached(ways, 0)
    found: dict[int, set[int]] = {}
    for header in live:
        dominated = live - reached(ways, 0, without=header)
        latches = {block for block in dominated if header in ways[block]}
        if latches:
            backwards: Ways = [tuple(b for b in live if to in ways[b]) for to in range(len(ways))]
            around = (reached(backwards, latch, without=header) for latch in latches)
            found[header] = set().union({header}, *around)
    return found


def graph_of(ways: Ways) -> Graph:
    starts = array("i", accumulate(map(len, ways), initial=0))
    return Graph(BlockLists(starts, array("i", chain.from_iterable(ways))))


@given(graphs())
def test_loops_are_the_natural_ones(ways: Ways) -> None:
    loops, bodies = Loops(graph_of(ways)), natural_loops(ways)
    assert {loop.header for loop in loops} == set(bodies)
    for loop in loops:
        body = bodies[loop.header]
        assert {b for b in range(len(ways)) if loops.holds(loop, b)} == body
        assert loop.depth == sum(loop.header in other for other in bodies.values())
        assert loop.begin == min(body)
    for block in range(len(ways)):
        around = loops.around(block)
        assert (around.depth if around else 0) == sum(block in body for body in bodies.values())


@given(graphs(), st.data())
def test_what_is_gathered_is_of_the_whole_loop(ways: Ways, data: st.DataObject) -> None:
    loops = Loops(graph_of(ways))
    wanted = {at for at in range(len(loops)) if data.draw(st.booleans())}
    gathered = loops.gathered(wanted, set, lambda a, b: a | b)
    bodies = natural_loops(ways)
    assert dict(gathered) == {at: bodies[loops[at].header] for at in wanted}


@given(graphs())
def test_edges_lead_forth_and_back(ways: Ways) -> None:
    graph = graph_of(ways)
    for block, own in enumerate(ways):
        assert tuple(graph.after.of(block)) == own
        assert [*graph.before.of(block)] == [b for b in range(len(ways)) if block in ways[b]]


@given(graphs())
def test_groups_lead_to_each_other_and_only_forwards(ways: Ways) -> None:
    graph = graph_of(ways)
    groups = [[*graph.groups.of(number)] for number in range(len(graph.groups.starts) - 1)]
    assert sorted(block for group in groups for block in group) == sorted(reached(ways, 0))
    assert {b for b in range(len(ways)) if graph.is_reached(b)} == reached(ways, 0)
    later: set[int] = set()
    for number, group in reversed([*enumerate(groups)]):
        for block in group:
            assert reached(ways, block) - later == set(group)
            assert graph.group_of[block] == number
        later |= set(group)
