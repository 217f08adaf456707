"""Compilers print the numbers of their formulas, and each difference from ours has a cause."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelinfo import Demand, Kernel, Launch, Options, Result, Selection, analyse, arch
from kernelinfo.hardware.targets import find, known
from kernelinfo.kernel.compiler_number import agrees, why
from kernelinfo.model import occupancy
from kernelinfo.model.compilers import (
    CAUSES,
    FIRST,
    MAIN,
    Case,
    Printed,
    fewest,
    max_active_blocks,
    printed,
    waves_per_simd,
)
from tests.conftest import CORPUS, FIXTURES, needs_corpus
from tests.messages import says
from tests.test_golden import run


def prints(target: str, version: int, sizes: tuple[int, int] | None = None, **asks: Any) -> Printed:
    waves = asks.pop("waves_per_eu", None)
    demand = arch(target).demand(**asks)
    return printed(find(target), version, demand, sizes, waves)


# The same input on LLVM 15, 19, 22 and main; measured with clang 13 to 22, main by its sources.
DIFFERENT: list[tuple[str, tuple[int, int] | None, dict[str, Any], tuple[int, int, int, int]]] = [
    ("gfx90a", (1, 256), {"lds_bytes": 65536}, (4, 1, 1, 1)),
    ("gfx90a", (1, 512), {"lds_bytes": 32768}, (8, 4, 4, 4)),
    ("gfx906", None, {}, (10, 8, 10, 10)),
    ("gfx1030", (1, 256), {"lds_bytes": 65536}, (8, 4, 4, 4)),
    ("gfx90a", (1, 512), {"sgprs": 100}, (8, 8, 8, 6)),
    ("gfx90a", (1, 256), {"sgprs": 88}, (8, 8, 8, 7)),
    ("gfx1100", (1, 256), {"vgprs": 97}, (9, 12, 12, 12)),
    ("gfx1030", (65, 640), {"wgp_mode": False}, (16, 10, 15, 15)),
    ("gfx90a", (1, 512), {"vgprs": 72}, (7, 7, 7, 7)),
    ("gfx90a", (1024, 1024), {"vgprs": 200}, (2, 2, 2, 2)),
]


def test_chips_with_a_fixed_share_print_it() -> None:
    """clang 15, 19 and 22 print 96 on gfx802 and gfx805, whatever is used."""
    (line,) = re.findall(
        r"NumSGPRsForWavesPerEU: (\d+)",
        (FIXTURES / "assembly" / "fewsgprs-clang22-gfx802.s").read_text("utf-8"),
    )
    for target in ("gfx802", "gfx805"):
        for version in (15, 19, 22):
            found = prints(target, version, (1, 256), vgprs=161, sgprs=12)
            assert (found.sgprs, found.sgpr_blocks) == (int(line), 11)
            assert found.waves_per_simd == 1
    assert prints("gfx803", 22, (1, 256), vgprs=161, sgprs=12).sgprs != int(line)


@pytest.mark.parametrize(("target", "sizes", "asks", "numbers"), DIFFERENT)
def test_one_input_and_four_versions(
    target: str,
    sizes: tuple[int, int] | None,
    asks: dict[str, Any],
    numbers: tuple[int, int, int, int],
) -> None:
    found = [prints(target, v, sizes, **asks).waves_per_simd for v in (15, 19, 22, MAIN)]
    assert tuple(found) == numbers


@pytest.mark.parametrize(
    ("target", "sgprs", "causes"), [("gfx90a", 88, ()), ("gfx802", 77, ("asked-sgprs",))]
)
def test_main_counts_the_sgprs_of_a_trap_handler(
    target: str, sgprs: int, causes: tuple[str, ...]
) -> None:
    """As the hardware does: where the number differs from ours, they are not the cause."""
    demand, sizes = arch(target).demand(sgprs=sgprs), (1, 256)
    case = Case((find(target),), find(target), demand, Launch(256), sizes, MAIN)
    assert fewest(case, waves_per_simd(find(target), MAIN, demand, sizes), False) == causes


@pytest.mark.parametrize(
    ("target", "sizes", "asks", "version", "waves"),
    [
        ("gfx90a", (1, 256), {"lds_bytes": 65536}, 16, (4, 1)),
        ("gfx906", None, {}, 16, (10, 8)),
        ("gfx1100", (1, 256), {"vgprs": 97}, 16, (9, 12)),
        ("gfx1201", (1, 256), {"vgprs": 97}, 19, (9, 12)),
        ("gfx1030", (65, 640), {"wgp_mode": False}, 20, (10, 15)),
        ("gfx90a", (1, 512), {"sgprs": 100}, 23, (8, 6)),
        ("gfx90a", (1, 256), {"lds_bytes": 21845}, 23, (3, 2)),
        ("gfx90a", None, {"waves_per_eu": (1, 2)}, 14, (2, 8)),
    ],
    ids=[
        "one CU's LDS, not four times that",
        "workgroups of 1024 by default",
        "the VGPR file of gfx11",
        "#96272: the VGPR file of gfx12",
        "the best of a range of sizes",
        "#201342: SGPRs as the hardware",
        "#205637: LDS in granules",
        "without sizes those of 1024 bound the waves",
    ],
)
def test_the_version_that_changed_a_count(
    target: str,
    sizes: tuple[int, int] | None,
    asks: dict[str, Any],
    version: int,
    waves: tuple[int, int],
) -> None:
    found = [prints(target, v, sizes, **asks).waves_per_simd for v in (version - 1, version)]
    assert tuple(found) == waves


@pytest.mark.parametrize(("version", "vgprs"), [(20, 1), (21, 97), (22, 97)])
def test_registers_are_raised_since_137807(version: int, vgprs: int) -> None:
    assert prints("gfx90a", version, (1, 512), lds_bytes=32768, vgprs=1).vgprs == vgprs


def test_calc_takes_the_versions_whose_formulas_are_known() -> None:
    codes = [
        run("calc", "--arch", "gfx90a", "--as-llvm", version)[2]
        for version in ("12", "13", "24", "25")
    ]
    assert codes == [2, 0, 0, 2]


@pytest.mark.parametrize(
    ("target", "size", "lds_bytes", "vgprs"),
    [
        ("gfx90a", 256, 65536, 257),
        ("gfx906", 256, 65536, 129),
        ("gfx1030", 256, 65536, 193),
        ("gfx1100", 256, 65536, 241),
        ("gfx90a", 512, 32768, 97),
        ("gfx9-4-generic", 256, 40000, 257),
        ("gfx950", 256, 40000, 97),
    ],
)
def test_vgprs_raised_where_lds_limits(target: str, size: int, lds_bytes: int, vgprs: int) -> None:
    """#137807: LLVM 21 on; the values are clang 22's."""
    raised = prints(target, 22, (1, size), lds_bytes=lds_bytes, vgprs=1)
    assert raised.vgprs == vgprs
    assert prints(target, 20, (1, size), lds_bytes=lds_bytes, vgprs=1).vgprs == 1


