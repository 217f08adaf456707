"""Workflow commands: GitHub Actions shows them next to the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View
from kernelinfo.render.check.claims import Location, claims, headline, location_in, problem_text
from kernelinfo.render.names import printable
from kernelinfo.rules.severity import Severity

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""Escapes of a message as in @actions/core, so that no text starts a command."""
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """One line per unsuppressed claim and per problem, then the verdict."""
    for claim in claims(outcome, view):
        if claim.suppressed is None:
            command, rule = _COMMANDS[claim.finding.severity], claim.finding
            yield _command(command, claim.location, f"{rule.rule} {rule.name}", claim.sentence)
    for pair in outcome.renamed:
        renamed = f"{printable(pair.old.name)} → {printable(pair.new.name)}"
        yield _command("notice", None, "renamed", renamed)
    for remark in outcome.remarks:
        yield _command("notice", None, "not covered", printable(remark))
    for problem in outcome.problems:
        location = location_in(problem.path, problem.line)
        yield _command("error", location, "cannot answer", problem_text(problem))
    yield f"kernelinfo: {headline(outcome)}\n"


def _command(command: str, location: Location | None, title: str, message: str) -> str:
    properties = {} if location is None else {"file": printable(location.path)}
    if location is not None and location.line is not None:
        properties["line"] = str(location.line)
    properties["title"] = title
    listed = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{command} {listed}::{message.translate(_DATA)}\n"
