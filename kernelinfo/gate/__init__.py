"""The gate: a report judged by rules, budgets, a baseline and suppressions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import starmap

from kernelinfo.compare import compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, Configuration, ToolchainChange
from kernelinfo.errors import Message
from kernelinfo.gate import acceptance, budget, expectation, files, ratchet
from kernelinfo.gate.baseline import holds_instructions, pinnable_kernels
from kernelinfo.gate.baseline import pinnable as pinnable
from kernelinfo.gate.baseline import read_baseline as read_baseline
from kernelinfo.gate.baseline import write_baseline as write_baseline
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import VANISHED, Judged, Notice, Outcome
from kernelinfo.gate.scope import Scope as Scope
from kernelinfo.gate.suppression import Suppressions
from kernelinfo.gate.toolchain import Toolchain
from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.record import INSTRUCTIONS
from kernelinfo.kernel.report import Report
from kernelinfo.reading.blob import Problem


def check(
    report: Report,
    configuration: Configuration | None = None,
    *,
    scope: Scope | None = None,
    at_least: int | None = None,
    accepts: bool = True,
    today: date | None = None,
) -> Outcome:
    """The outcome of a check: each kernel with its findings, notices and problems.

    By default the configuration is empty, so that only rules count, and the report covers the whole
    build (`scope`). The findings of the report are taken as they are: make it with the
    configuration's `selection` and `workgroup_sizes`. Fewer than `at_least` kernels are a problem
    in any scope; by default the configuration's number holds, for the whole build only. Without
    `accepts` the findings that the baseline accepts count, too. `today` decides which suppressions
    have expired. Raises `BaselineError` if the baseline cannot be read.
    """
    configuration, scope = configuration or Configuration(), scope or Scope()
    today = today or date.today()
    return _Judgement(report, configuration, scope, at_least, accepts, today).outcome()


def asks_for_instructions(configuration: Configuration) -> bool:
    """True if a budget, an allowance or the baseline has numbers of instructions."""
    bounded = [number for one in configuration.budgets for number, _ in one.bounds]
    bounded += [number for number, _ in configuration.gate.allowances]
    if any(number in INSTRUCTIONS for number in bounded):
        return True
    return configuration.baseline is not None and holds_instructions(configuration.baseline)


class _Judgement:
    """One report judged under one configuration."""

    def __init__(
        self,
        report: Report,
        configuration: Configuration,
        scope: Scope,
        at_least: int | None,
        accepts: bool,
        today: date,
    ) -> None:
        self._report, self._configuration, self._scope = report, configuration, scope
        self._at_least, self._accepts = at_least, accepts
        self._rules = {rule.number: rule for rule in configuration.selection.rules()}
        self._results = expectation.judgeable(report, configuration)
        self._suppressions = Suppressions(configuration.suppressions, today)
        self._file = str(configuration.file or "")
        baseline = configuration.baseline
        folder = os.path.dirname(baseline or "") or "."
        self._folder = folder
        self._build = self._comparison = None
        if baseline is not None:
            self._build = pinnable(self._results, folder)
            pinned = read_baseline(baseline, self._build.kernels)
            self._comparison = compare(pinned, self._build)
        found = self._comparison
        pairs, new = (found.pairs, found.new) if found else ((), ())
        self._pairs: list[Pair | None] = [None] * len(self._results)
        """Each kernel with its pinned one; None if the baseline does not have it."""
        if found and self._build:
            self._pairs = [*found.pairs_of(self._build.kernels)]
        self._pinned: dict[tuple[str, str, str], list[KernelSummary]] = {
            (kernel.target, kernel.name, kernel.symbol): [] for kernel in new
        }
        """(target, name, symbol) of a kernel without a pin -> pinned kernels of these names that
        are paired with another kernel."""
        for pair in pairs if new else ():
            of = pair.new
            if (namesakes := self._pinned.get((of.target, of.name, of.symbol))) is not None:
                namesakes.append(pair.old)
        self._missed: list[KernelSummary] = []
        """Pinned kernels that are gone, although the run covers them."""
        self._elsewhere: list[KernelSummary] = []
        """Pinned kernels outside the part of the build that the run covers."""
        for kernel in found.gone if found else ():
            is_missed = configuration.asks_for(kernel.target) and scope.holds(kernel, folder)
            (self._missed if is_missed else self._elsewhere).append(kernel)
        self._toolchain = Toolchain(
            found.old_compilers if found else (),
            (result.kernel.code_object for result in self._results),
        )
        self._budgets: list[Budget | None] = [None] * len(self._results)
        if configuration.budgets:
            self._budgets = budget.of_each(self._kernels(), configuration.budgets)
        used = set(map(id, self._budgets))
        self._idle_budgets = tuple(one for one in configuration.budgets if id(one) not in used)
        """Budgets that apply to no kernel: none matches, or earlier budgets take all of them."""
        self._unnumbered: list[str] = []
        """Names of kernels whose pinned numbers and stated numbers have none in common."""
        self._problems: list[Problem] = list(report.problems)

    def _kernels(self) -> Iterable[KernelSummary]:
        """The kernels as a baseline pins them. Without a baseline none is kept."""
        if self._build is not None:
            return self._build.kernels
        return pinnable_kernels(self._results, self._folder)

    def outcome(self) -> Outcome:
        results: list[Result] = []
        excused: list[tuple[int, Judged]] = []
        kernels = zip(self._results, self._kernels(), self._budgets, self._pairs, strict=True)
        for one in starmap(self._judged, kernels):
            if one.suppressed or one.accepted:
                excused.append((len(results), one))
            results.append(one.result)
        problems = (*self._problems, *self._unmet())
        return Outcome(
            report=Report(tuple(results), problems, self._report.repeats),
            notices=tuple(self._notices()),
            fail_on=self._configuration.fail_on,
            excused=tuple(excused),
            passed_over=len(self._report.results) - len(self._results),
            comparison=self._comparison,
            baseline=self._configuration.baseline,
            part=self._scope.description,
            remarks=tuple(self._remarks()),
        )

    def _unmet(self) -> Iterator[Problem]:
        """Problems of a gate that guards nothing: too few kernels, rules or pinned numbers."""
        project, scope, found = self._configuration, self._scope, self._comparison
        yield from expectation.too_few(self._report, self._results, project, scope, self._at_least)
        yield from expectation.nothing_judged(
            project, counts=scope.whole or self._at_least is not None
        )
        yield from expectation.nothing_numbered(self._unnumbered, project)
        if found and (scope.whole or not found.gone) and not self._missed:
            yield from expectation.nothing_pinned(found, project)

    def _remarks(self) -> Iterator[Message]:
        """Lines `not checked: …` for uncovered parts and `note: …` for settings without effect."""
        project, found = self._configuration, self._results
        unchecked = (*expectation.ignored(project), *expectation.untargeted(found))
        yield from (say("check-left-out", reason=what) for what in unchecked)
        if self._comparison:
            pairs = self._comparison.pairs
            about_files = (*files.renamed(pairs), *files.gone(self._missed, pairs))
            notes = (*self._comparison.notes, *about_files)
            yield from (say("check-note", reason=note) for note in notes)
        if self._scope.whole:
            for pattern in expectation.unmatched_sizes(found, project):
                unmatched = say("workgroup-size-unmatched", file=self._file, pattern=pattern)
                yield say("check-note", reason=unmatched)
            return
        left_out = expectation.left_out(
            found,
            project,
            self._scope,
            self._idle_budgets,
            self._elsewhere,
            at_least=self._at_least,
        )
        for what in (*left_out, *self._suppressions.left_out()):
            yield say("check-left-out", reason=what)

    def _judged(
        self, result: Result, summary: KernelSummary, allowed: Budget | None, pinned: Pair | None
    ) -> Judged:
        findings, pair = result.findings, pinned or self._copy_of(summary)
        own = [
            *self._of_budget(result, summary, allowed),
            *self._of_baseline(result, pinned, pair),
        ]
        if pair and pair.old.accepted:
            own += self._ended(pair, result, [*findings, *own])
        if own:
            findings = (*findings, *self._configuration.selection.chosen(own))
        if not findings:
            return Judged(result)
        counted, excused = self._suppressions.sort_out(summary, findings)
        accepted: tuple[Finding, ...] = ()
        if pair and self._accepts:
            of_rules = self._toolchain_change(result.kernel) == "accept"
            counted, accepted = acceptance.sort_out(counted, pair, allowed, all_of_rules=of_rules)
        return Judged(result._replace(findings=counted), excused, accepted)

    def _copy_of(self, summary: KernelSummary) -> Pair | None:
        """A kernel without a pin, with the pinned copy that it is compared with, if any."""
        olds = self._pinned.get((summary.target, summary.name, summary.symbol), [])
        copies = (Pair(old, summary, "exact") for old in olds)
        return min(copies, key=lambda pair: pair.regressed, default=None)

    def _ended(self, pair: Pair, result: Result, findings: list[Finding]) -> Iterator[Finding]:
        """Improvements: accepted findings of rules that judged the kernel and find nothing."""
        is_text = result.kernel.code_object.kind == "assembly"
        ran = {number for number, rule in self._rules.items() if is_text or not rule.needs_code}
        if expectation.chooses(self._configuration, "KI206"):
            ran.add("KI206")
        strict = self._configuration.strict_baseline
        yield from acceptance.ended(pair, findings, ran, strict=strict)

    def _toolchain_change(self, kernel: Kernel) -> ToolchainChange | None:
        """How to judge a kernel of another compiler; None for one of the baseline's."""
        is_foreign = self._toolchain.is_foreign(kernel.code_object)
        return self._configuration.gate.toolchain_change if is_foreign else None

    def _of_budget(
        self, result: Result, summary: KernelSummary, allowed: Budget | None
    ) -> Iterator[Finding]:
        if allowed is not None:
            unknown = [
                m.key for m, _ in allowed.bounds if getattr(summary.numbers, m.field) is None
            ]
            self._cannot_tell(result.kernel, say("judge-budget"), unknown)
            yield from budget.broken(summary, allowed, self._file)

    def _of_baseline(
        self, result: Result, pinned: Pair | None, pair: Pair | None
    ) -> Iterator[Finding]:
        """Findings against the pinned kernel, or against `pair`, a pinned copy of it."""
        if self._comparison is None:
            return
        if pinned is None:
            yield ratchet.unbaselined()
            for finding in self._moved(pair, result) if pair else ():
                where = pair.old.code_object if pair else ""
                message = say("pinned-elsewhere", reason=finding.message, file=where)
                yield finding._replace(message=message)
        elif pinned.old is not pinned.new and pinned.old.content != pinned.new.content:
            yield from self._moved(pinned, result)

    def _moved(self, pair: Pair, result: Result) -> Iterator[Finding]:
        """Findings on numbers that moved since the baseline, or that it lacks."""
        kernel = result.kernel
        gate, strict = self._configuration.gate, self._configuration.strict_baseline
        pinned, stated = (
            [m.key for m, _ in gate.allowances if getattr(side.numbers, m.field) is not None]
            for side in (pair.old, pair.new)
        )
        unknown = [key for key in pinned if key not in stated]
        self._cannot_tell(kernel, say("judge-baseline"), unknown)
        missing = [key for key in stated if key not in pinned]
        if missing and missing == stated:
            self._unnumbered.append(kernel.name)
        elif missing:
            message = say("numbers-unpinned", names=", ".join(missing))
            yield ratchet.stale(message, strict=strict)
        change = self._toolchain_change(kernel)
        yield from ratchet.moved(pair, result, gate, change, strict=strict)

    def _foreign_pairs(self) -> list[Pair]:
        """Pairs of pinned kernels and their rebuilds by another compiler."""
        if not self._toolchain.foreign:
            return []
        pairs, is_foreign = zip(self._results, self._pairs, strict=True), self._toolchain.is_foreign
        return [pair for one, pair in pairs if pair and is_foreign(one.kernel.code_object)]

    def _cannot_tell(self, kernel: Kernel, judge: str, keys: list[str]) -> None:
        """Add a problem for numbers that the `judge` asks for and the input does not state.

        An unknown target already is a problem and explains missing waves, so these are skipped.
        Build logs are the exception: their missing target is no problem of its own.
        """
        location = kernel.code_object
        if kernel.target is None and location.kind != "build-log":
            keys = [key for key in keys if key not in ("waves", "occupancy")]
        if keys:
            names = ", ".join(keys)
            message = say("number-unstated", kernel=kernel.name, judge=judge, names=names)
            self._problems.append(Problem(location.path, message, location.member, location.offset))

    def _notices(self) -> Iterator[Notice]:
        """Notices whose rules are selected. A gone kernel is a notice under any selection."""
        for notice in self._all_notices():
            counted = tuple(self._configuration.selection.chosen([notice.finding]))
            if notice.finding.rule == VANISHED:
                counted = counted or (notice.finding,)
            yield from (notice._replace(finding=finding) for finding in counted)

    def _all_notices(self) -> Iterator[Notice]:
        baseline = str(self._configuration.baseline or "") or None
        file = self._file or baseline
        for kernel in self._missed:
            yield Notice(ratchet.vanished(kernel), kernel.name, kernel.target, baseline)
        how = self._configuration.gate.toolchain_change
        if changed := self._toolchain.changed(how, self._foreign_pairs()):
            yield Notice(changed, "toolchain", None, baseline)
        for one in self._idle_budgets if self._scope.whole else ():
            found = budget.idle(one, self._configuration.budgets, tuple(self._kernels()))
            yield Notice(found, one.kernel, one.target, file, one.line)
        for suppression, finding in self._suppressions.remarks(all_seen=self._scope.whole):
            subject = f"{suppression.rule} {suppression.kernel}"
            yield Notice(finding, subject, suppression.target, file, suppression.line)