def test_what_is_raised_is_encoded() -> None:
    raised = prints("gfx90a", 22, (1, 256), lds_bytes=40000, vgprs=1, sgprs=6)
    assert raised == Printed(1, 257, 102, 32, 12)


@pytest.mark.parametrize(("sgprs", "waves"), [(80, 8), (81, 7), (96, 7), (97, 6), (102, 6)])
def test_sgprs_of_main(sgprs: int, waves: int) -> None:
    """#201342 and llvm/test/tools/llvm-calc-occupancy/basic.test."""
    assert prints("gfx90a", MAIN, sgprs=sgprs).waves_per_simd == waves


@pytest.mark.parametrize(
    ("target", "steps"),
    [
        ("gfx906", {80: 10, 81: 9, 88: 9, 89: 8, 100: 8, 101: 7, 102: 7}),
        ("gfx700", {48: 10, 49: 9, 56: 9, 57: 8, 64: 8, 65: 7, 72: 7, 73: 6, 80: 6, 81: 5}),
    ],
)
def test_sgprs_up_to_llvm_22(target: str, steps: dict[int, int]) -> None:
    """LLVM 22 GCNSubtarget.cpp, getOccupancyWithNumSGPRs."""
    assert {sgprs: prints(target, 22, sgprs=sgprs).waves_per_simd for sgprs in steps} == steps


