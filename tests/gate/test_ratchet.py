"""A build against its baseline: what must pass, what must fail, whatever the numbers are."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import Outcome, check
from kernelinfo.config import MEASURES, Bound, Configuration, Gate
from kernelinfo.gate import pinnable, write_baseline

from ..messages import says
from .builds import BUILDS, DISTINCT, Numbers, report

WORSE = {"waves": -0.25, "vgpr_spills": 1, "sgpr_spills": 1, "scratch": 4}
"""Smallest step to the worse of each measure that gates by default."""


def judged(
    before: Sequence[Numbers], after: Sequence[Numbers], configuration: Configuration | None = None
) -> Outcome:
    """The outcome on `after` with a baseline made of `before`."""
    configuration = configuration or Configuration()
    with tempfile.TemporaryDirectory() as folder:
        baseline = Path(folder, "baseline.json")
        write_baseline(baseline, pinnable(report(before).results, folder))
        return check(report(after), configuration._replace(baseline=baseline))


def rules(outcome: Outcome) -> list[tuple[str, str]]:
    return sorted({(finding.rule, finding.severity) for finding in outcome.findings})


STRICT = Configuration(strict_baseline=True)


@given(BUILDS, st.randoms(use_true_random=False))
def test_a_build_passes_against_its_own_baseline_in_any_order(
    build: list[Numbers], random: st.DataObject
) -> None:
    shuffled = list(build)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rules(judged(build, shuffled)) == []
    assert rules(judged(build, shuffled, STRICT)) == []


@given(DISTINCT, st.sampled_from(sorted(WORSE)), st.data())
def test_any_measure_that_gates_fails_when_it_gets_worse(
    build: list[Numbers], measure: str, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(build) - 1))
    worse = list(build)
    value = getattr(build[index], measure) + WORSE[measure]
    worse[index] = replace(build[index], **{measure: value})
    outcome = judged(build, worse)
    assert outcome.failed
    assert rules(outcome) == [("KI501", "error")]
    assert [bool(one.result.findings) for one in outcome.judged] == [
        location == index for location in range(len(build))
    ]


@given(DISTINCT, st.sampled_from(sorted(WORSE)), st.data())
def test_better_is_noted_one_way_and_fails_two_ways(
    build: list[Numbers], measure: str, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(build) - 1))
    worse = list(build)
    value = getattr(build[index], measure) + WORSE[measure]
    worse[index] = replace(build[index], **{measure: value})
    assert rules(judged(worse, build)) == [("KI504", "note")]
    assert not judged(worse, build).failed
    assert rules(judged(worse, build, STRICT)) == [("KI504", "error")]


@given(DISTINCT, st.integers(0, 512))
def test_the_raw_register_count_never_gates_by_itself(build: list[Numbers], vgprs: int) -> None:
    assert rules(judged(build, [replace(one, vgprs=vgprs) for one in build], STRICT)) == []


@given(st.integers(0, 200), st.integers(0, 300), st.integers(0, 20), st.booleans())
def test_allowances(old: int, new: int, amount: int, percent: bool) -> None:
    vgpr = next(measure for measure in MEASURES if measure.key == "vgpr-used")
    gate = Gate(allowances=((vgpr, Bound("+%" if percent else "+", amount)),))
    outcome = judged([Numbers(vgprs=old)], [Numbers(vgprs=new)], Configuration(gate=gate))
    most = old + (old * amount / 100 if percent else amount)
    assert outcome.failed == (new > most)
    assert (("KI504", "note") in rules(outcome)) == (new < old)


def test_a_regression_says_what_moved() -> None:
    outcome = judged([Numbers(waves=5, vgprs=93)], [Numbers(waves=4, vgprs=100)])
    (finding,) = outcome.findings
    assert says(finding.message, "waves-lost waves-step 1 wave … 5 → 4 … 112 VGPRs … 96")


def test_a_kernel_gone_leaves_no_answer() -> None:
    outcome = judged([Numbers("a"), Numbers("b")], [Numbers("a")])
    assert not outcome.answered
    (notice,) = outcome.notices
    assert (notice.finding.rule, notice.subject) == ("KI502", "b(int)")


def test_a_new_kernel_is_noted() -> None:
    outcome = judged([Numbers("a")], [Numbers("a"), Numbers("b")])
    assert rules(outcome) == [("KI503", "note")]
    assert outcome.answered
    assert not outcome.failed


def test_of_targets_that_are_not_asked_for_nothing_is_missed() -> None:
    elsewhere = Configuration(targets=("gfx942",), min_kernels=0)
    outcome = judged([Numbers("a")], [], elsewhere)
    assert outcome.notices == ()
    outcome = judged([Numbers("a")], [Numbers("a")], elsewhere)
    assert (outcome.passed_over, outcome.judged) == (1, ())
    (problem,) = outcome.problems
    assert says(problem.message, "target-of-none 1 kernel … gfx942 … gfx90a")


NEWER = "clang version 22.1.8 (https://example.com/llvm)"


def test_another_compiler_is_judged_strictly_if_asked() -> None:
    gate = Configuration().gate._replace(toolchain_change="strict")
    for worse in ({"waves": 3}, {"scratch": 8}, {"vgpr_spills": 2}):
        after = replace(Numbers(stamps=(NEWER,)), **worse)  # type: ignore[arg-type]
        outcome = judged([Numbers()], [after], Configuration(gate=gate))
        assert rules(outcome) == [("KI501", "error"), ("KI507", "note")]


LIBRARY = "clang version 18.0.0 (https://example.com/llvm)"
DEVICE_LIBRARY = "clang version 17.0.0 (https://x/RadeonOpenCompute/llvm-project roc-6.0.0 1)"


def test_a_stamp_that_stays_may_be_the_kernel_s_compiler() -> None:
    (own,) = Numbers().stamps
    for old, new, severity in (
        ((own, LIBRARY), (LIBRARY, own), "error"),
        ((own,), (own, LIBRARY), "error"),
        ((own, LIBRARY), (own,), "error"),
        ((own, LIBRARY), (LIBRARY, NEWER), "error"),
        ((own,), (own, NEWER), "error"),
        ((own, DEVICE_LIBRARY), (DEVICE_LIBRARY, NEWER), "note"),
    ):
        outcome = judged([Numbers(stamps=old)], [Numbers(stamps=new, waves=3)], Configuration())
        assert ("KI501", severity) in rules(outcome), (old, new)
        assert ("KI507" in dict(rules(outcome))) == (severity == "note"), (old, new)


def test_only_kernels_of_the_other_compiler_are_excused() -> None:
    before = [Numbers("a"), Numbers("b", path="build/b.s")]
    after = [
        Numbers("a", waves=3),
        Numbers("b", path="build/b.s", waves=3, stamps=(NEWER,)),
    ]
    outcome = judged(before, after, Configuration())
    assert rules(outcome) == [("KI501", "error"), ("KI501", "note"), ("KI507", "note")]


def test_a_part_of_the_compilers_of_the_baseline_is_no_change() -> None:
    before = [Numbers("a"), Numbers("b", stamps=(NEWER,))]
    assert all(notice.finding.rule != "KI507" for notice in judged(before, before[:1]).notices)


def test_a_number_that_is_no_longer_said_is_a_problem() -> None:
    outcome = judged([Numbers(vgpr_spills=0)], [Numbers(vgpr_spills=None)])
    assert not outcome.answered
    assert says(outcome.problems[0].message, "number-unstated judge-baseline vgpr-spill")
    assert judged([Numbers(vgpr_spills=None)], [Numbers(vgpr_spills=3)]).answered
