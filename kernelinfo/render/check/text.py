"""The verdict for people: what fails first, each with its place; not a word of healthy kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kernelinfo.gate.verdict import SEVERITIES, Verdict
from kernelinfo.render import View
from kernelinfo.render.check.claims import Claim, claims
from kernelinfo.render.check.headline import headline
from kernelinfo.render.findings import SEVERITY_STYLES
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, paint

_OF_THE_GATE = ("KI206", "KI5")
"""Rules whose notes are told. Those of others are the report's to tell."""


def render(verdict: Verdict, view: View) -> Iterator[str]:
    """A line for each finding that fails, warns or is the gate's; those excused; the verdict."""
    if not view.quiet:
        for line in _lines(verdict, view):
            yield paint(line, view.color) + "\n"
    style = "green" if verdict.answered and not verdict.failed else "bold red"
    told = f"kernelinfo check {headline(verdict)} · fails on {verdict.fail_on} (--fail-on)"
    yield paint([(told, style)], view.color) + "\n"


def _lines(verdict: Verdict, view: View) -> Iterator[list[Span]]:
    told = list(claims(verdict, view))
    counted = [claim for claim in told if claim.suppressed is None and _is_told(claim, verdict)]
    counted.sort(key=lambda claim: (-SEVERITIES.index(claim.finding.severity), claim.finding.rule))
    for (severity, rule), of_rule in groupby(
        counted, lambda claim: (claim.finding.severity, claim.finding.rule)
    ):
        found = list(of_rule)
        yield from ([*_where(c), *_what(c), (c.sentence, "")] for c in _first(found, view))
        yield from _rest(f"more {rule} of severity {severity}", found, view)
    excused = [claim for claim in told if claim.suppressed is not None]
    yield from ([*_where(claim), *_excused(claim)] for claim in _first(excused, view))
    yield from _rest("more suppressed", excused, view)


def _is_told(claim: Claim, verdict: Verdict) -> bool:
    finding = claim.finding
    warns = SEVERITIES.index(finding.severity) >= SEVERITIES.index("warning")
    return warns or verdict.fails(finding) or finding.rule.startswith(_OF_THE_GATE)


def _where(claim: Claim) -> list[Span]:
    """As compilers write it, for editors to follow."""
    if claim.place is None:
        return []
    path, line = claim.place
    return [(f"{printable(path)}:{line}: " if line else f"{printable(path)}: ", "bold")]


def _what(claim: Claim) -> list[Span]:
    severity = claim.finding.severity
    return [(f"{severity} ", SEVERITY_STYLES[severity]), (f"{claim.finding.rule} ", "")]


def _excused(claim: Claim) -> list[Span]:
    assert claim.suppressed is not None
    until = f" (until {claim.suppressed.until})" if claim.suppressed.until else ""
    reason = f" · {printable(claim.suppressed.reason)}{until}"
    return [(f"suppressed {claim.finding.rule} {claim.sentence}{reason}", "dim")]


def _first(found: Sequence[Claim], view: View) -> Sequence[Claim]:
    return found[: view.top] if view.top else found


def _rest(what: str, found: Sequence[Claim], view: View) -> Iterator[list[Span]]:
    if hidden := len(found) - len(_first(found, view)):
        yield [(f"… {hidden} {what}; --top 0 shows all", "dim")]
