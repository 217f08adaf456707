"""Findings that a baseline accepts: they were there when it was made, and fail only if they get
worse."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kernelinfo.compare.changes import Pair
from kernelinfo.config import Budget
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.gate import ratchet
from kernelinfo.gate.messages import say
from kernelinfo.kernel import Finding, Severity
from kernelinfo.rules import find

_BUDGET = "KI206"
_OF_THE_BASELINE = "KI5"
Accepted = tuple[tuple[str, str], ...]
"""(rule, severity) of findings."""


def pinned(findings: Iterable[Finding], fail_on: Severity) -> Accepted:
    """The findings that a baseline accepts: rules with warnings and errors, and with notes if these
    fail, each with its worst severity."""
    least = min(_rank("warning"), _rank(fail_on))
    worst: dict[str, str] = {}
    for finding in findings:
        if _rank(finding.severity) >= least and not finding.rule.startswith(_OF_THE_BASELINE):
            known = worst.get(finding.rule)
            worst[finding.rule] = max(known or finding.severity, finding.severity, key=_rank)
    return tuple(sorted(worst.items()))


def sort_out(
    findings: Iterable[Finding], pair: Pair, allowed: Budget | None, *, all_of_rules: bool
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(findings that count, findings that the baseline accepts) of one kernel.

    A finding is accepted up to the severity that it had; a broken budget only if no number that the
    budget bounds got worse. With `all_of_rules` every finding of a rule is accepted.
    """
    severities = dict(pair.old.accepted)
    counted: list[Finding] = []
    accepted: list[Finding] = []
    for finding in findings:
        known = _rank(finding.severity) <= _rank(severities.get(finding.rule))
        if finding.rule == _BUDGET:
            fits = known and allowed is not None and not _is_worse(pair, allowed)
        else:
            fits = known or (all_of_rules and not finding.rule.startswith(_OF_THE_BASELINE))
        (accepted if fits else counted).append(finding)
    return tuple(counted), tuple(accepted)


def ended(
    pair: Pair, findings: Iterable[Finding], ran: Collection[str], *, strict: bool
) -> Iterator[Finding]:
    """One finding per accepted rule that no longer finds anything: an improvement. `ran` are the
    rules that judged the kernel."""
    found = {finding.rule for finding in findings}
    for rule, _ in pair.old.accepted:
        known = find(rule)
        if rule in ran and rule not in found and known:
            message = say("finding-ended", rule=rule, name=known.name)
            yield ratchet.stale(message, strict=strict)


def _rank(severity: str | None) -> int:
    """Position of a severity, the mildest first; -1 without one."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else -1


def _is_worse(pair: Pair, allowed: Budget) -> bool:
    """True if a number that the budget bounds is worse than the pinned one, or is not pinned."""
    for measure, _ in allowed.bounds:
        old, new = (getattr(one.numbers, measure.field) for one in (pair.old, pair.new))
        if new is not None and (old is None or (new < old if measure.is_gain else new > old)):
            return True
    return False
