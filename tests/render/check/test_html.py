"""The gate's page: passed or failed first, what is new, what is excused."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from kernelinfo.gate.outcome import Notice, Outcome
from kernelinfo.render import View
from kernelinfo.render.check.html import render
from kernelinfo.rules.documented import documented

from ..test_html import data_of
from .outcomes import BROKEN, TUTORIAL, excusing, hostile, of_kernels, outcome_of


def gate(outcome: Outcome) -> dict[str, Any]:
    shown = data_of("".join(render(outcome, View())))["gate"]
    assert isinstance(shown, dict)
    return shown


def claims_of(shown: dict[str, Any], title: str) -> list[list[Any]]:
    (found,) = (claims for name, count, claims in shown["lists"] if name == title)
    assert isinstance(found, list)
    return found


def test_many_claims_are_counted_and_the_worst_listed() -> None:
    outcome = outcome_of(TUTORIAL)
    shown = gate(of_kernels(outcome, *outcome.judged * 40))
    _, count, claims = shown["lists"][1]
    assert (count, len(claims)) == (80, 50)


def test_what_fails_is_listed_with_its_kernel_and_line() -> None:
    shown = gate(outcome_of(TUTORIAL))
    assert shown["passed"] is False
    assert shown["headline"] == "failed: 2 warnings · 4 kernels · fails on warning"
    failing = claims_of(shown, "Fails")
    assert [(rule, kernel) for _, rule, kernel, *_ in failing] == [("KI106", 3), ("KI302", 3)]
    assert failing[0][5].endswith(f"{TUTORIAL.name}:1965")


def test_notes_on_the_gate_are_listed_the_compiler_first() -> None:
    outcome = outcome_of(TUTORIAL)
    notices = tuple(
        Notice(documented(rule).found(message), subject)
        for rule, message, subject in (
            ("KI506", "excuses nothing", "gemm*"),
            ("KI507", "built by clang 22", "toolchain"),
        )
    )
    shown = gate(outcome._replace(notices=notices))
    assert [claim[:2] for claim in claims_of(shown, "About the gate")] == [
        ["note", "KI507"],
        ["note", "KI506"],
    ]


def test_what_is_excused_is_listed_with_its_reason() -> None:
    shown = gate(excusing(outcome_of(TUTORIAL), "KI302", "known")._replace(fail_on="error"))
    assert shown["passed"] is True
    (excused,) = claims_of(shown, "Suppressed")
    assert excused[6] == "known (until 2027-03-31)"


def test_what_cannot_be_answered_has_not_passed() -> None:
    shown = gate(outcome_of(BROKEN))
    assert shown["passed"] is False
    assert shown["headline"].startswith("cannot answer: 1 problem")


@settings(max_examples=20)
@given(hostile())
def test_nothing_leaves_its_place(outcome: Outcome) -> None:
    page = "".join(render(outcome, View()))
    page.encode()
    plain = "".join(render(outcome_of(BROKEN if not outcome.judged else TUTORIAL), View()))
    assert page.count("<script") == plain.count("<script")
    gate(outcome)
