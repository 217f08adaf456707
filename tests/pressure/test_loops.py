"""Loops of random graphs by the definition of a natural loop, and clang's by its comments."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ..conftest import FIXTURES
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


def code_of(ways: Ways) -> str:
    """Code with block n at label n."""
    lines = []
    for number, own in enumerate(ways):
        lines.append(f".LBB0_{number}:\n\tv_add_u32 v{number}, v{number}, v0\n")
        others = [way for way in own if way != number + 1]
        last = [] if number + 1 in own else others[-1:] or [-1]
        lines += [f"\ts_cbranch_scc1 .LBB0_{way}\n" for way in others if way not in last]
        lines += [f"\ts_branch .LBB0_{way}\n" if way >= 0 else "\ts_endpgm\n" for way in last]
    return "".join(lines)


def lines_of(loop: dict[str, Any]) -> set[int]:
    """Lines of the ranges of a loop."""
    spans = [(one["first"]["line"], one["last"]["line"]) for one in loop["ranges"]]
    return {*chain.from_iterable(range(first, last + 1) for first, last in spans)}


@given(graphs())
def test_loops_are_the_natural_ones(ways: Ways) -> None:
    with TemporaryDirectory() as folder:
        [kernel] = texts.measured(Path(folder), code_of(ways))
        lines = (Path(folder) / "many.s").read_text().splitlines()
    begins = [lines.index(f".LBB0_{number}:") + 2 for number in range(len(ways))]
    bodies = natural_loops(ways)
    loops = {begins.index(loop["line"]): loop for loop in kernel["loops"]}
    assert {*loops} == {*bodies}
    for header, loop in loops.items():
        inside = lines_of(loop)
        assert {number for number, line in enumerate(begins) if line in inside} == bodies[header]
        assert loop["depth"] == sum(header in other for other in bodies.values())


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


def test_loops_are_where_llvm_says_that_their_blocks_are() -> None:
    path = FIXTURES / "lines" / "attention-clang22-gfx942.s"
    text = path.read_text("utf-8")
    code = {n for n, line in enumerate(text.splitlines(), 1) if re.match(r"\t[a-z]", line)}
    for kernel in texts.kernels(path):
        found = {loop["label"]: lines_of(loop) & code for loop in kernel["loops"]}
        assert found == blocks_of_loops(text, kernel["symbol"])
