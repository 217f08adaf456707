"""The gate: a report judged by rules, budgets, a baseline and suppressions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from kernelinfo.analysis.kernels import lines_of, opened_again
from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Configuration
from kernelinfo.errors import Message, ReadError
from kernelinfo.gate import expectation, ratchet
from kernelinfo.gate.baseline import holds_instructions, pinnable_kernels
from kernelinfo.gate.baseline import pinnable as pinnable
from kernelinfo.gate.baseline import read_baseline as read_baseline
from kernelinfo.gate.baseline import write_baseline as write_baseline
from kernelinfo.gate.judgement import (
    Verdict,
    judge,
    judge_suppressions,
    make_cases,
    name_suppression,
)
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import VANISHED, Notice, Outcome
from kernelinfo.gate.outcome import Scope as Scope
from kernelinfo.gate.renames import find_likely, state_renames
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.record import INSTRUCTIONS
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.facts import SourceLine


def check(
    report: Report,
    configuration: Configuration | None = None,
    *,
    scope: Scope | None = None,
    at_least: int | None = None,
    accepts: bool = True,
    today: date | None = None,
    renames: Sequence[str] = (),
) -> Outcome:
    """The outcome of a check: each kernel with its findings, notices and problems.

    By default the configuration is empty, so that only rules count, and the report covers the whole
    build (`scope`). The findings of the report are taken as they are: make it with the
    configuration's `selection` and `workgroup_sizes`. Fewer than `at_least` kernels are a problem
    in any scope; by default the configuration's number holds, for the whole build only. Without
    `accepts` the findings that the baseline accepts count, too. `today` decides which suppressions
    have expired. `renames` are `OLD=NEW`: a pinned kernel that is gone is compared with a new one.
    Raises `BaselineError` if the baseline cannot be read, and `OptionError` for a rename that fits
    no kernel.
    """
    project, scope = configuration or Configuration(), scope or Scope()
    today = today or date.today()
    results = expectation.select_results(report, project)
    folder = os.path.dirname(project.baseline or "") or "."
    kernels: Iterable[KernelSummary] = pinnable_kernels(results, folder)  # each is made once
    comparison = None
    if project.baseline is not None:
        build = pinnable(results, folder)
        kernels = build.kernels
        comparison = compare(read_baseline(project.baseline, kernels), build)
        if renames:
            comparison, _ = state_renames(comparison, renames, kernels)
    compilers = comparison.old_compilers if comparison else ()
    foreign = ratchet.find_foreign(results, compilers)
    cases = make_cases(results, kernels, comparison, foreign, project)
    verdict = judge(cases, project, accepts=accepts, today=today)
    missed = _list_missed(comparison, project, scope, folder)
    likely = find_likely(missed, comparison.new) if comparison else ()
    unmet = (
        *expectation.check_counts(report, results, project, scope, at_least),
        *expectation.check_coverage(report, project, scope),
        *expectation.check_claims(project, counts=scope.whole or at_least is not None),
        *expectation.check_numbered(verdict.unnumbered, project),
        *expectation.check_pinned(comparison, missed, project, scope),
    )
    pairs = comparison.pairs if comparison else ()
    idle = verdict.idle_suppressions if scope.whole else ()
    notices = (
        *ratchet.judge_gone(missed, pairs, likely, project),
        *ratchet.judge_toolchain(foreign, compilers, verdict.rebuilt, project),
        *(verdict.idle_budgets if scope.whole else ()),
        *judge_suppressions(project, idle, today),
    )
    return Outcome(
        report=Report(
            verdict.results, (*report.problems, *verdict.unstated, *unmet), report.repeats
        ),
        notices=tuple(_select(notices, project)),
        fail_on=project.fail_on,
        excused=verdict.excused,
        passed_over=len(report.results) - len(results),
        comparison=comparison,
        baseline=project.baseline,
        part=scope.description,
        remarks=tuple(_remark(results, verdict, comparison, missed, project, scope, at_least)),
        likely_renames=likely,
    )


def asks_for_instructions(configuration: Configuration) -> bool:
    """True if the configuration says so, or if a budget, an allowance or the baseline has numbers
    of instructions."""
    if configuration.instructions:
        return True
    bounded = [number for budget in configuration.budgets for number, _ in budget.bounds]
    bounded += [number for number, _ in configuration.gate.allowances]
    if any(number in INSTRUCTIONS for number in bounded):
        return True
    return configuration.baseline is not None and holds_instructions(configuration.baseline)


def locate(outcome: Outcome, options: Options) -> Outcome:
    """The outcome with source lines for failing kernels of code objects.

    Debug information that cannot be read is a problem of the outcome.
    """
    failing = [j.result.kernel for j in outcome.failing if j.result.kernel.source is None]
    code_objects = dict.fromkeys(
        k.code_object for k in failing if k.code_object.kind == "code-object"
    )
    lines: dict[CodeObject, dict[str, SourceLine]] = {}
    problems = list(outcome.problems)
    for code_object, blob in opened_again(code_objects, options):
        try:
            lines[code_object] = lines_of(blob)
        except ReadError as error:
            problems.append(problem(blob, error.message))

    def place(result: Result) -> Result:
        kernel = result.kernel
        source = lines.get(kernel.code_object, {}).get(kernel.symbol)
        return result if source is None else result._replace(kernel=kernel._replace(source=source))

    results = tuple(map(place, outcome.report.results))
    report = Report(results, tuple(problems), outcome.report.repeats)
    excused = tuple((n, judged._replace(result=results[n])) for n, judged in outcome.excused)
    return outcome._replace(report=report, excused=excused)


def _list_missed(
    comparison: Comparison | None, project: Configuration, scope: Scope, folder: FilePath
) -> tuple[KernelSummary, ...]:
    """Pinned kernels that are gone, although the run covers them."""
    gone = comparison.gone if comparison else ()
    return tuple(k for k in gone if project.asks_for(k.target) and scope.holds(k, folder))


def _select(notices: Iterable[Notice], project: Configuration) -> Iterator[Notice]:
    """Notices whose rules are selected, or on gone kernels; without a path they are on settings."""
    file = str(project.file or project.baseline or "") or None
    for notice in notices:
        kept = (notice.finding,) if notice.finding.rule == VANISHED else ()
        for finding in tuple(project.selection.chosen([notice.finding])) or kept:
            yield notice._replace(finding=finding, path=notice.path or file)


def _remark(
    results: Sequence[Result],
    verdict: Verdict,
    comparison: Comparison | None,
    missed: Sequence[KernelSummary],
    project: Configuration,
    scope: Scope,
    at_least: int | None,
) -> Iterator[Message]:
    """Lines `not checked: …` for uncovered parts and `note: …` for settings without effect."""
    for reason in (*expectation.list_unselected(project), *expectation.note_untargeted(results)):
        yield say("check-left-out", reason=reason)
    for note in expectation.list_notes(comparison) if comparison else ():
        yield say("check-note", reason=note)
    if scope.whole:
        for pattern in expectation.list_unmatched_sizes(results, project):
            note = say("workgroup-size-unmatched", file=project.file or "", pattern=pattern)
            yield say("check-note", reason=note)
        return
    left_out = expectation.list_left_out(
        results,
        project,
        scope,
        at_least,
        idle_budgets=[notice.subject for notice in verdict.idle_budgets],
        elsewhere=len(comparison.gone) - len(missed) if comparison else 0,
        idle_suppressions=[*map(name_suppression, verdict.idle_suppressions)],
    )
    for reason in left_out:
        yield say("check-left-out", reason=reason)
