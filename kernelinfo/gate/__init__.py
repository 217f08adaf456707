"""The gate: budgets, the baseline and suppressions, over what the rules found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from kernelinfo.compare import Comparison, Pair, compare
from kernelinfo.compare.footprint import Footprint
from kernelinfo.gate import budget, ratchet
from kernelinfo.gate.baseline import pinnable, read_baseline
from kernelinfo.gate.config import Budget, Configuration
from kernelinfo.gate.expectation import judgeable, too_few
from kernelinfo.gate.outcome import Judged, Notice, Outcome
from kernelinfo.gate.scope import EVERYTHING, Scope
from kernelinfo.gate.suppression import Suppressions
from kernelinfo.kernel import Finding, Kernel, Report, Result
from kernelinfo.reading.blob import Problem
from kernelinfo.rules.documented import documented

BY_DEFAULT = Configuration()
_TOOLCHAIN = documented("KI507")


def check(
    report: Report,
    configuration: Configuration = BY_DEFAULT,
    *,
    scope: Scope = EVERYTHING,
    today: date | None = None,
) -> Outcome:
    """What the configuration makes of a report; suppressions as they are on the day `today`.

    The report's findings count as they are: make it with the configuration's `selection` and
    `workgroup_sizes`. Raises `BaselineError` for a baseline that cannot be read.
    """
    return _Judgement(report, configuration, scope, today or date.today()).outcome()


class _Judgement:
    """One report under one configuration."""

    def __init__(
        self, report: Report, configuration: Configuration, scope: Scope, today: date
    ) -> None:
        self._report, self._configuration, self._scope = report, configuration, scope
        self._results = judgeable(report, configuration)
        self._suppressions = Suppressions(configuration.suppressions, today)
        self._file = str(configuration.file or "")
        baseline = configuration.baseline
        self._folder = baseline.parent if baseline else Path()
        self._now = pinnable(self._results, self._folder)
        self._comparison: Comparison | None = None
        if baseline is not None:
            self._comparison = compare(read_baseline(baseline), self._now)
        compared = self._comparison.pairs if self._comparison else ()
        self._new_compilers = self._unpinned_compilers()
        self._pairs: dict[int, Pair] = {id(pair.new): pair for pair in compared}
        self._used_budgets: set[int] = set()
        """Budgets that are for a kernel."""
        self._problems: list[Problem] = list(report.problems)

    def outcome(self) -> Outcome:
        judged = tuple(
            self._judged(result, footprint)
            for result, footprint in zip(self._results, self._now.footprints, strict=True)
        )
        if self._scope.whole:
            self._problems += too_few(self._report, self._results, self._configuration)
        return Outcome(
            judged=judged,
            notices=tuple(self._notices()),
            problems=tuple(self._problems),
            report=Report(
                tuple(one.result for one in judged), tuple(self._problems), self._report.repeats
            ),
            fail_on=self._configuration.fail_on,
            passed_over=len(self._report.results) - len(self._results),
            comparison=self._comparison,
            baseline=self._configuration.baseline,
        )

    def _judged(self, result: Result, footprint: Footprint) -> Judged:
        own = self._configuration.selection.chosen(self._findings(result.kernel, footprint))
        findings = (*result.findings, *own)
        if not findings:
            return Judged(result)
        counted, excused = self._suppressions.sort_out(footprint, findings)
        return Judged(result._replace(findings=counted), excused)

    def _findings(self, kernel: Kernel, footprint: Footprint) -> Iterator[Finding]:
        """What budget and baseline say of a kernel."""
        allowed = budget.budget_of(footprint, self._configuration.budgets)
        if allowed is not None:
            self._used_budgets.add(id(allowed))
            self._cannot_tell(kernel, "its budget", budget.unsaid(footprint, allowed))
            yield from budget.broken(footprint, allowed, self._file)
        if self._comparison is None:
            return
        pair = self._pairs.get(id(footprint))
        if pair is None:
            yield ratchet.unbaselined()
            return
        gate = self._configuration.gate
        self._cannot_tell(kernel, "the baseline", ratchet.unsaid(pair, gate))
        yield from ratchet.moved(
            pair,
            gate,
            strict=self._configuration.strict_baseline,
            only_spills=(
                kernel.code_object.compiler in self._new_compilers
                and gate.toolchain_change == "report"
            ),
        )

    def _cannot_tell(self, kernel: Kernel, who: str, keys: tuple[str, ...]) -> None:
        """A number that is judged and not stated is a problem, unless there already is one: that
        of an unknown target, without which there are no waves. A log needs none for the rest."""
        if kernel.target is None and kernel.code_object.kind != "build-log":
            keys = tuple(key for key in keys if key not in ("waves", "occupancy"))
        if keys:
            location = kernel.code_object
            asked = (
                f"{kernel.name}: {who} asks for {', '.join(keys)}, which the input does not state"
            )
            self._problems.append(Problem(location.path, asked, location.member, location.offset))

    def _notices(self) -> Iterator[Notice]:
        chosen = self._configuration.selection.chosen
        for notice in self._all_notices():
            for finding in chosen([notice.finding]):
                yield replace(notice, finding=finding)

    def _all_notices(self) -> Iterator[Notice]:
        file = self._file or None
        if self._comparison is not None:
            baseline = str(self._configuration.baseline)
            for kernel in self._comparison.gone:
                if self._is_missed(kernel):
                    finding = ratchet.vanished(kernel)
                    yield Notice(finding, kernel.name, kernel.target, baseline)
            if self._new_compilers:
                yield Notice(self._toolchain_changed(), "toolchain", None, baseline)
        for one in self._configuration.budgets if self._scope.whole else ():
            if id(one) not in self._used_budgets and not self._is_shadowed(one):
                yield Notice(budget.unmet(one), one.kernel, one.arch, file, one.line)
        for suppression, finding in self._suppressions.remarks(all_seen=self._scope.whole):
            subject = f"{suppression.rule} {suppression.kernel}"
            yield Notice(finding, subject, suppression.arch, file, suppression.line)

    def _is_missed(self, kernel: Footprint) -> bool:
        targets = self._configuration.arch
        wanted = not targets or kernel.processor in targets
        return wanted and self._scope.holds(kernel, self._folder)

    def _is_shadowed(self, one: Budget) -> bool:
        """Whether it is for a kernel that an earlier one takes."""
        return any(budget.budget_of(kernel, [one]) for kernel in self._now.footprints)

    def _unpinned_compilers(self) -> list[str]:
        """Those that made kernels and left no stamp in the baseline, where it has any."""
        pinned = self._comparison.old_compilers if self._comparison else ()
        made = {result.kernel.code_object.compiler for result in self._results}
        return sorted(stamp for stamp in made if stamp and stamp not in pinned) if pinned else []

    def _toolchain_changed(self) -> Finding:
        assert self._comparison is not None
        old = {stamp: stamp.partition(" (")[0] for stamp in self._comparison.old_compilers}
        brief = [stamp.partition(" (")[0] for stamp in self._new_compilers]
        if set(brief) & set(old.values()):
            brief, old = self._new_compilers, {stamp: stamp for stamp in old}
        judged = {
            "report": "what moved is noted, only spills fail",
            "strict": "judged as if it were the same",
        }[self._configuration.gate.toolchain_change]
        before = " and ".join(old.values())
        return _TOOLCHAIN.found(
            f"built by {' and '.join(brief)}, the baseline by {before}: {judged}"
        )
