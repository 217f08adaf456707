"""Workflow commands, read as GitHub's runner reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from hypothesis import given

from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View
from kernelinfo.render.check.github import render

from ...test_golden import run
from .outcomes import BROKEN, TUTORIAL, excusing, hostile, outcome_of

# The runner's own grammar: ActionCommand.cs takes a line that begins with `::`, cuts at the first
# `::` after it, and undoes the escapes; `##[` anywhere begins a command of its old grammar.
COMMAND = re.compile(r"::(\w+)(?: (.*?))?::(.*)")


class Annotation(NamedTuple):
    command: str
    properties: dict[str, str]
    message: str


def commands(outcome: Outcome) -> tuple[list[Annotation], list[str]]:
    """(annotations that the runner sees, other lines)."""
    found, others = [], []
    text = "".join(render(outcome, View()))
    text.encode("utf-8")
    for line in text.splitlines():
        if not (match := COMMAND.fullmatch(line)):
            others.append(line)
            continue
        pairs = (pair.split("=", 1) for pair in match[2].split(","))
        properties = {key: _unescaped(value) for key, value in pairs}
        found.append(Annotation(match[1], properties, _unescaped(match[3])))
    return found, others


def _unescaped(text: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


def test_every_finding_stands_at_its_line() -> None:
    found, others = commands(outcome_of(TUTORIAL))
    path = f"fixtures/assembly/{TUTORIAL.name}"
    assert [(a.command, a.properties["title"]) for a in found] == [
        ("warning", "KI106 spill-in-loop"),
        ("warning", "KI302 at-cap-and-spilling"),
    ]
    assert {a.properties["file"] for a in found} == {path}
    label = int(found[0].properties["line"])
    assert TUTORIAL.read_text().splitlines()[label - 1].startswith("_Z9sgprboundiPd:")
    assert "14 spill reloads inside loop" in found[0].message
    assert others == ["kernelinfo: failed: 2 warnings · 4 kernels"]


def test_what_is_excused_is_not_annotated() -> None:
    outcome = excusing(outcome_of(TUTORIAL), "KI302", "known")
    found, others = commands(excusing(outcome, "KI106", "known"))
    assert found == []
    assert others == ["kernelinfo: passed: nothing found · 4 kernels · 2 suppressed"]


def test_what_cannot_be_answered_is_an_error() -> None:
    found, others = commands(outcome_of(BROKEN))
    (problem,) = found
    assert (problem.command, problem.properties["title"]) == ("error", "cannot answer")
    assert problem.properties["file"].endswith("truncated.co")
    assert others == ["kernelinfo: cannot answer: 1 problem · 0 kernels"]


@given(hostile())
def test_no_name_begins_a_command_of_its_own(outcome: Outcome) -> None:
    found, others = commands(outcome)
    claimed = sum(len(one.result.findings) for one in outcome.judged)
    assert len(found) == claimed + len(outcome.notices) + len(outcome.problems)
    assert len(others) == 1
    assert {a.command for a in found} <= {"error", "warning", "notice"}
    assert all(a.properties.keys() <= {"file", "line", "title"} for a in found)


def test_a_code_object_has_the_lines_of_its_kernels() -> None:
    """They are read of it once more, since a report does without them."""
    out, _, _ = run("check", "lines/attention-clang22-gfx942.co", "--format", "github")
    assert "::warning file=src/attention.hip,line=210," in out
