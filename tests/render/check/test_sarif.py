"""SARIF holds against the published schema, and against what GitHub asks beyond it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import given
from jsonschema import Draft4Validator

import kernelinfo
from kernelinfo import Finding, manual
from kernelinfo.gate.outcome import Notice, Outcome
from kernelinfo.render import View
from kernelinfo.render.check.sarif import REPOSITORY, render
from kernelinfo.rules import every_rule, find

from ...manual.recipes import ROOT
from .outcomes import BINARY, BROKEN, LINES, TUTORIAL, excusing, hostile, of_kernels, outcome_of

SCHEMA = Path(__file__).parents[2] / "schemas" / "sarif-2.1.0-rtm.5.json"
VALIDATOR = Draft4Validator(
    json.loads(SCHEMA.read_text("utf-8")), format_checker=Draft4Validator.FORMAT_CHECKER
)


def run_of(outcome: Outcome) -> dict[str, Any]:
    text = "".join(render(outcome, View()))
    text.encode("utf-8")
    document = json.loads(text)
    VALIDATOR.validate(document)
    (run,) = document["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return dict(run)


def test_rules_come_with_their_documentation() -> None:
    run = run_of(outcome_of(TUTORIAL))
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert list(rules) == ["KI106", "KI302"]
    loop = rules["KI106"]
    assert loop["name"] == "spill-in-loop"
    assert loop["defaultConfiguration"]["level"] == "warning"
    documented = find("KI106")
    assert documented is not None
    assert loop["shortDescription"]["text"] == documented.summary
    assert "**What to do:**" in loop["help"]["markdown"]
    assert {r["level"] for r in run["results"]} == {"warning"}
    assert run["invocations"][0] == {"executionSuccessful": True, "toolExecutionNotifications": []}


def test_links_lead_to_the_rules_of_this_version() -> None:
    driver = run_of(outcome_of(TUTORIAL))["tool"]["driver"]
    page = f"/blob/v{kernelinfo.__version__}/kernelinfo/manual/rules.md"
    assert driver["informationUri"] == REPOSITORY + page
    headings = manual.page("rules")
    for rule in driver["rules"]:
        assert rule["helpUri"] == f"{driver['informationUri']}#{rule['id'].lower()}"
        assert f"\n## {rule['id']}\n" in "".join(headings)


def test_every_rule_has_a_heading_that_a_link_can_lead_to() -> None:
    headings = re.findall(r"^## (KI\d{3})$", "".join(manual.page("rules")), re.MULTILINE)
    assert headings == [rule.number for rule in every_rule()]


def test_the_address_is_the_one_of_the_project_and_of_the_recipes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Repository"] == REPOSITORY
    owner = REPOSITORY.removeprefix("https://github.com/")
    used = re.findall(r"(?:github\.com/|uses: )(\S+?/kernelinfo)\b", "".join(manual.page("ci")))
    assert set(used) == {owner}


def test_a_result_names_its_kernel() -> None:
    run = run_of(outcome_of(TUTORIAL))
    (loop,) = (r for r in run["results"] if r["ruleId"] == "KI106")
    assert loop["message"]["text"].startswith("sgprbound(int, double*) (gfx90a")
    (logical,) = loop["locations"][0]["logicalLocations"]
    assert logical["fullyQualifiedName"] == "sgprbound(int, double*)"
    assert logical["decoratedName"] == "_Z9sgprboundiPd"


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (LINES, ("src/tiny.hip", True)),
        (TUTORIAL, (f"fixtures/assembly/{TUTORIAL.name}", True)),
        (BINARY, (f"fixtures/code_object/{BINARY.name}", False)),
    ],
    ids=["source line", "line of the assembly", "artefact alone"],
)
def test_the_best_place_that_is_known(path: Path, where: tuple[str, bool]) -> None:
    outcome = outcome_of(path)
    finding = Finding("KI101", "vgpr-spill", "warning", "12 VGPRs spilled")
    first = outcome.judged[0]
    judged = first._replace(result=first.result._replace(findings=(finding,)))
    (result,) = run_of(of_kernels(outcome, judged))["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"].endswith(where[0])
    assert ("region" in location) == where[1]


def test_a_path_inside_the_repository_is_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    build = tmp_path / "build dir"
    build.mkdir()
    (build / "a%b:c.s").write_bytes(TUTORIAL.read_bytes())
    monkeypatch.chdir(build)
    results = run_of(outcome_of("a%b:c.s"))["results"]
    for result in results:
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifact == {"uri": "build%20dir/a%25b%3Ac.s", "uriBaseId": "%SRCROOT%"}


def test_fingerprints_outlive_moves_and_tell_results_apart(tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.s"
    moved.write_bytes(b"; a line more\n" + TUTORIAL.read_bytes())
    marks = [
        [result["partialFingerprints"] for result in run_of(outcome_of(path))["results"]]
        for path in (TUTORIAL, moved)
    ]
    assert marks[0] == marks[1]
    once = {mark["kernelinfo/v1"] for mark in marks[0]}
    assert len(once) == len(marks[0])
    twice = run_of(outcome_of(TUTORIAL, moved))["results"]
    assert len({r["partialFingerprints"]["kernelinfo/v1"] for r in twice}) == 2 * len(once)


def test_suppressed_results_are_marked_so() -> None:
    outcome = excusing(outcome_of(TUTORIAL), "KI106", "spills, still faster")
    marked = {r["ruleId"]: r["suppressions"] for r in run_of(outcome)["results"]}
    excuse = {"kind": "external", "justification": "spills, still faster; until 2027-03-31"}
    assert marked == {"KI106": [excuse], "KI302": []}


def test_problems_make_the_run_unsuccessful() -> None:
    (invocation,) = run_of(outcome_of(TUTORIAL, BROKEN))["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["level"] == "error"
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(
        "truncated.co"
    )


def test_a_notice_stands_where_to_look() -> None:
    unused = Finding("KI506", "suppression-unused", "note", "matches nothing")
    notice = Notice(unused, "KI101 rwkv*", path="kernelinfo.toml", line=7)
    (result,) = run_of(of_kernels(outcome_of(TUTORIAL, notices=(notice,))))["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "kernelinfo.toml"
    assert location["region"] == {"startLine": 7}


def test_names_are_neither_placeholders_nor_links() -> None:
    outcome = outcome_of(TUTORIAL)
    last = outcome.judged[3].result
    kernel = last.kernel._replace(name="f<{0}>[here](https://example.org)")
    judged = outcome.judged[3]._replace(result=last._replace(kernel=kernel))
    text = run_of(of_kernels(outcome, judged))["results"][0]["message"]["text"]
    assert text.startswith("f<{{0}}>[here\\](https://example.org)")


@given(hostile())
def test_anything_may_be_called_anything(outcome: Outcome) -> None:
    run = run_of(outcome)
    claimed = sum(len(one.result.findings) + len(one.suppressed) for one in outcome.judged)
    assert len(run["results"]) == claimed + len(outcome.notices)
    for result in run["results"]:
        for location in result["locations"]:
            if physical := location.get("physicalLocation"):
                uri = physical["artifactLocation"]["uri"]
                assert uri.isascii()
                assert unquote_to_bytes(urlsplit(uri).path)
