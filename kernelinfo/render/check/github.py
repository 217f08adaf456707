"""Workflow commands, which GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.gate.verdict import Verdict
from kernelinfo.render import View
from kernelinfo.render.check.claims import claims, place_of_problem, problem_text
from kernelinfo.render.check.headline import headline
from kernelinfo.render.check.place import Place
from kernelinfo.render.names import printable
from kernelinfo.rules.severity import Severity

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""As @actions/core escapes a message, so that nothing in it begins a command of its own."""
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(verdict: Verdict, view: View) -> Iterator[str]:
    """Every claim that is not excused and every problem, a line each, and the verdict."""
    for claim in claims(verdict, view):
        if claim.suppressed is None:
            command, rule = _COMMANDS[claim.finding.severity], claim.finding
            yield _command(command, claim.place, f"{rule.rule} {rule.name}", claim.sentence)
    for problem in verdict.problems:
        place = place_of_problem(problem)
        yield _command("error", place, "cannot answer", problem_text(problem))
    yield f"kernelinfo: {headline(verdict)}\n"


def _command(command: str, place: Place | None, title: str, message: str) -> str:
    properties = {} if place is None else {"file": printable(place.path)}
    if place is not None and place.line is not None:
        properties["line"] = str(place.line)
    properties["title"] = title
    told = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{command} {told}::{message.translate(_DATA)}\n"