def test_many_waves_up_to_llvm_15() -> None:
    """LLVM 16 raises nothing where a wave more has as many VGPRs (IsaInfo::getMinNumVGPRs)."""
    asks: dict[str, Any] = {"wave_size": 32, "vgprs": 1, "waves_per_eu": (1, 15)}
    assert [prints("gfx1030", version, (1, 32), **asks).vgprs for version in (15, 16)] == [65, 1]


@pytest.mark.parametrize(
    ("bounds", "version", "vgprs"),
    [
        ((2, 4), 19, 97),
        ((2, 4), 15, 97),
        ((4, 0), 19, 1),
        ((5, 4), 19, 1),
        ((1, 2), 19, 1),
        ((1, 2), 13, 1),
    ],
    ids=[
        "at most 4",
        "the same in LLVM 15",
        "no upper bound",
        "less than the least",
        "fewer than a workgroup of 512 needs",
        "the same in LLVM 13",
    ],
)
def test_bounds_on_waves(bounds: tuple[int, int], version: int, vgprs: int) -> None:
    asks: dict[str, Any] = {"vgprs": 1, "waves_per_eu": bounds}
    assert prints("gfx90a", version, (1, 512), **asks).vgprs == vgprs


def blocks(target: str, size: int, *, fixed: bool, **asks: Any) -> int:
    demand = arch(target).demand(**asks)
    return max_active_blocks(find(target), demand, Launch(size), fixed=fixed)


@pytest.mark.parametrize(
    ("target", "size", "asks", "before", "after"),
    [
        ("gfx942", 64, {"sgprs": 92}, 32, 28),
        ("gfx1100", 256, {"lds_bytes": 32768}, 2, 4),
        ("gfx1100", 256, {"lds_bytes": 32768, "wgp_mode": False}, 2, 2),
        ("gfx950", 256, {"vgprs": 128}, 2, 4),
        ("gfx1201", 256, {"vgprs": 96}, 1, 8),
        ("gfx1201", 256, {"vgprs": 96, "wave_size": 64}, 1, 8),
        ("gfx1010", 64, {}, 32, 32),
        ("gfx906", 64, {}, 32, 32),
        ("gfx90a", 1025, {}, 0, 0),
    ],
    ids=[
        "ROCm/rocm-systems #10618: SGPRs of the trap handler",
        "#9571: the LDS of both CUs",
        "CU mode has the LDS of one",
        "gfx950 is not in the table of 2024",
        "nor is gfx12",
        "nor in waves of 64",
        "RDNA1 has 20 slots, HIP 16",
        "GCN has 10 slots, HIP 8",
        "no workgroup of that size",
    ],
)
def test_hip(target: str, size: int, asks: dict[str, Any], before: int, after: int) -> None:
    assert blocks(target, size, fixed=False, **asks) == before
    assert blocks(target, size, fixed=True, **asks) == after


