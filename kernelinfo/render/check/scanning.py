"""Code scanning: SARIF 2.1.0, also for editors, and GitLab's Code Quality report."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from inspect import cleandoc
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from kernelinfo import __version__
from kernelinfo.gate.outcome import Outcome
from kernelinfo.kernel import Finding, Result, Severity
from kernelinfo.render import REPOSITORY, View
from kernelinfo.render.check.claims import Claim, FindingLocation, claims, location_in, problem_text
from kernelinfo.render.json_text import encoded
from kernelinfo.render.names import name_of, printable
from kernelinfo.rules import find


def fingerprint(*parts: str) -> str:
    """32 hex digits of a text in parts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def of_claim(claim: Claim) -> str:
    """32 hex digits of the claim's identity and number."""
    number = () if claim.number == 1 else (str(claim.number),)
    return fingerprint(*claim.identity, *number)


"""The address in pyproject.toml; a test holds both and the recipes together."""
_RULES = f"{REPOSITORY}/blob/v{__version__}/kernelinfo/manual/rules.md"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(outcome: Outcome, view: View) -> Iterator[str]:
    """One run: rules with findings, all claims, and all problems as notifications."""
    all_claims = list(claims(outcome, view))
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
                        "message": _message(problem_text(problem)),
                        "locations": _locations(location_in(problem.path, problem.line)),
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


def _result(claim: Claim, numbers: list[str]) -> dict[str, Any]:
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


def _suppression(claim: Claim) -> dict[str, str]:
    suppressed = claim.suppressed
    if suppressed is None:
        return {"kind": "external", "justification": claim.excuse}
    until = f"; until {suppressed.until}" if suppressed.until else ""
    return {"kind": "external", "justification": printable(suppressed.reason) + until}


def _message(text: str) -> dict[str, str]:
    """A message object; braces and `[a](b)` are escaped (SARIF 2.1.0, sections 3.11.5, 3.11.6)."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "\\](")}


def _locations(
    location: FindingLocation | None, result: Result | None = None
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
    """All claims that count and all problems; problems are critical."""
    for claim in claims(outcome, view):
        if claim.counts:
            name, severity = claim.finding.name, _SEVERITIES[claim.finding.severity]
            yield _issue(name, claim.sentence, of_claim(claim), severity, claim.location)
    problems = dict.fromkeys(
        (location_in(p.path, p.line), problem_text(p)) for p in outcome.problems
    )
    for location, text in problems:
        mark = fingerprint(str(location), text)
        yield _issue("cannot-answer", text, mark, "critical", location)


def _issue(
    name: str, description: str, mark: str, severity: str, location: FindingLocation | None
) -> dict[str, Any]:
    """One issue. GitLab needs a location, so an unknown line becomes 1."""
    path, line = location or FindingLocation("kernelinfo.toml", None)
    return {
        "description": description,
        "check_name": name,
        "fingerprint": mark,
        "severity": severity,
        "location": {"path": printable(path), "lines": {"begin": line or 1}},
    }
