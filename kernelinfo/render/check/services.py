"""The outcome of a check for CI services: GitHub's workflow commands, SARIF, GitLab, JUnit.

Workflow commands show claims next to the lines of a pull request.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from inspect import cleandoc
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kernelinfo import __version__
from kernelinfo.gate.outcome import VANISHED, Outcome
from kernelinfo.kernel import Finding, Result, Severity
from kernelinfo.render import REPOSITORY, View, check, diff, table
from kernelinfo.render.json import encoded
from kernelinfo.render.names import member_path, name_of, printable
from kernelinfo.render.paint import paint
from kernelinfo.rules import find

_MOST = 10
_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""Escapes of a message as in @actions/core, so that no text starts a command."""
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render_github(outcome: Outcome, view: View) -> Iterator[str]:
    """Annotations for the worst problems and claims, plain lines for the others, then the verdict.
    GitHub shows ten annotations per step."""
    for number, (command, location, title, message) in enumerate(_worst_first(outcome, view)):
        if number < _MOST:
            yield _command(command, location, title, message)
        else:
            where = f"{location.text}: " if location else ""
            yield paint([(f"{where}{command} {title}: {message}", "")], False) + "\n"
    yield f"kernelinfo: {check.headline(outcome)}\n"


def _worst_first(
    outcome: Outcome, view: View
) -> Iterator[tuple[str, check.FindingLocation | None, str, str]]:
    """(command, location, title, message) of each annotation."""
    for problem in outcome.problems:
        location = check.location_in(problem.path, problem.line)
        yield "error", location, "cannot answer", check.problem_text(problem)
    ranks = _ranks(outcome)
    counted = (claim for claim in check.claims(outcome, view) if claim.counts)
    ranked = sorted(
        counted, key=lambda claim: (*table.worst_first(claim.finding), _rank(claim, ranks))
    )
    for claim in check.fold(ranked, outcome, view):
        command, rule = _COMMANDS[claim.finding.severity], claim.finding
        yield command, claim.location, f"{rule.rule} {rule.name}", claim.sentence
    for remark in outcome.remarks:
        yield "notice", None, "not covered", printable(remark)
    for pair in outcome.renamed:
        renamed = f"{printable(pair.old.name)} → {printable(pair.new.name)}"
        yield "notice", None, "renamed", renamed


_Ranks = dict[tuple[str, str | None], int]
"""Symbol and target of a kernel -> its place among those that moved since the baseline."""


def _ranks(outcome: Outcome) -> _Ranks:
    moved = diff.rows(outcome.comparison) if outcome.comparison else []
    ranks: _Ranks = {}
    for rank, row in enumerate(moved):
        ranks.setdefault((row.kernel.symbol, row.kernel.target), rank)
    return ranks


def _rank(claim: check.Claim, ranks: _Ranks) -> int:
    """Sort key: kernels that lost most first, those that did not move last."""
    symbol = claim.result.kernel.symbol if claim.result else ""
    return ranks.get((symbol, claim.target), len(ranks))


def _command(command: str, location: check.FindingLocation | None, title: str, message: str) -> str:
    properties = {} if location is None else {"file": printable(location.path)}
    if location is not None and location.line is not None:
        properties["line"] = str(location.line)
    properties["title"] = title
    listed = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{command} {listed}::{message.translate(_DATA)}\n"


# Code scanning: SARIF 2.1.0, also for editors, and GitLab's Code Quality report.


def fingerprint(*parts: str) -> str:
    """The first 32 hex digits of the SHA-256 of the parts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def of_claim(claim: check.Claim) -> str:
    """The fingerprint of a claim's identity, and of its number unless that is 1."""
    number = () if claim.number == 1 else (str(claim.number),)
    return fingerprint(*claim.identity, *number)