@given(data=st.data())
@settings(max_examples=400, deadline=None)
def test_all_causes_together_are_the_formula(data: st.DataObject) -> None:
    """So a number that the formula gives always has a cause, for every target and version."""
    draw = data.draw
    target = find(draw(st.sampled_from(known())))
    wave_size = draw(st.sampled_from([file.wave_size for file in target.vgprs]))
    demand = Demand(
        wave_size=wave_size,
        vgprs=draw(st.integers(0, 520)),
        sgprs=draw(st.integers(0, 112)),
        lds_bytes=draw(st.sampled_from([0, 1, 4000, 16384, 33000, 40000, 65536, 163840])),
        scratch_bytes_per_lane=draw(st.sampled_from([0, 16, 70000])),
        wgp_mode=draw(st.sampled_from([None, True, False])),
        tg_split=target.tg_split and draw(st.booleans()),
    )
    low, high = sorted([draw(st.integers(1, 1024)), draw(st.integers(1, 1024))])
    launch = Launch(
        draw(st.sampled_from([high, draw(st.integers(1, 1024))])),
        dynamic_lds_bytes=draw(st.sampled_from([0, 5000])),
        trap_handler=draw(st.booleans()),
    )
    version = draw(st.integers(FIRST, MAIN))
    ours = occupancy(target, demand, launch)
    devices = tuple(map(find, target.members)) or (target,)
    case = Case(devices, target, demand, launch, (low, high), version)
    compiler_waves = waves_per_simd(target, version, demand, (low, high))
    causes = fewest(case, compiler_waves, bool(ours.obstacles))
    assert causes is not None
    assert bool(causes) == (compiler_waves != ours.waves_per_simd)


_KERNEL = re.compile(
    r"Begin function ([^\n]*)(?:(?!Begin function).)*?; Kernel info:\n(.*?)\n[^;]", re.S
)
_RAISED = re.compile(r"; Num([VS]GPR)sForWavesPerEU: (\d+)$", re.M)


def kernels(path: Path) -> Iterator[Kernel]:
    for item in analyse([str(path)], Options()):
        if isinstance(item, Result) and item.kernel.numbers.compiler_waves_per_simd is not None:
            yield item.kernel


def check(path: Path, version: int) -> int:
    """Every number that a text prints is its version's, and has a cause where it is not ours.

    Returns how many there are.
    """
    raised: dict[str, list[dict[str, str]]] = defaultdict(list)
    for name, block in _KERNEL.findall(text(path)):
        raised[name].append(dict(_RAISED.findall(block)))
    count = 0
    for kernel in kernels(path):
        compiler_waves, target, demand = (
            kernel.numbers.compiler_waves_per_simd,
            kernel.target,
            kernel.traits.demand,
        )
        assert target is not None
        assert demand is not None
        block = raised[kernel.symbol].pop(0) if raised[kernel.symbol] else {}
        vgprs, sgprs = block.get("VGPR", demand.vgprs), block.get("SGPR", demand.sgprs)
        counted = demand._replace(vgprs=int(vgprs or 0), sgprs=int(sgprs or 0))
        # No file says the smallest size; of code that is not for HSA not even the largest.
        largest = kernel.numbers.max_workgroup_size
        sizes = [(low, largest or 1024) for low in (1, largest or 1024)]
        sizes += [] if largest else [(1, 64), (1, 256)]
        numbers = [waves_per_simd(target, version, counted, pair) for pair in sizes]
        assert compiler_waves in numbers, (path.name, kernel.name, compiler_waves, numbers)
        ours = kernel.occupancy()
        asked = kernel.traits, kernel.code_object, ours
        assert agrees(*asked) or why(*asked), (path.name, kernel.name, compiler_waves)
        count += 1
    return count


def text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def test_every_fixture_is_explained() -> None:
    count = 0
    for path in sorted((FIXTURES / "assembly").glob("*clang*.s")):
        found = re.search(r"clang(\d+)", path.stem)
        assert found is not None
        count += check(path, int(found[1]))
        for kernel in kernels(path):
            cause = why(kernel.traits, kernel.code_object, kernel.occupancy())
            assert CAUSES["other-version"] not in (cause or ""), kernel.name
    assert count >= 313


# Contents of development versions: 20git is of November 2024, before #123748; 21git of January and
# of mid 2025; 24git of August 2026, before #222615 and the LDS granules of September.
_SNAPSHOTS = {"20git": 19, "21git": 21, "22git": 22, "24git": 23}


