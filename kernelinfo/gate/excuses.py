"""Excused findings: those that a baseline accepts, until they get worse, and suppressed ones.

Expired suppressions are KI505, unused ones KI506.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from kernelinfo.compare.changes import Pair
from kernelinfo.config import Budget, Configuration, Suppression, entries_for
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.gate import expectation, ratchet
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import KernelCase, Notice, Suppressed
from kernelinfo.kernel import Finding, Result, Severity
from kernelinfo.rules import find, means
from kernelinfo.rules.documented import documented

_BUDGET = "KI206"
_OF_THE_BASELINE = "KI5"
_EXPIRED, _UNUSED = documented("KI505"), documented("KI506")
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


def accept(
    findings: Iterable[Finding], case: KernelCase, pair: Pair
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(findings that count, findings that the baseline accepts) of one kernel.

    A finding is accepted up to the severity that it had; a broken budget only if no number that the
    budget bounds got worse. If changes by another compiler are accepted, so is every finding of a
    rule.
    """
    severities = dict(pair.old.accepted)
    all_of_rules = case.change == "accept"
    counted: list[Finding] = []
    accepted: list[Finding] = []
    for finding in findings:
        known = _rank(finding.severity) <= _rank(severities.get(finding.rule))
        if finding.rule == _BUDGET:
            fits = known and case.budget is not None and not _is_worse(pair, case.budget)
        else:
            fits = known or (all_of_rules and not finding.rule.startswith(_OF_THE_BASELINE))
        (accepted if fits else counted).append(finding)
    return tuple(counted), tuple(accepted)


def ended(
    case: KernelCase, pair: Pair, findings: Iterable[Finding], configuration: Configuration
) -> Iterator[Finding]:
    """One finding per accepted rule that judged the kernel and no longer finds anything: an
    improvement. `findings` are all that the kernel has."""
    present = {finding.rule for finding in findings}
    absent = [rule for rule, _ in pair.old.accepted if rule not in present]
    judging = _judging(case.result, configuration) if absent else ()
    for rule in absent:
        if rule in judging and (ended_rule := find(rule)):
            message = say("finding-ended", rule=rule, name=ended_rule.name)
            yield ratchet.stale(message, strict=configuration.strict_baseline)


def _judging(result: Result, configuration: Configuration) -> set[str]:
    """Numbers of the selected rules that can judge a kernel: some need the text of its code."""
    is_text = result.kernel.code_object.kind == "assembly"
    rules = configuration.selection.rules()
    numbers = {rule.number for rule in rules if is_text or not rule.needs_code}
    return numbers | ({_BUDGET} if expectation.chooses(configuration, _BUDGET) else set())


def _rank(severity: str | None) -> int:
    """Position of a severity, the mildest first; -1 without one."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else -1


def _is_worse(pair: Pair, budget: Budget) -> bool:
    """True if a number that the budget bounds is worse than the pinned one, or is not pinned."""
    for measure, _ in budget.bounds:
        old, new = (getattr(one.numbers, measure.field) for one in (pair.old, pair.new))
        if new is not None and (old is None or (new < old if measure.is_gain else new > old)):
            return True
    return False


def suppress(
    case: KernelCase, findings: Iterable[Finding], configuration: Configuration, today: date
) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...], set[Suppression]]:
    """(findings that count, findings that a valid suppression excuses, suppressions that match a
    finding) of one kernel."""
    kernel = case.kernel
    entries = entries_for(configuration.suppressions, kernel.name, kernel.symbol, kernel.target)
    counted: list[Finding] = []
    excused: list[Suppressed] = []
    matched: set[Suppression] = set()
    for finding in findings:
        fitting = [entry for entry in entries if means(entry.rule, finding.rule, finding.name)]
        matched.update(fitting)
        valid = next((entry for entry in fitting if not has_expired(entry, today)), None)
        if valid is None:
            counted.append(finding)
        else:
            until = valid.until.isoformat() if valid.until else None
            excused.append(Suppressed(finding, valid.reason, until))
    return tuple(counted), tuple(excused), matched


def on_suppressions(
    configuration: Configuration, unused: Iterable[Suppression], today: date
) -> Iterator[Notice]:
    """A notice per expired suppression, and per `unused` one."""
    for entry in configuration.suppressions:
        if has_expired(entry, today):
            message = say("suppression-expired", findings=words(entry), day=entry.until)
            finding = _EXPIRED.found(message, say("suppression-expired-mend"))
            yield Notice(finding, f"{entry.rule} {entry.kernel}", entry.target, line=entry.line)
    for entry in unused:
        message = say("suppression-unused", findings=words(entry))
        finding = _UNUSED.found(message, say("suppression-unused-mend"))
        yield Notice(finding, f"{entry.rule} {entry.kernel}", entry.target, line=entry.line)


def words(suppression: Suppression) -> str:
    """A suppression in words: `KI203 of gemm*`."""
    return f"{suppression.rule} of {suppression.kernel}"


def has_expired(suppression: Suppression, today: date) -> bool:
    """True if the last day of a suppression is over."""
    return suppression.until is not None and suppression.until < today
