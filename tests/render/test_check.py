"""Formats of `check`, each read as its readers read it, on kernels that are called anything at all.

What they say of findings, excuses and problems is in tests/contract/check_formats.toml.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote_to_bytes, urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft202012Validator
from junitparser import Error, JUnitXml
from markdown_it import MarkdownIt

import kernelinfo
from kernelinfo import (
    Finding,
    Judged,
    Notice,
    Options,
    Outcome,
    Problem,
    Report,
    Result,
    Suppressed,
    analyse,
    load,
    manual,
)
from kernelinfo.errors import Message
from kernelinfo.kernel import Severity
from kernelinfo.render import View
from kernelinfo.rules import every_rule, find

from ..conftest import FIXTURES, TESTS
from ..outputs import outputs
from ..test_golden import run
from .test_html import data_of

TUTORIAL = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
TEXT = {"type": "string", "minLength": 1}
BEGIN = {"type": "object", "properties": {"begin": {"type": "integer", "minimum": 1}}}
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
            "lines": {**BEGIN, "required": ["begin"]},
        },
    },
}
"""https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format: all are required."""
GITLAB = Draft202012Validator(
    {"type": "array", "items": {"type": "object", "required": [*FIELDS], "properties": FIELDS}}
)
SARIF = Draft4Validator(
    json.loads((TESTS / "schemas/sarif-2.1.0-rtm.5.json").read_text("utf-8")),
    format_checker=Draft4Validator.FORMAT_CHECKER,
)
MARKDOWN = MarkdownIt("commonmark").enable("table")


@cache
def tutorial() -> tuple[Result, ...]:
    return Report.of(analyse([str(TUTORIAL)], Options())).results


@cache
def placed() -> Any:
    """The source line of a kernel."""
    return load(FIXTURES / "assembly/tiny-lines-clang22-gfx90a.s").kernels[0].source


def outcome(*judged: Judged, notices: tuple[Notice, ...] = (), problems: Any = ()) -> Outcome:
    report = Report(tuple(one.result for one in judged), problems)
    return Outcome(report, notices, "warning", tuple(enumerate(judged)))


def written(shown: Outcome, format: str) -> str:
    text = "".join(outputs("check")[format](shown, View()))
    text.encode("utf-8")
    return text


texts = st.text(
    st.characters(codec=None)  # lone surrogates, too: undecodable bytes of names become such
    | st.sampled_from("|`<>&[](){}@#*_~\\%:,;\"'\n\r\t\0\x1b\u202e\ud800\udcff")
)
paths = st.binary(min_size=1, max_size=40).map(
    lambda raw: raw.replace(b"\0", b"0").decode("utf-8", "surrogateescape")
)
findings = st.builds(
    Finding,
    *map(st.just, ("KI101", "vgpr-spill")),
    st.sampled_from(get_args(Severity)),
    texts,
    texts,
)


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    result = tutorial()[3]
    code_object = result.kernel.code_object._replace(path=draw(paths), member=draw(texts))
    source = None
    if draw(st.booleans()):
        source = placed()._replace(file=draw(paths), line=draw(st.integers(1, 9)))
    kernel = result.kernel._replace(
        code_object=code_object, name=draw(texts), symbol=draw(texts), source=source
    )
    told = tuple(draw(st.lists(findings, max_size=2)))
    excused = draw(st.lists(st.builds(Suppressed, findings, texts, st.none()), max_size=1))
    return Judged(result._replace(kernel=kernel, findings=told), tuple(excused))


# Each by a function of its own: hypothesis would also fill the fields that have defaults.
notices = st.tuples(findings, texts, st.none() | texts, st.none() | paths).map(
    lambda fields: Notice(*fields)
)
problems = st.tuples(paths, texts.map("cannot be read: ".__add__), st.none() | texts).map(
    lambda fields: Problem(fields[0], Message(fields[1], "file-unreadable"), fields[2])
)
kernels = st.lists(judged(), max_size=2, unique_by=lambda one: one.result.kernel.name)
hostile = st.tuples(kernels, *(st.lists(each, max_size=2) for each in (notices, problems))).map(
    lambda lists: outcome(*lists[0], notices=tuple(lists[1]), problems=tuple(lists[2]))
)
"""Outcomes whose every name, message and path is anything at all."""

# The runner's own grammar: ActionCommand.cs takes a line that begins with `::`, cuts at the first
# `::` after it, and undoes the escapes; `##[` anywhere begins a command of its old grammar.
COMMAND = re.compile(r"::(?:error|warning|notice)(?: ((?:(?:file|line|title)=[^,]*?,?)*?))?::.*")


@given(hostile)
def test_anything_may_be_called_anything(shown: Outcome) -> None:
    told = sum(len(one.result.findings) for one in shown.judged)
    excused = sum(len(one.suppressed) for one in shown.judged)
    others = len(shown.notices) + len(shown.problems)

    lines = written(shown, "github").splitlines()
    assert sum(bool(COMMAND.fullmatch(line)) for line in lines) == told + others == len(lines) - 1
    assert "##[" not in "".join(lines)

    assert told + len(shown.notices) <= len(issues(shown)) <= told + others
    run_ = sarif(shown)
    assert len(run_["results"]) == told + excused + len(shown.notices)
    for result in run_["results"]:
        assert run_["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            if physical := location.get("physicalLocation"):
                uri = physical["artifactLocation"]["uri"]
                assert uri.isascii()
                assert unquote_to_bytes(urlsplit(uri).path)

    root = junit(shown)
    fails = [any(map(shown.fails, one.result.findings)) for one in shown.judged]
    assert len(root.findall(".//testcase")) == len(shown.judged) + others
    failing = sum(fails) + sum(shown.fails(notice.finding) for notice in shown.notices)
    assert len(root.findall(".//failure")) == failing
    assert len(root.findall(".//error")) == len(shown.problems)

    tables, tokens = markdown(written(shown, "markdown"))
    assert sum(len(rows) - 1 for rows in tables) == sum(fails) + excused
    assert all(len(row) == len(rows[0]) for rows in tables for row in rows)
    assert sum(token.type == "list_item_open" for token in tokens) == others
    for child in (child for token in tokens for child in token.children or ()):
        assert child.type not in ("link_open", "image", "em_open")
        assert child.type != "html_inline" or child.content in ("<br>", "<code>", "</code>")


@settings(max_examples=20)
@given(hostile)
def test_nothing_leaves_its_place_on_the_page(shown: Outcome) -> None:
    page = written(shown, "html")
    plain = outcome(*map(Judged, tutorial())) if shown.judged else outcome()
    assert page.count("<script") == written(plain, "html").count("<script")
    assert isinstance(data_of(page)["gate"], dict)


def issues(shown: Outcome) -> list[dict[str, Any]]:
    """Code Quality issues of GitLab, none with the fingerprint of another."""
    listed: list[dict[str, Any]] = json.loads(written(shown, "gitlab"))
    GITLAB.validate(listed)
    assert len({issue["fingerprint"] for issue in listed}) == len(listed)
    return listed


def sarif(shown: Outcome) -> dict[str, Any]:
    document = json.loads(written(shown, "sarif"))
    SARIF.validate(document)
    (run,) = document["runs"]
    return dict(run)


def junit(shown: Outcome) -> Element:
    """The document, of the shape that Jenkins' junit-10.xsd describes."""
    root = ElementTree.fromstring(written(shown, "junit").encode("utf-8"))
    assert (root.tag, {*root.attrib}) == ("testsuites", {"name", "tests", "failures", "errors"})
    for suite in root:
        assert (suite.tag, {*suite.attrib}) == ("testsuite", {*root.attrib, "skipped"})
        assert int(suite.attrib["tests"]) == len(suite)
        for case in suite:
            assert (case.tag, {*case.attrib}) == ("testcase", {"name", "classname"})
            assert {child.tag for child in case} <= {"skipped", "failure", "error", "system-out"}
            assert len([child for child in case if child.tag != "system-out"]) <= 1
    return root


