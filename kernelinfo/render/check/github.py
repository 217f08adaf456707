"""Workflow commands: GitHub Actions shows them next to the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.gate.outcome import Outcome
from kernelinfo.kernel import Severity
from kernelinfo.render import View
from kernelinfo.render.check.claims import (
    Claim,
    FindingLocation,
    claims,
    fold,
    headline,
    location_in,
    problem_text,
)
from kernelinfo.render.diff.rows import rows
from kernelinfo.render.names import printable
from kernelinfo.render.paint import paint
from kernelinfo.render.table import worst_first

_MOST = 10
_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""Escapes of a message as in @actions/core, so that no text starts a command."""
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """The worst problems and claims that count as annotations, the others as they are; then the
    verdict. GitHub shows ten annotations of a step."""
    for number, (command, location, title, message) in enumerate(_worst_first(outcome, view)):
        if number < _MOST:
            yield _command(command, location, title, message)
        else:
            where = f"{location.text}: " if location else ""
            yield paint([(f"{where}{command} {title}: {message}", "")], False) + "\n"
    yield f"kernelinfo: {headline(outcome)}\n"


def _worst_first(
    outcome: Outcome, view: View
) -> Iterator[tuple[str, FindingLocation | None, str, str]]:
    """(command, location, title, message) of each annotation."""
    for problem in outcome.problems:
        location = location_in(problem.path, problem.line)
        yield "error", location, "cannot answer", problem_text(problem)
    ranks = _ranks(outcome)
    counted = (claim for claim in claims(outcome, view) if claim.counts)
    ranked = sorted(counted, key=lambda claim: (*worst_first(claim.finding), _rank(claim, ranks)))
    for claim in fold(ranked, outcome, view):
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
    moved = rows(outcome.comparison) if outcome.comparison else []
    ranks: _Ranks = {}
    for rank, row in enumerate(moved):
        ranks.setdefault((row.kernel.symbol, row.kernel.target), rank)
    return ranks


def _rank(claim: Claim, ranks: _Ranks) -> int:
    """Sort key: kernels that lost most first, those that did not move last."""
    symbol = claim.result.kernel.symbol if claim.result else ""
    return ranks.get((symbol, claim.target), len(ranks))


def _command(command: str, location: FindingLocation | None, title: str, message: str) -> str:
    properties = {} if location is None else {"file": printable(location.path)}
    if location is not None and location.line is not None:
        properties["line"] = str(location.line)
    properties["title"] = title
    listed = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{command} {listed}::{message.translate(_DATA)}\n"
