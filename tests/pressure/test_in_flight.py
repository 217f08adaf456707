"""What each wait waits for, against a machine that runs all ways of random codes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ..compiling import assembly, needs_clang
from ..conftest import FIXTURES, ROOTS, needs_corpus
from .in_flight_simulator import TARGETS, Line, random_code, run, written
from .pending_reads import early_touches, functions, touches_of, waits, walked, with_one_more
from .test_objects import LIBRARY
from .texts import kernels, measured


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("codes", [3, pytest.param(400, marks=pytest.mark.nightly)])
def test_waits_complete_what_a_machine_completes(target: str, codes: int, tmp_path: Path) -> None:
    random, simulated = Random(f"{target} {codes}"), list[tuple[list[Line], Any]]()
    while len(simulated) < codes:
        code = random_code(target, random)
        if (waits := run(target, code)) is not None:
            simulated.append((code, waits))
    kernels = measured(tmp_path, *(written(code) for code, _ in simulated), target=target)
    for (code, waits), kernel in zip(simulated, kernels, strict=True):
        assert kernel["waits_unknown"] is None
        seen = {wait["index"]: wait for wait in kernel["waits"]}
        assert seen.keys() == waits.keys(), written(code)
        for index, wait in seen.items():
            told = {load["index"]: load["distance"] for load in wait["completes"]}
            assert told == waits[index].completes, (index, written(code))
            stays = {row["memory"]: [row["loads"], row["bytes"]] for row in wait["stays"]}
            assert stays == waits[index].left(code), (index, written(code))


def test_a_reader_sees_which_kernel_hides_latency() -> None:
    path = FIXTURES / "lines" / "in-flight-clang22-gfx942.s"
    far = {
        kernel["symbol"]: max(
            (row["loads"], row["distance"])
            for loop in kernel["loops"]
            for row in loop["in_flight"]
            if row["memory"] == "global"
        )
        for kernel in kernels(path)
    }
    names = ("_Z5chase", "_Z6stream", "_Z15stream_restrict", "_Z4gemm")
    assert [next(far[name] for name in far if name.startswith(begin)) for begin in names] == [
        *((1, 0), (2, 4), (16, 16), (2, 189)),
    ]


PARTS = 4
"""Tests of the corpus, each of which takes less than a minute."""


@pytest.mark.parametrize(
    ("root", "share"),
    [
        pytest.param("assembly", slice(9), id="some"),
        pytest.param("code_object", slice(None), marks=pytest.mark.nightly, id="objects"),
        *(
            pytest.param(
                *("corpus", slice(part, None, PARTS)),
                marks=[pytest.mark.nightly, needs_corpus],
                id=f"corpus-{part}",
            )
            for part in range(PARTS)
        ),
        pytest.param(
            *("librocrand", slice(None)),
            marks=[pytest.mark.nightly, pytest.mark.needs("librocrand", "llvm-22")],
            id="librocrand",
        ),
    ],
)
def test_compilers_wait_for_what_code_reads(root: str, share: slice) -> None:
    """All reads and overwrites of loaded registers. A load of FLAT is complete in both counters, or
    where all its touches follow as those of a global load do: LLVM may know that it is one."""
    places = sorted(ROOTS[root].rglob("*")) if root in ROOTS else [Path(LIBRARY)]
    kinds = (".s", ".co", ".o", ".out", ".hsaco", ".1")
    paths = [path for path in places if path.is_file() and path.suffix in kinds]
    touches, wrong = 0, list[str]()
    for kernel, function in functions(paths[share]):
        if early := early_touches(kernel, function):
            touches += early[0]
            wrong += early[1]
    assert touches > 20
    assert wrong == []


FLAT = """
__global__ void k(int *p, int count, int *out) {
  __attribute__((shared)) static int x[256];
  int t = __builtin_amdgcn_workitem_id_x();
  x[t] = t;
  __builtin_amdgcn_s_barrier();
  int *either = t & 1 ? x : p, sum = p[t] * 3;
  for (int i = 0; i < count; i++) sum += either[i + t] * p[i + t];
  out[t] = sum;
}
"""


@needs_clang
@pytest.mark.parametrize(
    ("target", "of_global", "of_any"),
    [("gfx803", 2, 1), ("gfx90a", 0, 2), ("gfx1030", 0, 1), ("gfx1201", 0, 1)],
)
def test_flat_loads_are_waited_for_as_llvm_knows_their_memory(
    target: str, of_global: int, of_any: int, tmp_path: Path
) -> None:
    """By the memory operands of its machine code. A target without global instructions has FLAT."""
    text = Path(assembly(FLAT, tmp_path / "k.s", target))
    stop = ("-mllvm", "-stop-after=si-insert-waitcnts")
    machine_code = Path(assembly(FLAT, tmp_path / "k.mir", target, *stop)).read_text("utf-8")
    memories = ["addrspace 1)" in line for line in machine_code.splitlines() if "FLAT_LOAD" in line]
    assert Counter(memories) == Counter({True: of_global, False: of_any})
    [(kernel, function)] = functions([text])
    touches = touches_of(kernel, function)
    assert touches
    assert touches.wrong == []
    loads = sorted(touches.in_both | touches.as_global)
    is_global = dict(zip(loads, memories, strict=True))
    assert all(is_global[load] for load in touches.as_global)
    assert bool(touches.as_global) == bool(of_global)


STREAM = """
__global__ void k(const float *__restrict__ a, float *__restrict__ out, int count) {
  int t = __builtin_amdgcn_workitem_id_x();
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < count; i++) sum += a[i * 64 + t];
  out[t] = sum;
}
"""


@needs_clang
@pytest.mark.parametrize("target", ["gfx803", "gfx900"])
def test_a_target_without_global_instructions_waits_for_loads_in_order(
    target: str, tmp_path: Path
) -> None:
    path = Path(assembly(STREAM, tmp_path / "k.s", target))
    [kernel] = kernels(path)
    rows = [row for loop in kernel["loops"] for row in loop["in_flight"]]
    assert {row["memory"] for row in rows} == {"FLAT" if target == "gfx803" else "global"}
    assert max(row["loads"] for row in rows) == 8
    waits = [wait for wait in kernel["waits"] if re.search(r"vmcnt\([1-9]", wait["instruction"])]
    assert len(waits) >= 4
    assert all(wait["completes"] for wait in waits)


@pytest.mark.parametrize("wait", ["vmcnt(0)", "lgkmcnt(0)"])
@needs_clang
def test_a_load_of_flat_that_one_counter_alone_completes_is_early(
    wait: str, tmp_path: Path
) -> None:
    """Its memory counter decides where LLVM may know the memory; LDS's counter never does."""
    text = Path(assembly(FLAT, tmp_path / "k.s", "gfx90a"))
    code = text.read_text("utf-8")
    both = "s_waitcnt vmcnt(0) lgkmcnt(0)"
    assert both in code
    text.write_text(code.replace(both, f"s_waitcnt {wait}"), "utf-8")
    [(kernel, function)] = functions([text])
    touches = touches_of(kernel, function)
    assert touches
    assert bool(touches.wrong) == (wait == "lgkmcnt(0)")


@pytest.mark.parametrize(
    ("seed", "mutants"),
    [(0, 3), *(pytest.param(seed, 150, marks=pytest.mark.nightly) for seed in range(4))],
)
def test_a_wait_for_one_too_few_is_seen(seed: int, mutants: int) -> None:
    """Each wait whose count is raised by one makes a read too early, or was stricter than its
    reads need: then no walk through the code finds such a read either."""
    random, seen = Random(seed), {"early": 0, "stricter": 0}
    paths = sorted(FIXTURES.glob("assembly/variety-*-gfx1*.s" if mutants > 3 else "lines/in-*.s"))
    paths += sorted(FIXTURES.glob("*/*-gfx9*.s")) if mutants > 3 else []
    candidates = [
        (kernel, function, index)
        for kernel, function in functions(paths)
        for index in waits(kernel, function)
    ]
    for kernel, function, index in random.sample(candidates, mutants):
        mutant = with_one_more(function, index, random)
        early = early_touches(kernel, mutant)
        assert early
        is_early = bool(early[1])
        assert is_early or not walked(kernel, mutant, random, 100), (kernel.symbol, index)
        seen["early" if is_early else "stricter"] += 1
    assert seen["early"] > seen["stricter"], seen
