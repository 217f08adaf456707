"""JUnit XML for Jenkins and GitLab: one testcase per kernel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kernelinfo.gate.outcome import VANISHED, Outcome
from kernelinfo.kernel import Result
from kernelinfo.render import View
from kernelinfo.render.check.claims import Claim, claims, location_in, problem_text
from kernelinfo.render.names import member_path, name_of, printable


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """One suite per code object, and one for findings without a kernel that was read."""
    by_result: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in claims(outcome, view):
        by_result[id(claim.result)].append(claim)
    suites = Element("testsuites", name="kernelinfo")
    results = (judged.result for judged in outcome.judged)
    for code_object, found in groupby(results, lambda result: result.kernel.code_object):
        where = member_path(location_in(code_object.path).path, code_object.member)
        suite = SubElement(suites, "testsuite", name=where)
        group = f"{where}/{code_object.target or 'unknown'}"
        for result, name in _named(list(found), view):
            case = SubElement(suite, "testcase", classname=group, name=name)
            _fill(case, by_result[id(result)], outcome)
    suite = Element("testsuite", name="kernelinfo")
    for claim in by_result[id(None)]:
        name = f"{claim.finding.rule} {claim.subject}"
        case = SubElement(suite, "testcase", classname="kernelinfo.gate", name=name)
        if claim.finding.rule == VANISHED:
            SubElement(case, "error", message=claim.text, type=claim.finding.name)
        else:
            _fill(case, [claim], outcome)
    for problem in outcome.problems:
        path, text = printable(location_in(problem.path, problem.line).path), problem_text(problem)
        case = SubElement(suite, "testcase", classname="kernelinfo.problems", name=path)
        SubElement(case, "error", message=text, type="cannot-answer").text = f"{path}: {text}"
    if len(suite):
        suites.append(suite)
    _count(suites)
    ElementTree.indent(suites)
    # Character references for non-ASCII text are right in any output encoding.
    yield ElementTree.tostring(suites, "us-ascii", xml_declaration=True).decode("ascii") + "\n"


def _named(results: Sequence[Result], view: View) -> Iterator[tuple[Result, str]]:
    """(result, testcase name). Equal names get the mangled name, so that each test counts."""
    names = [name_of(result.kernel, view.names) for result in results]
    count = Counter(names)
    for result, name in zip(results, names, strict=True):
        symbol = name_of(result.kernel, "mangled")
        yield result, name if count[name] == 1 else f"{name} [{symbol}]"


def _fill(case: Element, found: Sequence[Claim], outcome: Outcome) -> None:
    """Fill a testcase: all failures in one element, since readers show only one; rest as output."""
    failing = [c for c in found if c.counts and outcome.fails(c.finding)]
    excused = [c for c in found if not c.counts]
    others = [c for c in found if c.counts and not outcome.fails(c.finding)]
    if failing:
        kinds = ", ".join(dict.fromkeys(claim.finding.name for claim in failing))
        failure = SubElement(case, "failure", message=failing[0].text, type=kinds)
        failure.text = "\n".join(map(_line, failing))
    elif excused:
        SubElement(case, "skipped", message="; ".join(map(_excuse, excused)))
    if output := [_line(claim) for claim in others] + [_excuse(claim) for claim in excused]:
        SubElement(case, "system-out").text = "\n".join(output)


def _line(claim: Claim) -> str:
    return f"{claim.where}: {claim.finding.rule} {claim.finding.severity}: {claim.sentence}"


def _excuse(claim: Claim) -> str:
    if claim.suppressed is None:
        return f"{claim.finding.rule} {claim.excuse} ({claim.text})"
    reason = printable(claim.suppressed.reason)
    return f"{claim.finding.rule} suppressed: {reason} ({claim.text})"


def _count(suites: Element) -> None:
    counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for suite in (*suites, suites):
        for attribute, tag in counted.items():
            if suite is not suites or tag != "skipped":  # Jenkins' schema knows it of a suite alone
                suite.set(attribute, str(len(suite.findall(f".//{tag}"))))
