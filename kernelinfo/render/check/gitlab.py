"""GitLab's Code Quality report for merge requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo.gate.outcome import Outcome
from kernelinfo.kernel import Severity
from kernelinfo.render import View
from kernelinfo.render.check.claims import FindingLocation, claims, location_in, problem_text
from kernelinfo.render.check.fingerprint import fingerprint, of_claim
from kernelinfo.render.json_text import encoded
from kernelinfo.render.names import printable

_SEVERITIES: dict[Severity, str] = {"note": "info", "warning": "minor", "error": "major"}


def render(outcome: Outcome, view: View) -> Iterator[str]:
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
