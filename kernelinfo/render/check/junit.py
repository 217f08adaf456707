"""JUnit XML for Jenkins and GitLab: one testcase per kernel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kernelinfo.gate.outcome import VANISHED, Outcome
from kernelinfo.kernel import Result
from kernelinfo.render import View
from kernelinfo.render.check.claims import Claim, claims, location_in, problem_text
from kernelinfo.render.names import member_path, name_of, printable

_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
"""Attribute of a suite -> tag of the elements that it counts."""


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """One suite per code object, and one for findings without a kernel that was read.

    The counts of all suites stand before the first one, so that each suite is made twice and none
    is kept."""
    by_result: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in claims(outcome, view):
        by_result[id(claim.result)].append(claim)
    counts = Counter(dict.fromkeys(_COUNTED, 0))
    for suite in _suites(outcome, by_result, view):
        counts.update({name: int(suite.attrib[name]) for name in _COUNTED})
    del counts["skipped"]  # Jenkins' schema knows it of a suite alone
    whole = Element("testsuites", {"name": "kernelinfo"} | {n: str(c) for n, c in counts.items()})
    yield _text(whole, xml_declaration=True).removesuffix(" />") + ">\n"
    for suite in _suites(outcome, by_result, view):
        ElementTree.indent(suite, level=1)
        yield f"  {_text(suite)}\n"
    yield "</testsuites>\n"


def _text(element: Element, *, xml_declaration: bool = False) -> str:
    # Character references for non-ASCII text are right in any output encoding.
    text: bytes = ElementTree.tostring(element, "us-ascii", xml_declaration=xml_declaration)
    return text.decode("ascii")


def _suites(
    outcome: Outcome, by_result: Mapping[int, list[Claim]], view: View
) -> Iterator[Element]:
    """The suites with their counts. `by_result` holds the claims by the result's `id`.

    A file may have several code objects of one member and target: the second is `#2`.
    """
    seen: Counter[tuple[str, str | None]] = Counter()
    by_code_object = groupby(outcome.report.results, lambda result: result.kernel.code_object)
    for code_object, results in by_code_object:
        where = member_path(location_in(code_object.path).path, code_object.member)
        seen[where, code_object.target] += 1
        if (number := seen[where, code_object.target]) > 1:
            where += f" #{number}"
        suite = Element("testsuite", name=where)
        group = f"{where}/{code_object.target or 'unknown'}"
        for result, name in _named(list(results), view):
            case = SubElement(suite, "testcase", classname=group, name=name)
            _fill(case, by_result.get(id(result), ()))
        yield _counted(suite)
    suite = Element("testsuite", name="kernelinfo")
    for claim in by_result.get(id(None), ()):
        name = f"{claim.finding.rule} {claim.subject}"
        case = SubElement(suite, "testcase", classname="kernelinfo.gate", name=name)
        if claim.finding.rule == VANISHED:
            SubElement(case, "error", message=claim.text, type=claim.finding.name)
        else:
            _fill(case, [claim])
    for problem in outcome.problems:
        path, text = printable(location_in(problem.path, problem.line).path), problem_text(problem)
        case = SubElement(suite, "testcase", classname="kernelinfo.problems", name=path)
        SubElement(case, "error", message=text, type="cannot-answer").text = f"{path}: {text}"
    if len(suite):
        yield _counted(suite)


def _counted(suite: Element) -> Element:
    """The suite with the counts of its elements as attributes."""
    for attribute, tag in _COUNTED.items():
        suite.set(attribute, str(len(suite.findall(f".//{tag}"))))
    return suite


def _named(results: Sequence[Result], view: View) -> Iterator[tuple[Result, str]]:
    """(result, testcase name). Equal names get the mangled name, so that each test counts."""
    names = [name_of(result.kernel, view.names) for result in results]
    count = Counter(names)
    for result, name in zip(results, names, strict=True):
        symbol = name_of(result.kernel, "mangled")
        yield result, name if count[name] == 1 else f"{name} [{symbol}]"


def _fill(case: Element, claims: Sequence[Claim]) -> None:
    """Fill a testcase: all failures in one element, since readers show only one; rest as output."""
    excused = [claim for claim in claims if not claim.counts]
    if failing := [claim for claim in claims if claim.fails]:
        kinds = ", ".join(dict.fromkeys(claim.finding.name for claim in failing))
        failure = SubElement(case, "failure", message=failing[0].text, type=kinds)
        failure.text = "\n".join(map(_line, failing))
    elif excused:
        SubElement(case, "skipped", message="; ".join(map(_excuse, excused)))
    milder = [_line(claim) for claim in claims if claim.counts and not claim.fails]
    if output := [*milder, *map(_excuse, excused)]:
        SubElement(case, "system-out").text = "\n".join(output)


def _line(claim: Claim) -> str:
    return f"{claim.where}: {claim.finding.rule} {claim.finding.severity}: {claim.sentence}"


def _excuse(claim: Claim) -> str:
    if claim.suppressed is None:
        return f"{claim.finding.rule} {claim.excuse} ({claim.text})"
    reason = printable(claim.suppressed.reason)
    return f"{claim.finding.rule} suppressed: {reason} ({claim.text})"
