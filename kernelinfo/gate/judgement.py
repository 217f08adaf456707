"""Kernels judged by rules, budgets and the baseline, and findings that do not count: those that a
baseline accepts until they get worse, and suppressed ones.

Expired suppressions are KI505, unused ones KI506.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from itertools import repeat
from operator import attrgetter

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, Configuration, ForKernels, Gate, Suppression, entries_for
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.errors import Message
from kernelinfo.gate import ratchet
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import (
    Judged,
    KernelCase,
    Notice,
    Outcome,
    Suppressed,
    check_numbered,
    is_selected,
)
from kernelinfo.gate.ratchet import Foreign
from kernelinfo.kernel import Finding, Kernel, Result, Severity
from kernelinfo.kernel.record import BY_NAME, Column, compared_value
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.target_id import UNKNOWN_TARGET
from kernelinfo.rules import BY_NUMBER, find, means

_BUDGET = BY_NUMBER["KI206"]
_EXPIRED, _UNUSED = BY_NUMBER["KI505"], BY_NUMBER["KI506"]
_OF_THE_BASELINE = "KI5"
_identity = attrgetter("target", "name", "symbol")
_WAVES = ("waves", "occupancy")
"""Keys of numbers that need a target."""

Accepted = tuple[tuple[str, str], ...]
"""(rule, severity) of findings."""


def make_cases(
    results: Sequence[Result],
    kernels: Sequence[KernelSummary],
    comparison: Comparison | None,
    foreign: Foreign,
    configuration: Configuration,
) -> Iterator[KernelCase]:
    """The case of each kernel, made lazily. `kernels` are the results as a baseline would pin them;
    empty without a baseline."""
    copies = _list_copies(comparison) if comparison else {}
    pairs = comparison.pairs_of(kernels) if comparison else repeat(None, len(results))
    for number, (result, pair) in enumerate(zip(results, pairs, strict=True)):
        budgets: Sequence[Budget] = ()
        if configuration.budgets:
            budgets = _entries_for(configuration.budgets, result.kernel)
        is_new = comparison is not None and pair is None
        if is_new:
            kernel = kernels[number]
            copied = (Pair(old, kernel) for old in copies[_identity(kernel)])
            pair = min(copied, key=lambda copy: copy.regressed, default=None)
        is_same = pair is None or pair.old is pair.new or pair.old.content == pair.new.content
        is_foreign = id(result.kernel.code_object) in foreign
        change = configuration.gate.toolchain_change if is_foreign else None
        yield KernelCase(result, budgets, pair, is_new, not is_same, change)


def _entries_for(entries: Sequence[ForKernels], kernel: Kernel) -> Sequence[ForKernels]:
    """The budgets or suppressions that apply to a kernel of the build."""
    target = kernel.code_object.target_id or UNKNOWN_TARGET
    return entries_for(entries, kernel.name, kernel.symbol, target)


def _list_copies(comparison: Comparison) -> dict[tuple[str, str, str], list[KernelSummary]]:
    """(library, target, symbol) of each new kernel → pinned kernels that are paired with another
    kernel of this identity."""
    copies: dict[tuple[str, str, str], list[KernelSummary]]
    copies = {_identity(kernel): [] for kernel in comparison.new}
    for pair in comparison.pairs if copies else ():
        if (namesakes := copies.get(_identity(pair.new))) is not None:
            namesakes.append(pair.old)
    return copies


def judge(
    cases: Iterable[KernelCase], configuration: Configuration, *, accepts: bool, today: date
) -> Outcome:
    """The outcome for the kernels, each on its own; see `check` for `accepts` and `today`.

    Its problems are numbers that a budget or the baseline asks for and the input does not state;
    `check` adds those of the build as a whole, and the notices. No case is kept.
    """
    results: list[Result] = []
    excused: list[tuple[int, Judged]] = []
    unstated: list[Problem] = []
    unnumbered: list[str] = []
    matched: set[Suppression] = set()
    fitting: dict[tuple[int, ...], Sequence[Budget]] = {}
    for case in cases:
        result, pair = case.result, case.pair
        unstated += _find_unstated(case, configuration.gate)
        if case.budgets:
            fitting[tuple(map(id, case.budgets))] = case.budgets
        if pair and case.is_moved and ratchet.is_unnumbered(pair, configuration.gate):
            unnumbered.append(result.kernel.name)
        if findings := _judge_case(case, configuration):
            counted, suppressed, met = suppress(case, findings, configuration, today)
            accepted: tuple[Finding, ...] = ()
            if pair and accepts:
                counted, accepted = accept(counted, case, pair)
            result = result._replace(findings=counted)
            matched |= met
            if suppressed or accepted:
                excused.append((len(results), Judged(result, suppressed, accepted)))
        results.append(result)
    suppressions = (s for s in configuration.suppressions if not has_expired(s, today))
    problems = (*unstated, *check_numbered(unnumbered, configuration))
    return Outcome(
        report=Report(tuple(results), problems),
        notices=(),
        fail_on=configuration.fail_on,
        excused=tuple(excused),
        idle_budgets=tuple(_find_idle_budgets(configuration, fitting.values())),
        idle_suppressions=tuple(s for s in suppressions if s not in matched),
    )


def _judge_case(case: KernelCase, configuration: Configuration) -> tuple[Finding, ...]:
    """Findings of the rules, the budget and the baseline, in this order."""
    findings = case.result.findings
    if case.pair and case.is_moved and ratchet.is_copying_more(case.pair):
        raised = (ratchet.raise_copies(finding, case.pair) for finding in findings)
        findings = tuple(configuration.selection.chosen(raised))
    added = [
        *_find_broken_bounds(case, configuration),
        *ratchet.compare_numbers(case, configuration),
    ]
    if case.pair and case.pair.old.accepted:
        added += find_ended(case, case.pair, [*findings, *added], configuration)
    return (*findings, *configuration.selection.chosen(added)) if added else findings


def _find_unstated(case: KernelCase, gate: Gate) -> Iterator[Problem]:
    """Problems for numbers that the budget or the baseline needs but the input does not state.

    Waves that are missing because of an unknown target are skipped, since that target already is a
    problem. Build logs are the exception: their missing target is no problem of its own.
    """
    claims: list[tuple[Message, list[Column]]] = []
    if case.budget:
        claims.append((say("judge-budget"), [measure for measure, _ in case.budget.bounds]))
    if case.pair and case.is_moved:
        claims.append((say("judge-baseline"), ratchet.list_gated(case.pair.old, gate)))
    kernel, location = case.result.kernel, case.result.kernel.code_object
    is_explained = kernel.target is None and location.kind != "build-log"
    for judge, measures in claims:
        values = [(measure.key, compared_value(measure, case.result)) for measure in measures]
        keys = [key for key, value in values if value is None]
        if names := ", ".join(key for key in keys if not (is_explained and key in _WAVES)):
            message = say("number-unstated", kernel=kernel.name, judge=judge, names=names)
            yield Problem(location.path, message, location.member, location.offset)


def _find_broken_bounds(case: KernelCase, configuration: Configuration) -> Iterator[Finding]:
    """One finding per broken bound of the budget that applies to a kernel."""
    if (budget := case.budget) is None:
        return
    file = str(configuration.file or "")
    where = file if budget.line is None else f"{file}:{budget.line}"
    for measure, bound in budget.bounds:
        value = compared_value(measure, case.result)
        if value is not None and not bound.holds(value):
            number, key = _phrase_number(case.result, measure, value), measure.key
            message = say("budget-exceeded", number=number, key=key, bound=bound, place=where)
            yield _BUDGET.finding(message)


def _phrase_number(result: Result, measure: Column, value: float) -> str:
    """A number as messages show it: `264 VGPRs allocated (210 used)`."""
    number, beside = f"{value:g} {measure.noun}", BY_NAME.get(measure.beside)
    other = beside and compared_value(beside, result)
    if beside is None or other is None or other == value:
        return number
    return f"{number} ({other:g} {beside.unit.rpartition(' ')[2]})"


def _find_idle_budgets(
    configuration: Configuration, fitting: Collection[Sequence[Budget]]
) -> Iterator[Notice]:
    """A notice per budget without kernels: no kernel matches it, or earlier budgets take them all.
    `fitting` holds the budgets that match each kernel; the first one applies."""
    first_ones = {id(first) for first, *_ in fitting}
    for budget in (entry for entry in configuration.budgets if id(entry) not in first_ones):
        target = say("budget-target", target=budget.target) if budget.target else ""
        message = say("budget-unmatched", target=target, kernel=budget.kernel)
        earlier = [first.kernel for first, *later in fitting if id(budget) in map(id, later)]
        if earlier:
            message = say("budget-shadowed", budgets=", ".join(dict.fromkeys(earlier)))
        mend = say("budget-shadowed-mend" if earlier else "budget-unmatched-mend")
        finding = _BUDGET.finding(message, mend, "note")
        yield Notice(finding, budget.kernel, budget.target, line=budget.line)


def list_deserted(
    configuration: Configuration,
    comparison: Comparison,
    dropped: Iterable[KernelSummary],
    pinned: Iterable[KernelSummary],
) -> tuple[Budget, ...]:
    """Budgets that match only dropped kernels, or renamed ones under their old names."""
    budgets = configuration.budgets
    renamed = (pair.old for pair in comparison.pairs if pair.old.symbol != pair.new.symbol)
    before = {id(b) for kernel in (*dropped, *renamed) for b in _budgets_of(kernel, budgets)}
    left = [budget for budget in budgets if id(budget) in before]
    now = {id(budget) for kernel in pinned if left for budget in _budgets_of(kernel, left)}
    return tuple(budget for budget in left if id(budget) not in now)


def _budgets_of(kernel: KernelSummary, budgets: Sequence[Budget]) -> Sequence[Budget]:
    return entries_for(budgets, kernel.name, kernel.symbol, kernel.target)


def pin_findings(findings: Iterable[Finding], fail_on: Severity) -> Accepted:
    """The findings that a baseline accepts: each rule with warnings or errors (or notes, if notes
    fail), with its worst severity."""
    least = min(_rank("warning"), _rank(fail_on))
    worst: dict[str, str] = {}
    for finding in findings:
        if _rank(finding.severity) >= least and not finding.rule.startswith(_OF_THE_BASELINE):
            before = worst.get(finding.rule, finding.severity)
            worst[finding.rule] = max(before, finding.severity, key=_rank)
    return tuple(sorted(worst.items()))


def accept(
    findings: Iterable[Finding], case: KernelCase, pair: Pair
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(findings that count, findings that the baseline accepts) of one kernel.

    A finding is accepted up to its severity in the baseline, a broken budget only if no number that
    it bounds got worse. If the configuration accepts changes of the compiler, all findings of rules
    are accepted for a kernel that another compiler built.
    """
    severities = dict(pair.old.accepted)
    all_of_rules = case.change == "accept"
    counted: list[Finding] = []
    accepted: list[Finding] = []
    for finding in findings:
        fits = _rank(finding.severity) <= _rank(severities.get(finding.rule))
        if finding.rule == _BUDGET.number:
            fits = fits and case.budget is not None and not _is_worse(pair, case.budget)
        elif all_of_rules:
            fits = fits or not finding.rule.startswith(_OF_THE_BASELINE)
        (accepted if fits else counted).append(finding)
    return tuple(counted), tuple(accepted)