def cases(shown: Outcome) -> Iterator[Any]:
    """As a reader of JUnit understands them."""
    for suite in JUnitXml.fromstring(written(shown, "junit")):
        yield from suite


def markdown(text: str) -> tuple[list[list[list[str]]], list[Any]]:
    """Rows of cells of each table as GitHub's dialect shows them, and all tokens."""
    tables: list[list[list[str]]] = []
    tokens = MARKDOWN.parse(text)
    for token in tokens:
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and tables and token.level >= 4:
            tables[-1][-1].append(token.content)
    return tables, tokens


def test_kernels_of_one_name_are_several_cases() -> None:
    """By symbol in one code object; those of other code objects in suites of their own."""
    last = tutorial()[3]
    twin = last._replace(kernel=last.kernel._replace(symbol="_Z9sgprboundiPd.intern"))
    assert [case.name for case in cases(outcome(Judged(last), Judged(twin)))] == [
        "sgprbound(int, double*) [_Z9sgprboundiPd]",
        "sgprbound(int, double*) [_Z9sgprboundiPd.intern]",
    ]
    placed = [last.kernel.code_object._replace(path="a.so", offset=at) for at in (0, 4096, 8192)]
    moved = [last._replace(kernel=last.kernel._replace(code_object=one)) for one in placed]
    listed = [(case.classname, case.name) for case in cases(outcome(*map(Judged, moved)))]
    name = "sgprbound(int, double*)"
    assert listed == [("a.so/gfx90a", name), ("a.so #2/gfx90a", name), ("a.so #3/gfx90a", name)]


