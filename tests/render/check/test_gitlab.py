"""Code Quality issues have the fields that GitLab documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from jsonschema import Draft202012Validator

from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View
from kernelinfo.render.check.gitlab import render

from .outcomes import BROKEN, TUTORIAL, excusing, hostile, outcome_of

TEXT = {"type": "string", "minLength": 1}
FIELDS = {
    "description": TEXT,
    "check_name": TEXT,
    "fingerprint": TEXT,
    "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
    "location": {
        "type": "object",
        "required": ["path", "lines"],
        "properties": {
            "path": {"type": "string", "pattern": "^(?!\\./).+"},
            "lines": {
                "type": "object",
                "required": ["begin"],
                "properties": {"begin": {"type": "integer", "minimum": 1}},
            },
        },
    },
}
"""https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format: all are required."""

VALIDATOR = Draft202012Validator(
    {
        "type": "array",
        "items": {"type": "object", "required": list(FIELDS), "properties": FIELDS},
    }
)


def issues(outcome: Outcome) -> list[dict[str, Any]]:
    text = "".join(render(outcome, View()))
    text.encode("utf-8")
    found = json.loads(text)
    VALIDATOR.validate(found)
    marks = [issue["fingerprint"] for issue in found]
    assert len(set(marks)) == len(marks)
    return list(found)


def test_each_finding_is_an_issue() -> None:
    found = issues(outcome_of(TUTORIAL))
    listed = [(issue["check_name"], issue["severity"]) for issue in found]
    assert listed == [
        ("spill-in-loop", "minor"),
        ("at-cap-and-spilling", "minor"),
    ]
    assert found[0]["description"].startswith("sgprbound(int, double*) (gfx90a")
    assert found[0]["location"]["path"] == f"fixtures/assembly/{TUTORIAL.name}"


def test_what_is_excused_is_none() -> None:
    outcome = excusing(outcome_of(TUTORIAL), "KI302", "no matter")
    names = [issue["check_name"] for issue in issues(outcome)]
    assert names == ["spill-in-loop"]


def test_what_cannot_be_answered_is_critical() -> None:
    (issue,) = issues(outcome_of(BROKEN))
    assert (issue["check_name"], issue["severity"]) == ("cannot-answer", "critical")
    assert issue["location"]["path"] == "fixtures/broken/truncated.co"


def test_fingerprints_are_the_same_wherever_the_file_lies(tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.s"
    moved.write_bytes(b"; a line more\n" + TUTORIAL.read_bytes())
    here, there = issues(outcome_of(TUTORIAL)), issues(outcome_of(moved))
    assert [i["fingerprint"] for i in here] == [i["fingerprint"] for i in there]
    assert [i["location"] for i in here] != [i["location"] for i in there]


@given(hostile())
def test_anything_may_be_called_anything(outcome: Outcome) -> None:
    found = issues(outcome)
    claimed = sum(len(one.result.findings) for one in outcome.judged)
    assert claimed + len(outcome.notices) <= len(found)
    assert len(found) <= claimed + len(outcome.notices) + len(outcome.problems)
