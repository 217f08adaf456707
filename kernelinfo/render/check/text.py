"""The outcome as text: what fails first, each with its location; no healthy kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from kernelinfo.compare import Pair
from kernelinfo.gate.config.keys import SEVERITIES
from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View
from kernelinfo.render.check.claims import Claim, claims
from kernelinfo.render.check.headline import headline
from kernelinfo.render.findings import SEVERITY_STYLES
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, paint

_T = TypeVar("_T")
_OF_THE_GATE = ("KI206", "KI5")
"""Rules whose notes are shown; those of others stand in the report."""


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """A line for each finding that fails, warns or is the gate's; those excused; the outcome."""
    if not view.quiet:
        for line in _lines(outcome, view):
            yield paint(line, view.color) + "\n"
    style = "green" if outcome.answered and not outcome.failed else "bold red"
    headline_text = f"kernelinfo check {headline(outcome)} · fails on {outcome.fail_on} (--fail-on)"
    yield paint([(headline_text, style)], view.color) + "\n"


def _lines(outcome: Outcome, view: View) -> Iterator[list[Span]]:
    all_claims = list(claims(outcome, view))
    counted = [
        claim for claim in all_claims if claim.suppressed is None and _is_shown(claim, outcome)
    ]
    counted.sort(key=lambda claim: (-SEVERITIES.index(claim.finding.severity), claim.finding.rule))
    for (severity, rule), of_rule in groupby(
        counted, lambda claim: (claim.finding.severity, claim.finding.rule)
    ):
        found = list(of_rule)
        yield from ([*_where(c), *_what(c), (c.sentence, "")] for c in _first(found, view))
        yield from _rest(f"more {rule} of severity {severity}", found, view)
    excused = [claim for claim in all_claims if claim.suppressed is not None]
    yield from ([*_where(claim), *_excused(claim)] for claim in _first(excused, view))
    yield from _rest("more suppressed", excused, view)
    renamed = outcome.renamed
    yield from ([(_renamed(pair), "dim")] for pair in _first(renamed, view))
    yield from _rest("more renamed", renamed, view)


def _is_shown(claim: Claim, outcome: Outcome) -> bool:
    finding = claim.finding
    warns = SEVERITIES.index(finding.severity) >= SEVERITIES.index("warning")
    return warns or outcome.fails(finding) or finding.rule.startswith(_OF_THE_GATE)


def _where(claim: Claim) -> list[Span]:
    """As compilers write it, for editors to follow."""
    if claim.location is None:
        return []
    path, line = claim.location
    return [(f"{printable(path)}:{line}: " if line else f"{printable(path)}: ", "bold")]


def _what(claim: Claim) -> list[Span]:
    severity = claim.finding.severity
    return [(f"{severity} ", SEVERITY_STYLES[severity]), (f"{claim.finding.rule} ", "")]


def _excused(claim: Claim) -> list[Span]:
    assert claim.suppressed is not None
    until = f" (until {claim.suppressed.until})" if claim.suppressed.until else ""
    reason = f" · {printable(claim.suppressed.reason)}{until}"
    return [(f"suppressed {claim.finding.rule} {claim.sentence}{reason}", "dim")]


def _renamed(pair: Pair) -> str:
    names = f"{printable(pair.old.name)} → {printable(pair.new.name)}"
    return f"renamed {names} ({printable(pair.new.target)})"


def _first(found: Sequence[_T], view: View) -> Sequence[_T]:
    return found[: view.top] if view.top else found


def _rest(what: str, found: Sequence[object], view: View) -> Iterator[list[Span]]:
    if hidden := len(found) - len(_first(found, view)):
        yield [(f"… {hidden} {what}; --top 0 shows all", "dim")]
