"""Suppressed findings, expired suppressions, and suppressions without a finding."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import Options, Outcome, check
from kernelinfo.config import MEASURES, Bound, Budget, Configuration, Suppression
from kernelinfo.gate import Scope

from .builds import Numbers, report

(VGPR_SPILL,) = (measure for measure in MEASURES if measure.key == "vgpr-spill")
TODAY = date(2026, 11, 21)
BUDGET = Budget(bounds=((VGPR_SPILL, Bound("<=", 0)),))
BORNE = Suppression("KI206", "k", "still faster", line=3)


def judged(*suppressions: Suppression, scope: Scope | None = None) -> Outcome:
    """The outcome on one kernel that breaks its budget."""
    configuration = Configuration(
        Path("kernelinfo.toml"), budgets=(BUDGET,), suppressions=suppressions
    )
    return check(
        report([Numbers(vgpr_spills=3)]), configuration, scope=scope or Scope(), today=TODAY
    )


def test_excused() -> None:
    rules, names = ("KI206", "KI2", "KI", "occupancy-budget"), ("k", "k(int)", "_Zk", "*", "re:^k$")
    for rule, kernel, arch in product(rules, names, (None, "gfx90a")):
        outcome = judged(Suppression(rule, kernel, "still faster", arch))
        (only,) = outcome.judged
        assert not outcome.failed
        assert outcome.findings == ()
        excused = [(one.finding.rule, one.reason) for one in only.suppressed]
        assert excused == [("KI206", "still faster")]


def test_not_excused_and_said_to_be_unused() -> None:
    for other in (
        Suppression("KI207", "k", "why"),
        Suppression("KI206", "kk", "why"),
        Suppression("KI206", "k", "why", "gfx942"),
    ):
        outcome = judged(other)
        assert outcome.failed
        assert [notice.finding.rule for notice in outcome.notices] == ["KI506"]
        assert outcome.notices[0].finding.severity == "note"


@given(st.integers(-400, 400))
def test_the_last_day_is_a_day_on_which_it_holds(days: int) -> None:
    outcome = judged(BORNE._replace(until=TODAY + timedelta(days)))
    reported = [(notice.finding.rule, notice.finding.severity) for notice in outcome.notices]
    assert outcome.failed == (days < 0)
    assert reported == ([("KI505", "error")] if days < 0 else [])
    assert len(outcome.judged[0].suppressed) == (days >= 0)


def test_behind_an_expired_one_another_may_excuse() -> None:
    outcome = judged(BORNE._replace(until=date(2020, 1, 1)), BORNE._replace(line=9))
    assert outcome.judged[0].suppressed
    assert [(n.finding.rule, n.path, n.line) for n in outcome.notices] == [
        ("KI505", "kernelinfo.toml", 3)
    ]


def test_of_a_part_nothing_is_unused() -> None:
    elsewhere = Suppression("KI206", "elsewhere", "why")
    assert judged(elsewhere, scope=Scope(paths=("build",))).notices == ()
    assert judged(elsewhere, scope=Scope(options=Options(kernels=("k",)))).notices == ()
