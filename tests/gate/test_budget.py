"""Budgets: bounds, and which of them is a kernel's."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import KernelNumbers, Outcome, check
from kernelinfo.config import MEASURES, Bound, Budget, Configuration

from ..messages import says
from .builds import Numbers, report

(VGPR_SPILL,) = (measure for measure in MEASURES if measure.key == "vgpr-spill")


def test_every_measure_is_of_a_summary() -> None:
    assert {measure.field for measure in MEASURES} <= set(KernelNumbers._fields)


def judged(*budgets: Budget, of: Numbers) -> Outcome:
    return check(report([of]), Configuration(Path("kernelinfo.toml"), budgets=budgets))


NONE_SPILLED = ((VGPR_SPILL, Bound("<=", 0)),)


@given(
    st.lists(st.sampled_from(["*", "a", "a*", "*b", "?", "re:^b"]), max_size=5),
    st.sampled_from(["a", "b", "ab"]),
)
def test_the_first_that_matches_counts(patterns: list[str], name: str) -> None:
    """Each budget allows as many spills as its index, so that the message names the first."""
    budgets = [
        Budget(pattern, bounds=((VGPR_SPILL, Bound("<=", index)),), line=index + 1)
        for index, pattern in enumerate(patterns)
    ]
    fitting = [
        index
        for index, pattern in enumerate(patterns)
        if (name[0] == "b" if pattern == "re:^b" else fnmatchcase(name, pattern))
    ]
    outcome = judged(*budgets, of=Numbers(name, vgpr_spills=9))
    (only,) = outcome.judged
    for index, finding in zip(fitting[:1], only.result.findings, strict=True):
        fact = f"9 VGPRs spilled … vgpr-spill ≤ {index} (kernelinfo.toml:{index + 1})"
        assert says(finding.message, f"budget-exceeded {fact}"), finding.message
    assert outcome.failed == bool(fitting)


def test_a_target_narrows_a_budget() -> None:
    other = Budget(target="gfx942", bounds=NONE_SPILLED)
    own = Budget(target="gfx90a", bounds=NONE_SPILLED)
    assert not judged(other, of=Numbers(vgpr_spills=1)).failed
    assert judged(other, own, of=Numbers(vgpr_spills=1)).failed


def test_a_budget_that_is_for_no_kernel_is_noted() -> None:
    outcome = judged(Budget("gone*", bounds=NONE_SPILLED, line=7), of=Numbers())
    (notice,) = outcome.notices
    assert (notice.finding.rule, notice.finding.severity) == ("KI206", "note")
    assert (notice.path, notice.line) == ("kernelinfo.toml", 7)


def test_one_behind_another_is_told_who_takes_its_kernels() -> None:
    (notice,) = judged(Budget("*"), Budget("k", line=9), of=Numbers()).notices
    assert (notice.finding.severity, notice.line) == ("note", 9)
    assert says(notice.finding.message, "budget-shadowed (*)")


def test_a_number_that_is_not_said_is_a_problem_and_no_0() -> None:
    outcome = judged(Budget(bounds=NONE_SPILLED), of=Numbers(vgpr_spills=None))
    assert not outcome.answered
    assert says(outcome.problems[0].message, "number-unstated judge-budget k(int): … vgpr-spill")