def find_ended(
    case: KernelCase, pair: Pair, findings: Iterable[Finding], configuration: Configuration
) -> Iterator[Finding]:
    """One finding per accepted rule that could judge the kernel and no longer finds anything, which
    is an improvement. `findings` are all that the kernel has."""
    mend = say("baseline-pin") if case.change else say("baseline-tighten")
    kept = dict(keep_accepted(pair.old.accepted, findings, case.result, configuration))
    for rule, _ in pair.old.accepted:
        if rule not in kept and (ended := find(rule)):
            message = say("finding-ended", rule=rule, name=ended.name)
            yield ratchet.find_stale(message, mend, strict=configuration.strict_baseline)


def keep_accepted(
    accepted: Accepted, findings: Iterable[Finding], result: Result, configuration: Configuration
) -> Accepted:
    """The accepted findings that have not ended, each at most as severe as it is now.

    `findings` are all findings of the kernel. A rule that cannot judge the kernel keeps what was
    accepted.
    """
    now = dict(pin_findings(findings, "note"))
    absent = [rule for rule, _ in accepted if rule not in now]
    judging = _list_judging(result, configuration) if absent else ()
    return tuple(
        (rule, min(severity, now.get(rule, severity), key=_rank))
        for rule, severity in accepted
        if rule in now or rule not in judging
    )


