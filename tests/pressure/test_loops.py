"""Loops of random graphs against the definition of a natural loop."""

from __future__ import annotations

import json
import re
from array import array
from collections import defaultdict
from itertools import accumulate, chain
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import kernelinfo
from kernelinfo.pressure.graph import BlockLists, Graph
from kernelinfo.pressure.loops import Loops
from kernelinfo.pressure.nouns import LoopPressure

from ..conftest import FIXTURES
from ..test_golden import run
from . import texts

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
    for block in range(len(ways)):
        around = loops.around(block)
        assert (around.depth if around else 0) == sum(block in body for body in bodies.values())


@given(graphs(), st.data())
def test_what_is_gathered_is_of_the_whole_loop(ways: Ways, data: st.DataObject) -> None:
    loops = Loops(graph_of(ways))
    wanted = {at for at in range(len(loops)) if data.draw(st.booleans())}
    gathered = loops.gathered(
        sorted(wanted, reverse=True), set, lambda parts: set[int]().union(*parts)
    )
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


def blocks_of_loops(text: str, kernel: str) -> dict[str, set[int]]:
    """Label of each loop's header → lines of its instructions, by LLVM's comments."""
    body, parents = defaultdict[str, set[int]](set), defaultdict[str, set[str]](set)
    around, label, is_inside = set[str](), "", False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"{kernel}:|\.Lfunc_end", line):
            is_inside, around = line.startswith(kernel), set()
        elif begin := re.match(r"\.L(BB\d+_\d+):|; %bb\.\d+:", line):
            around, label = set(re.findall(r"in Loop: Header=(\w+)", line)), begin[1]
        for outer in re.findall(r"Parent Loop (\w+)", line):
            parents[label].add(outer)
        if "Loop Header" in line and "=>" in line:
            around = {label}
        if is_inside and re.match(r"\t[a-z]", line):
            for header in around:
                body[header].add(number)
    for inner, outers in parents.items():
        for outer in outers:
            body[outer] |= body[inner]
    return {f".L{header}": lines for header, lines in body.items() if lines}


def lines_of_ranges(loop: LoopPressure, text: str) -> set[int]:
    lines = text.splitlines()
    spans = [(one.first.line, one.last.line) for one in loop.ranges]
    every = chain.from_iterable(range(first or 0, (last or 0) + 1) for first, last in spans)
    return {number for number in every if re.match(r"\t[a-z]", lines[number - 1])}


def test_loops_are_where_llvm_says_that_their_blocks_are() -> None:
    path = FIXTURES / "lines" / "attention-clang22-gfx942.s"
    text = path.read_text("utf-8")
    for kernel in ("attention", "one_query"):
        loops = kernelinfo.live_registers(path, kernel).loops
        found = {str(loop.label): lines_of_ranges(loop, text) for loop in loops}
        assert found == blocks_of_loops(text, kernel)
    rotated = [loop for loop in loops if loop.ranges[0].first.number < loop.at.number]
    assert [loop.label for loop in rotated] == [".LBB1_12", ".LBB1_30"]


TWO_RANGES = texts.module(
    """\tv_mov_b32_e32 v1, v0
\ts_branch .LBB0_2
.LBB0_1:
\tv_add_u32_e32 v3, v2, v1
\tv_add_u32_e32 v1, v3, v1
\ts_branch .LBB0_2
.LBB0_9:
\tv_mov_b32_e32 v9, v0
\ts_branch .LBB0_3
.LBB0_2:
\tv_mov_b32_e32 v2, v1
\ts_cbranch_scc1 .LBB0_1
\ts_cbranch_scc0 .LBB0_9
.LBB0_3:
\tglobal_store_dword v1, v1, s[0:1]
"""
)
"""A loop whose body stands before its header, with a block of no loop between them."""


def test_a_loop_of_two_ranges(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(TWO_RANGES)
    first = TWO_RANGES.splitlines().index(".LBB0_1:") + 2
    (loop,) = json.loads(run("pressure", str(path), "--format", "json")[0])["kernels"][0]["loops"]
    lines = [(one["first"]["line"], one["last"]["line"]) for one in loop["ranges"]]
    assert lines == [(first, first + 2), (first + 7, first + 8)]
    assert (loop["line"], loop["instructions"]) == (first + 7, 5)
    assert sum(one["last"]["index"] - one["first"]["index"] + 1 for one in loop["ranges"]) == 5
    out, _, _ = run("pressure", str(path), "k")
    where = f"line {first} – {first + 2} and {first + 7} – {first + 8}, header at line {first + 7}"
    assert f" .LBB0_2: {where}\n" in out


def test_before_the_loop_and_next_turn_are_as_it_runs(tmp_path: Path) -> None:
    """The block before the loop stands inside it; the body stands before the header."""
    before = "".join(f"\tv_mov_b32_e32 v{n}, v0\n" for n in (10, 11, 12))
    header = "".join(f"\tv_add_u32_e32 v1, v1, v{n}\n" for n in (10, 11, 12))
    body = "\tv_mov_b32_e32 v2, v1\n\tv_add_u32_e32 v1, v2, v0\n"
    path = tmp_path / "k.s"
    path.write_text(
        texts.module(
            f"\ts_branch .LBB0_9\n.LBB0_1:\n{body}\ts_branch .LBB0_2\n"
            f".LBB0_9:\n{before}.LBB0_2:\n{header}\ts_cbranch_scc1 .LBB0_1\n"
        )
    )
    out, _, _ = run("pressure", str(path), "k")
    (row,) = [line for line in out.splitlines() if line.startswith(" v[10:12]")]
    assert re.split("  +", row)[2:4] == ["before the loop", "next turn"]
