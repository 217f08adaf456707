"""Kernels judged: what their budgets and the baseline say of them, and which findings count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from itertools import repeat
from operator import attrgetter
from typing import NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, Configuration, Gate, Suppression, entries_for
from kernelinfo.errors import Message
from kernelinfo.gate import excuses, ratchet
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import Judged, KernelCase, Notice
from kernelinfo.gate.ratchet import Foreign
from kernelinfo.kernel import Finding, Result
from kernelinfo.kernel.record import BY_NAME, Column
from kernelinfo.reading.blob import Problem
from kernelinfo.rules.documented import documented

_BUDGET = documented("KI206")
_identity = attrgetter("target", "name", "symbol")
_WAVES = ("waves", "occupancy")
"""Keys of numbers that need a target."""


class Verdict(NamedTuple):
    """All kernels of a build, judged."""

    results: tuple[Result, ...]
    """Each kernel with the findings that count."""
    excused: tuple[tuple[int, Judged], ...]
    """(position, kernel) of those with suppressed or accepted findings."""
    unstated: tuple[Problem, ...]
    """Numbers that a budget or the baseline asks for and the input does not state."""
    unnumbered: tuple[str, ...]
    """Names of kernels whose pinned numbers and stated numbers have none in common."""
    rebuilt: tuple[Pair, ...]
    """Kernels that another compiler than the baseline's built."""
    idle_budgets: tuple[Notice, ...]
    """Budgets that apply to no kernel."""
    idle_suppressions: tuple[Suppression, ...]
    """Valid suppressions that match no finding."""


def cases(
    results: Sequence[Result],
    kernels: Iterable[KernelSummary],
    comparison: Comparison | None,
    foreign: Foreign,
    configuration: Configuration,
) -> Iterator[KernelCase]:
    """The case of each kernel, made when it is asked for.

    `kernels` are the results as a baseline pins them.
    """
    copies = _copies(comparison) if comparison else {}
    pairs = comparison.pairs_of(kernels) if comparison else repeat(None, len(results))
    for result, kernel, pair in zip(results, kernels, pairs, strict=True):
        budgets: Sequence[Budget] = ()
        if configuration.budgets:
            budgets = entries_for(configuration.budgets, kernel.name, kernel.symbol, kernel.target)
        is_new = comparison is not None and pair is None
        if is_new:
            copied = (Pair(old, kernel) for old in copies[_identity(kernel)])
            pair = min(copied, key=lambda copy: copy.regressed, default=None)
        is_same = pair is None or pair.old is pair.new or pair.old.content == pair.new.content
        is_foreign = id(result.kernel.code_object) in foreign
        change = configuration.gate.toolchain_change if is_foreign else None
        yield KernelCase(result, kernel, budgets, pair, is_new, not is_same, change)


def _copies(comparison: Comparison) -> dict[tuple[str, str, str], list[KernelSummary]]:
    """Identity of each new kernel -> pinned kernels of these names, paired with other kernels."""
    copies: dict[tuple[str, str, str], list[KernelSummary]]
    copies = {_identity(kernel): [] for kernel in comparison.new}
    for pair in comparison.pairs if copies else ():
        if (namesakes := copies.get(_identity(pair.new))) is not None:
            namesakes.append(pair.old)
    return copies


def judge(
    cases: Iterable[KernelCase], configuration: Configuration, *, accepts: bool, today: date
) -> Verdict:
    """The verdict on all kernels; see `check` for `accepts` and `today`. No case is kept."""
    results: list[Result] = []
    excused: list[tuple[int, Judged]] = []
    unstated: list[Problem] = []
    unnumbered: list[str] = []
    rebuilt: list[Pair] = []
    matched: set[Suppression] = set()
    fitting: dict[tuple[int, ...], Sequence[Budget]] = {}
    for case in cases:
        result, pair = case.result, case.pair
        unstated += _unstated(case, configuration.gate)
        if case.budgets:
            fitting[tuple(map(id, case.budgets))] = case.budgets
        if pair and case.is_moved and ratchet.is_unnumbered(pair, configuration.gate):
            unnumbered.append(case.kernel.name)
        if pair and case.change and not case.is_new:
            rebuilt.append(pair)
        if findings := _findings(case, configuration):
            counted, suppressed, met = excuses.suppress(case, findings, configuration, today)
            accepted: tuple[Finding, ...] = ()
            if pair and accepts:
                counted, accepted = excuses.accept(counted, case, pair)
            result = result._replace(findings=counted)
            matched |= met
            if suppressed or accepted:
                excused.append((len(results), Judged(result, suppressed, accepted)))
        results.append(result)
    suppressions = (s for s in configuration.suppressions if not excuses.has_expired(s, today))
    return Verdict(
        results=tuple(results),
        excused=tuple(excused),
        unstated=tuple(unstated),
        unnumbered=tuple(unnumbered),
        rebuilt=tuple(rebuilt),
        idle_budgets=tuple(_idle_budgets(configuration, fitting.values())),
        idle_suppressions=tuple(s for s in suppressions if s not in matched),
    )