_RULES = f"{REPOSITORY}/blob/v{__version__}/kernelinfo/manual/rules.md"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(outcome: Outcome, view: View) -> Iterator[str]:
    """One run: rules with findings, all claims, and all problems as notifications."""
    all_claims = list(check.claims(outcome, view))
    spoke = {claim.finding.rule: claim.finding for claim in all_claims}
    numbers = sorted(spoke)
    driver = {
        "name": "kernelinfo",
        "semanticVersion": __version__,
        "informationUri": _RULES,
        "rules": [_rule(spoke[number]) for number in numbers],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {
                "executionSuccessful": outcome.answered,
                "toolExecutionNotifications": [
                    {
                        **({"descriptor": {"id": problem.code}} if problem.code else {}),
                        "level": "error",
                        "message": _message(check.problem_text(problem)),
                        "locations": _locations(check.location_in(problem.path, problem.line)),
                    }
                    for problem in outcome.problems
                ],
            }
        ],
        "results": (_result(claim, numbers) for claim in all_claims),
    }
    yield from encoded({"$schema": _SCHEMA, "version": "2.1.0", "runs": iter([run])})


def _rule(finding: Finding) -> dict[str, Any]:
    """SARIF descriptor of a finding's rule."""
    descriptor: dict[str, Any] = {"id": finding.rule, "name": finding.name}
    if rule := find(finding.rule):
        documentation = cleandoc(rule.documentation)
        descriptor |= {
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": documentation.partition("\n\n")[2] or rule.summary},
            "help": {"text": documentation, "markdown": _markdown(documentation)},
            "helpUri": f"{_RULES}#{finding.rule.lower()}",
            "defaultConfiguration": {"level": rule.severity},
        }
    return descriptor


def _markdown(documentation: str) -> str:
    """Documentation as Markdown: each paragraph starts with its heading in bold."""
    for heading in ("What it finds:", "Why it matters:", "What to do:"):
        documentation = documentation.replace(heading, f"\n**{heading}**")
    return documentation


def _result(claim: check.Claim, numbers: list[str]) -> dict[str, Any]:
    finding = claim.finding
    return {
        "ruleId": finding.rule,
        "ruleIndex": numbers.index(finding.rule),
        "level": finding.severity,
        "message": _message(claim.sentence),
        "locations": _locations(claim.location, claim.result),
        # GitHub identifies alerts by the first fingerprint. Its own uses the source line,
        # which all instances of a template share.
        "partialFingerprints": {
            "primaryLocationLineHash": of_claim(claim),
            "kernelinfo/v1": of_claim(claim),
        },
        "suppressions": [] if claim.counts else [_suppression(claim)],
        **({"baselineState": "unchanged"} if claim.accepted else {}),
    }


def _suppression(claim: check.Claim) -> dict[str, str]:
    suppressed = claim.suppressed
    if suppressed is None:
        return {"kind": "external", "justification": claim.excuse}
    until = f"; until {suppressed.until}" if suppressed.until else ""
    return {"kind": "external", "justification": printable(suppressed.reason) + until}


def _message(text: str) -> dict[str, str]:
    """A message object; braces and `[a](b)` are escaped (SARIF 2.1.0, sections 3.11.5, 3.11.6)."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "\\](")}


def _locations(
    location: check.FindingLocation | None, result: Result | None = None
) -> list[dict[str, Any]]:
    """SARIF locations: the kernel's name and the line, each if known."""
    found_at: dict[str, Any] = {}
    if result is not None:
        logical = {
            "name": name_of(result.kernel, "short"),
            "fullyQualifiedName": name_of(result.kernel, "full"),
            "decoratedName": name_of(result.kernel, "mangled"),
            "kind": "function",
        }
        found_at["logicalLocations"] = [logical]
    if location is not None:
        physical: dict[str, Any] = {"artifactLocation": _artifact(location.path)}
        if location.line is not None:
            physical["region"] = {"startLine": location.line}
        found_at["physicalLocation"] = physical
    return [found_at] if found_at else []