@needs_corpus
def test_the_corpus_is_explained() -> None:
    count = 0
    for path in sorted(CORPUS.rglob("*.s")):
        found = re.search(r"llvm((\d+)(?:git)?)", path.stem)
        if found is not None and "concatenated" not in path.stem:
            count += check(path, _SNAPSHOTS.get(found[1]) or int(found[2]))
    assert count >= 3100
    for path in sorted(CORPUS.rglob("*.s")):
        for kernel in kernels(path):
            if kernel.target is not None:
                ours = kernel.occupancy()
                asked = kernel.traits, kernel.code_object, ours
                assert agrees(*asked) or why(*asked), (path.name, kernel.name)


LDSBOUND = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
REASON = "counts waves per CU, not per SIMD, where LDS or workgroups limit (LLVM 15)"


def only(path: Path, symbol: str) -> Kernel:
    (kernel,) = (kernel for kernel in kernels(path) if symbol in kernel.symbol)
    return kernel


def printing(kernel: Kernel, waves_per_simd: int) -> Kernel:
    """The kernel as if the compiler had printed that number."""
    numbers = kernel.numbers._replace(compiler_waves_per_simd=waves_per_simd)
    return kernel._replace(traits=kernel.traits._replace(numbers=numbers))


def test_explain_names_the_cause() -> None:
    out, _, _ = run("explain", str(LDSBOUND), "ldsbound")
    assert f"the compiler said 4 waves/SIMD: {REASON} next" in " ".join(out.split())


def test_json_names_the_cause() -> None:
    out, _, _ = run(str(LDSBOUND), "--format", "json")
    said = {k["name"]: k["compiler_occupancy"] for k in json.loads(out)["kernels"]}
    assert said["ldsbound(int, double*)"] == {
        "waves_per_simd": 4,
        "agrees": False,
        "reason": REASON,
    }
    assert said["vgprbound(int, double*)"] == {
        "waves_per_simd": 4,
        "agrees": True,
        "reason": None,
    }


def test_the_rule_speaks_when_asked() -> None:
    def findings(select: tuple[str, ...]) -> list[str]:
        options = Options(selection=Selection(select))
        items = analyse([str(LDSBOUND)], options)
        return [f.message for i in items if isinstance(i, Result) for f in i.findings]

    assert not any(says(message, "KI207") for message in findings(()))
    (message,) = findings(("KI207",))
    assert says(message, f"KI207 4 waves/SIMD … 1: {REASON}")


def test_the_compiler_knows_nothing_of_the_launch() -> None:
    kernel = only(LDSBOUND, "sgprbound")
    cause = why(kernel.traits, kernel.code_object, kernel.occupancy(dynamic_lds=40000))
    assert cause
    assert cause.partition(" (LLVM ")[0] == CAUSES["static-lds"]


def test_what_nothing_explains_is_said_as_such() -> None:
    kernel = printing(only(LDSBOUND, "ldsbound"), 77)
    assert agrees(kernel.traits, kernel.code_object, kernel.occupancy()) is False
    assert why(kernel.traits, kernel.code_object, kernel.occupancy()) is None


def test_a_number_of_another_version_is_named_so() -> None:
    """Forks mix versions, and a file names its front end: clang 19 itself prints 1 here."""
    newer = only(FIXTURES / "assembly" / "occupancy-clang19-gfx90a.s", "ldsbound")
    cause = why(printing(newer, 2).traits, newer.code_object, newer.occupancy())
    assert cause == f"{CAUSES['waves-per-cu']}, {CAUSES['other-version']} (LLVM 15)"


def test_a_what_if_is_not_compared() -> None:
    kernel = only(LDSBOUND, "ldsbound").on(find("gfx942"))
    assert agrees(kernel.traits, kernel.code_object, kernel.occupancy()) is None
    assert why(kernel.traits, kernel.code_object, kernel.occupancy()) is None