def _findings(case: KernelCase, configuration: Configuration) -> tuple[Finding, ...]:
    """Findings of the rules, the budget and the baseline, in this order."""
    findings = case.result.findings
    own = [*_broken_bounds(case, configuration), *ratchet.findings(case, configuration)]
    if case.pair and case.pair.old.accepted:
        own += excuses.ended(case, case.pair, [*findings, *own], configuration)
    return (*findings, *configuration.selection.chosen(own)) if own else findings


def _unstated(case: KernelCase, gate: Gate) -> Iterator[Problem]:
    """Problems of numbers that the budget or the baseline asks for and the input does not state.

    An unknown target already is a problem and explains missing waves, so these are skipped. Build
    logs are the exception: their missing target is no problem of its own.
    """
    claims: list[tuple[Message, list[Column]]] = []
    if case.budget:
        claims.append((say("judge-budget"), [measure for measure, _ in case.budget.bounds]))
    if case.pair and case.is_moved:
        claims.append((say("judge-baseline"), ratchet.gated(case.pair.old, gate)))
    kernel, location = case.result.kernel, case.result.kernel.code_object
    is_explained = kernel.target is None and location.kind != "build-log"
    for judge, measures in claims:
        numbers = case.kernel.numbers
        keys = [measure.key for measure in measures if getattr(numbers, measure.field) is None]
        if names := ", ".join(key for key in keys if not (is_explained and key in _WAVES)):
            message = say("number-unstated", kernel=kernel.name, judge=judge, names=names)
            yield Problem(location.path, message, location.member, location.offset)


def _broken_bounds(case: KernelCase, configuration: Configuration) -> Iterator[Finding]:
    """One finding per broken bound of the budget that applies to a kernel."""
    if (budget := case.budget) is None:
        return
    file = str(configuration.file or "")
    where = file if budget.line is None else f"{file}:{budget.line}"
    for measure, bound in budget.bounds:
        value = getattr(case.kernel.numbers, measure.field)
        if value is not None and not bound.holds(value):
            number, key = _with_noun(case.kernel, measure, value), measure.key
            message = say("budget-exceeded", number=number, key=key, bound=bound, place=where)
            yield _BUDGET.found(message)


def _with_noun(kernel: KernelSummary, measure: Column, value: float) -> str:
    """A number as messages say it: `264 VGPRs allocated (210 used)`."""
    number, beside = f"{value:g} {measure.noun}", BY_NAME.get(measure.beside)
    other = beside and getattr(kernel.numbers, beside.field)
    if beside is None or other is None or other == value:
        return number
    return f"{number} ({other:g} {beside.unit.rpartition(' ')[2]})"


def _idle_budgets(
    configuration: Configuration, fitting: Collection[Sequence[Budget]]
) -> Iterator[Notice]:
    """A notice per budget without kernels: none matches, or earlier budgets take them all.

    `fitting` are the budgets that match one kernel, of which the first applies.
    """
    used = {id(first) for first, *_ in fitting}
    for budget in (entry for entry in configuration.budgets if id(entry) not in used):
        target = say("budget-target", target=budget.target) if budget.target else ""
        message = say("budget-unmatched", target=target, kernel=budget.kernel)
        earlier = [first.kernel for first, *others in fitting if id(budget) in map(id, others)]
        if earlier:
            message = say("budget-shadowed", budgets=", ".join(dict.fromkeys(earlier)))
        mend = say("budget-shadowed-mend" if earlier else "budget-unmatched-mend")
        finding = _BUDGET.found(message, mend, "note")
        yield Notice(finding, budget.kernel, budget.target, line=budget.line)