def _artifact(path: str) -> dict[str, str]:
    if PurePath(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    uri = quote(path.encode("utf-8", "surrogateescape"))
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


_SEVERITIES: dict[Severity, str] = {"note": "info", "warning": "minor", "error": "major"}


def render_gitlab(outcome: Outcome, view: View) -> Iterator[str]:
    yield from encoded(_issues(outcome, view))


def _issues(outcome: Outcome, view: View) -> Iterator[dict[str, Any]]:
    """All claims that count, and all problems; the problems are critical."""
    for claim in check.claims(outcome, view):
        if claim.counts:
            name, severity = claim.finding.name, _SEVERITIES[claim.finding.severity]
            yield _issue(name, claim.sentence, of_claim(claim), severity, claim.location)
    problems = dict.fromkeys(
        (check.location_in(p.path, p.line), check.problem_text(p)) for p in outcome.problems
    )
    for location, text in problems:
        mark = fingerprint(str(location), text)
        yield _issue("cannot-answer", text, mark, "critical", location)


def _issue(
    name: str, description: str, mark: str, severity: str, location: check.FindingLocation | None
) -> dict[str, Any]:
    """One issue. GitLab needs a location: an unknown line becomes 1."""
    path, line = location or check.FindingLocation("kernelinfo.toml", None)
    return {
        "description": description,
        "check_name": name,
        "fingerprint": mark,
        "severity": severity,
        "location": {"path": printable(path), "lines": {"begin": line or 1}},
    }


# JUnit XML for Jenkins and GitLab: one testcase per kernel.

_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
"""Attribute of a suite -> tag of the elements that it counts."""


def render_junit(outcome: Outcome, view: View) -> Iterator[str]:
    """One suite per code object, and one for problems and for findings without a kernel that was
    read.

    The counts of all suites come before the first one, so each suite is made twice and none is kept
    in memory.
    """
    by_result: defaultdict[int, list[check.Claim]] = defaultdict(list)
    for claim in check.claims(outcome, view):
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
    outcome: Outcome, by_result: Mapping[int, list[check.Claim]], view: View
) -> Iterator[Element]:
    """The suites with their counts. `by_result` holds the claims by the `id` of the result. If a
    file has several code objects with the same member and target, the name of the second one's
    suite ends in `#2`."""
    seen: Counter[tuple[str, str | None]] = Counter()
    by_code_object = groupby(outcome.report.results, lambda result: result.kernel.code_object)
    for code_object, results in by_code_object:
        where = member_path(check.location_in(code_object.path).path, code_object.member)
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
        name = f"{claim.finding.rule} {claim.subject}{claim.on_target}"
        case = SubElement(suite, "testcase", classname="kernelinfo.gate", name=name)
        if claim.finding.rule == VANISHED:
            SubElement(case, "error", message=claim.text, type=claim.finding.name)
        else:
            _fill(case, [claim])
    for problem in outcome.problems:
        path, text = (
            printable(check.location_in(problem.path, problem.line).path),
            check.problem_text(problem),
        )
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
    """(result, name of its testcase). A name that several results share is followed by the mangled
    name, so that each test counts."""
    names = [name_of(result.kernel, view.names) for result in results]
    count = Counter(names)
    for result, name in zip(results, names, strict=True):
        symbol = name_of(result.kernel, "mangled")
        yield result, name if count[name] == 1 else f"{name} [{symbol}]"


def _fill(case: Element, claims: Sequence[check.Claim]) -> None:
    """Fill a testcase: all failures go into one element, because readers show only one; without
    failures, suppressed and accepted findings mark the case as skipped. Findings that do not fail
    are also listed as output."""
    excused = [claim for claim in claims if not claim.counts]
    if failing := sorted((c for c in claims if c.fails), key=check.compiler_first):
        kinds = ", ".join(dict.fromkeys(claim.finding.name for claim in failing))
        failure = SubElement(case, "failure", message=failing[0].text, type=kinds)
        failure.text = "\n".join(map(_line, failing))
    elif excused:
        SubElement(case, "skipped", message="; ".join(map(_excuse, excused)))
    milder = [_line(claim) for claim in claims if claim.counts and not claim.fails]
    if output := [*milder, *map(_excuse, excused)]:
        SubElement(case, "system-out").text = "\n".join(output)


def _line(claim: check.Claim) -> str:
    return f"{claim.where}: {claim.finding.rule} {claim.finding.severity}: {claim.sentence}"


def _excuse(claim: check.Claim) -> str:
    if claim.suppressed is None:
        return f"{claim.finding.rule} {claim.excuse} ({claim.text})"
    reason = printable(claim.suppressed.reason)
    return f"{claim.finding.rule} suppressed: {reason} ({claim.text})"