def _list_judging(result: Result, configuration: Configuration) -> set[str]:
    """Rule numbers of the selected rules that can judge a kernel: some need the text of its
    code."""
    is_text = result.kernel.code_object.kind == "assembly"
    rules = configuration.selection.rules()
    numbers = {rule.number for rule in rules if is_text or not rule.needs_code}
    return numbers | ({_BUDGET.number} if is_selected(_BUDGET.number, configuration) else set())


def _rank(severity: str | None) -> int:
    """Position of a severity, the mildest first; -1 without one."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else -1


def _is_worse(pair: Pair, budget: Budget) -> bool:
    """True if a number that the budget bounds is worse than the pinned one, or is not pinned."""
    for measure, _ in budget.bounds:
        old, new = (getattr(kernel.numbers, measure.field) for kernel in (pair.old, pair.new))
        if new is not None and (old is None or (new < old if measure.is_gain else new > old)):
            return True
    return False


def suppress(
    case: KernelCase, findings: Iterable[Finding], configuration: Configuration, today: date
) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...], set[Suppression]]:
    """(findings that count, findings that a valid suppression excuses, suppressions that match a
    finding) of one kernel."""
    entries = _entries_for(configuration.suppressions, case.result.kernel)
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


def judge_suppressions(
    configuration: Configuration, unused: Iterable[Suppression], today: date
) -> Iterator[Notice]:
    """A notice per expired suppression, and per `unused` one."""
    for entry in configuration.suppressions:
        if has_expired(entry, today):
            message = say("suppression-expired", findings=name_suppression(entry), day=entry.until)
            finding = _EXPIRED.finding(message, say("suppression-expired-mend"))
            yield Notice(finding, f"{entry.rule} {entry.kernel}", entry.target, line=entry.line)
    for entry in unused:
        message = say("suppression-unused", findings=name_suppression(entry))
        finding = _UNUSED.finding(message, say("suppression-unused-mend"))
        yield Notice(finding, f"{entry.rule} {entry.kernel}", entry.target, line=entry.line)


def name_suppression(suppression: Suppression) -> str:
    """A suppression in words: `KI203 of gemm*`."""
    return f"{suppression.rule} of {suppression.kernel}"


def has_expired(suppression: Suppression, today: date) -> bool:
    """True if the last day of a suppression is over."""
    return suppression.until is not None and suppression.until < today
