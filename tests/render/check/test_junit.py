"""JUnit's XML, read back by a parser of XML and by a reader of JUnit."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hypothesis import given
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from kernelinfo import Finding
from kernelinfo.gate.outcome import VANISHED, Judged, Notice, Outcome
from kernelinfo.render import View
from kernelinfo.render.check.junit import render

from .outcomes import BROKEN, TUTORIAL, excusing, hostile, of_kernels, outcome_of

CHILDREN = {"skipped", "failure", "error", "system-out"}


def document(outcome: Outcome) -> Element:
    """The document, of the shape that Jenkins' junit-10.xsd describes."""
    root = ElementTree.fromstring("".join(render(outcome, View())).encode("utf-8"))
    assert root.tag == "testsuites"
    assert root.attrib.keys() == {"name", "tests", "failures", "errors"}
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.attrib.keys() == {"name", "tests", "failures", "errors", "skipped"}
        assert int(suite.attrib["tests"]) == len(suite)
        for case in suite:
            assert case.tag == "testcase"
            assert case.attrib.keys() == {"name", "classname"}
            assert {child.tag for child in case} <= CHILDREN
            assert len([child for child in case if child.tag != "system-out"]) <= 1
    return root


def cases(outcome: Outcome) -> Iterator[TestCase]:
    """As a reader of JUnit understands them."""
    document(outcome)
    for suite in JUnitXml.fromstring("".join(render(outcome, View()))):
        yield from suite


def test_one_case_a_kernel() -> None:
    listed = list(cases(outcome_of(TUTORIAL)))
    assert [case.name for case in listed] == [
        "empty(int, double*)",
        "vgprbound(int, double*)",
        "ldsbound(int, double*)",
        "sgprbound(int, double*)",
    ]
    assert {case.classname for case in listed} == {f"fixtures/assembly/{TUTORIAL.name}/gfx90a"}
    assert [case.is_passed for case in listed] == [True, True, True, False]
    (failure,) = listed[3].result
    assert isinstance(failure, Failure)
    assert failure.type == "spill-in-loop, at-cap-and-spilling"
    assert "14 spill reloads inside loop" in failure.message
    assert "KI302 warning: sgprbound(int, double*)" in failure.text


def test_what_is_excused_is_skipped_with_its_reason() -> None:
    outcome = excusing(outcome_of(TUTORIAL), "KI106", "still faster")
    (*_, last) = cases(outcome)
    assert [type(result) for result in last.result] == [Failure]
    assert "KI106 suppressed: still faster" in last.system_out
    (*_, last) = cases(excusing(outcome, "KI302", "so be it"))
    (skipped,) = last.result
    assert isinstance(skipped, Skipped)
    assert "KI106 suppressed: still faster" in skipped.message
    assert "KI302 suppressed: so be it" in skipped.message


def test_what_cannot_be_answered_is_an_error() -> None:
    (case,) = cases(outcome_of(BROKEN))
    (error,) = case.result
    assert isinstance(error, Error)
    assert case.name == "fixtures/broken/truncated.co"
    assert error.message


def test_notices_are_cases_of_the_gate() -> None:
    expired = Finding("KI505", "suppression-expired", "error", "ended 2026-01-01")
    unused = Finding("KI506", "suppression-unused", "note", "matches nothing")
    notices = (Notice(expired, "KI101 a*"), Notice(unused, "KI101 b*"))
    listed = list(cases(of_kernels(outcome_of(TUTORIAL, notices=notices))))
    assert [(case.name, case.is_passed) for case in listed] == [
        ("KI505 KI101 a*", False),
        ("KI506 KI101 b*", True),
    ]


def test_a_vanished_kernel_is_an_error_however_mild() -> None:
    gone = Notice(Finding(VANISHED, "kernel-vanished", "note", "not in the build"), "axpy(float*)")
    (case,) = cases(of_kernels(outcome_of(TUTORIAL, notices=(gone,))))
    (error,) = case.result
    assert isinstance(error, Error)


def test_kernels_of_one_name_stay_two_cases() -> None:
    outcome = outcome_of(TUTORIAL)
    last = outcome.judged[3].result
    twin = last._replace(kernel=last.kernel._replace(symbol="_Z9sgprboundiPd.intern"))
    listed = cases(of_kernels(outcome, Judged(last), Judged(twin)))
    assert [case.name for case in listed] == [
        "sgprbound(int, double*) [_Z9sgprboundiPd]",
        "sgprbound(int, double*) [_Z9sgprboundiPd.intern]",
    ]


def test_code_objects_of_one_member_are_several_suites() -> None:
    """Two bundles of a library, each with the same kernel for the same target."""
    outcome = outcome_of(TUTORIAL)
    first = outcome.judged[3].result
    code_object = first.kernel.code_object
    others = [
        first._replace(
            kernel=first.kernel._replace(code_object=code_object._replace(offset=offset))
        )
        for offset in (4096, 8192)
    ]
    listed = cases(of_kernels(outcome, Judged(first), *map(Judged, others)))
    path = f"fixtures/assembly/{TUTORIAL.name}"
    assert [(case.classname, case.name) for case in listed] == [
        (f"{path}{number}/gfx90a", "sgprbound(int, double*)") for number in ("", " #2", " #3")
    ]


@given(hostile())
def test_anything_may_be_called_anything(outcome: Outcome) -> None:
    root = document(outcome)
    wanted = len(outcome.judged) + len(outcome.notices) + len(outcome.problems)
    assert len(root.findall(".//testcase")) == wanted
    failing = sum(any(map(outcome.fails, one.result.findings)) for one in outcome.judged)
    failing += sum(outcome.fails(notice.finding) for notice in outcome.notices)
    assert len(root.findall(".//failure")) == failing
    assert len(root.findall(".//error")) == len(outcome.problems)
