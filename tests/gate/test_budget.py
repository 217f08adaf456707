"""Budgets: bounds, and which of them is a kernel's."""

from __future__ import annotations

import operator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo.compare.summary import KernelNumbers
from kernelinfo.config import Budget, Configuration
from kernelinfo.config.measures import MEASURES, SCRATCH, VGPR_SPILL, WAVES, Bound, parse_bound
from kernelinfo.gate import check
from kernelinfo.gate.outcome import Outcome
from tests.test_golden import run

from .builds import Numbers, report

SIGNS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}


@given(st.sampled_from(sorted(SIGNS)), st.integers(0, 9), st.integers(0, 9))
def test_bounds_are_what_they_look_like(sign: str, limit: int, value: int) -> None:
    assert parse_bound(SCRATCH, f" {sign} {limit}").holds(value) == SIGNS[sign](value, limit)


@given(st.sampled_from(MEASURES), st.integers(0, 9), st.integers(0, 9))
def test_a_number_is_the_least_of_a_gain_and_the_most_of_a_cost(
    measure: object, limit: int, value: int
) -> None:
    found = next(one for one in MEASURES if one == measure)
    gains = ("waves", "occupancy", "matrix")
    assert parse_bound(found, limit).holds(value) == (
        value >= limit if found.key in gains else value <= limit
    )


@pytest.mark.parametrize("text", ["", "2", ">2", "=>2", ">=-1", ">=", "<=64 B"])
def test_what_is_no_bound(text: str) -> None:
    with pytest.raises(ValueError, match="no bound"):
        parse_bound(WAVES, text)


@pytest.mark.parametrize("value", [-1, float("inf"), float("nan"), 10**400, "<=" + "9" * 400])
def test_a_bound_that_no_number_can_be_is_refused(value: float | str) -> None:
    with pytest.raises(ValueError, match="no number of 64 bits"):
        parse_bound(WAVES, value)


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
    messages = [finding.message for finding in only.result.findings]
    expected = [
        f"9 VGPRs spilled, and the budget is vgpr-spill ≤ {index} (kernelinfo.toml:{index + 1})"
        for index in fitting[:1]
    ]
    assert messages == expected
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
    assert notice.finding.message == (
        "all its kernels belong to an earlier budget (*): this one guards nothing"
    )


def test_a_number_that_is_not_said_is_a_problem_and_no_0() -> None:
    outcome = judged(Budget(bounds=NONE_SPILLED), of=Numbers(vgpr_spills=None))
    assert not outcome.answered
    assert outcome.problems[0].message == (
        "k(int): its budget asks for vgpr-spill, which the input does not state"
    )


@pytest.mark.parametrize(
    ("line", "location"), [(None, "kernelinfo.toml"), (7, "kernelinfo.toml:7")]
)
def test_a_broken_budget_names_where_it_is_set(line: int | None, location: str) -> None:
    outcome = judged(Budget(bounds=NONE_SPILLED, line=line), of=Numbers(vgpr_spills=3))
    (finding,) = (f for one in outcome.judged for f in one.result.findings if f.rule == "KI206")
    assert finding.message.endswith(f"({location})")


def test_waves_of_an_unknown_target_are_one_problem(tmp_path: Path) -> None:
    """A budget on waves adds no second problem to the unknown target; one on spills does."""
    config = tmp_path / "kernelinfo.toml"
    for key, problems in (("waves", 1), ("vgpr-spill", 2)):
        config.write_text(f'[[budget]]\nkernel = "*"\n{key} = 2\n')
        _, err, code = run("check", "broken/unknown-target.s", "--config", str(config))
        assert (code, len(err.splitlines())) == (2, problems), err