def test_a_vanished_kernel_is_an_error_however_mild() -> None:
    gone = Notice(Finding("KI502", "kernel-vanished", "note", "not in the build"), "axpy(float*)")
    (case,) = cases(outcome(notices=(gone,)))
    assert [type(result) for result in case.result] == [Error]


def test_kernels_of_one_source_line_are_one_line() -> None:
    """Each with the same findings; a kernel's own two findings of a rule stay two lines."""
    many, placed_at = [], placed()
    for number in range(16):
        result = tutorial()[3]
        kernel = result.kernel._replace(name=f"k{number}", symbol=f"k{number}", source=placed_at)
        found = [
            Finding("KI101", "vgpr-spill", "warning", f"{number} → {number + 2} {noun} spilled")
            for noun in ("VGPRs", "SGPRs")
        ]
        many.append(Judged(result._replace(kernel=kernel, findings=tuple(found))))
    lines = written(outcome(*many), "text").splitlines()
    head = f"{placed_at.file}:{placed_at.line}: warning KI101 k0 (gfx90a) and 15 more kernels: "
    assert lines[:-1] == [f"{head}0 → 2 {noun} spilled" for noun in ("VGPRs", "SGPRs")]
    assert "32 warnings" in lines[-1]
    listed = "".join(outputs("check")["text"](outcome(*many), View(top=0)))
    assert listed.count("KI101") == 32
    assert len(written(outcome(*many), "github").splitlines()) == 3


def test_many_claims_are_counted_and_the_worst_listed() -> None:
    page = written(outcome(*map(Judged, tutorial() * 40)), "html")
    _, count, claims = data_of(page)["gate"]["lists"][1]
    assert (count, len(claims)) == (80, 50)


def test_fingerprints_outlive_moves_and_tell_results_apart(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_bytes(TUTORIAL.read_bytes())
    (tmp_path / "moved.s").write_bytes(b"; a line more\n" + TUTORIAL.read_bytes())

    def marks(*names: str) -> list[list[str]]:
        ways = {"gitlab": r'"fingerprint": "(\w+)"', "sarif": r'"kernelinfo/v1": "(\w+)"'}
        return [
            re.findall(pattern, run("check", *names, "--format", way, folder=tmp_path)[0])
            for way, pattern in ways.items()
        ]

    assert marks("a.s") == marks("moved.s")
    assert [len({*both}) for both in marks("a.s", "moved.s")] == [4, 4]


def test_links_lead_to_the_rules_of_this_version() -> None:
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    repository = project["urls"]["Repository"]
    driver = sarif(outcome(*map(Judged, tutorial())))["tool"]["driver"]
    page = f"{repository}/blob/v{kernelinfo.__version__}/kernelinfo/manual/rules.md"
    assert driver["informationUri"] == page
    for rule in driver["rules"]:
        assert rule["helpUri"] == f"{page}#{rule['id'].lower()}"
        documented = find(rule["id"])
        assert documented
        assert rule["shortDescription"]["text"] == documented.summary
    headings = re.findall(r"^## (KI\d{3})$", "".join(manual.page("rules")), re.MULTILINE)
    assert headings == [rule.number for rule in every_rule()]
    used = re.findall(r"(?:github\.com/|uses: )(\S+?/kernelinfo)\b", "".join(manual.page("ci")))
    assert {*used} == {repository.removeprefix("https://github.com/")}
