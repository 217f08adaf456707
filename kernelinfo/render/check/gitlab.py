"""GitLab's Code Quality report, which its merge requests show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Literal

from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View
from kernelinfo.render.check.claims import claims, location_of_problem, problem_text
from kernelinfo.render.check.location import Location
from kernelinfo.render.names import printable
from kernelinfo.render.paint import without_commands_in_json
from kernelinfo.rules.severity import Severity

_SEVERITIES: dict[Severity, Literal["info", "minor", "major"]] = {
    "note": "info",
    "warning": "minor",
    "error": "major",
}


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """Every claim that is not excused and every problem, which is critical."""
    issues = [
        _issue(
            claim.finding.name,
            claim.sentence,
            claim.fingerprint,
            _SEVERITIES[claim.finding.severity],
            claim.location,
        )
        for claim in claims(outcome, view)
        if claim.suppressed is None
    ]
    problems = dict.fromkeys((location_of_problem(p), problem_text(p)) for p in outcome.problems)
    for location, text in problems:
        mark = sha256(f"{location}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        issues.append(_issue("cannot-answer", text, mark, "critical", location))
    yield without_commands_in_json(json.dumps(issues, indent=1)) + "\n"


def _issue(
    name: str, description: str, fingerprint: str, severity: str, location: Location | None
) -> dict[str, Any]:
    """GitLab shows no issue without a location: the line is 1 where only the file is known."""
    path, line = location or Location("kernelinfo.toml", None)
    return {
        "description": description,
        "check_name": name,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": printable(path), "lines": {"begin": line or 1}},
    }
