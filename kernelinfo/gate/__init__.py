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
from kernelinfo.gate import excuses, expectation, ratchet
from kernelinfo.gate.baseline import holds_instructions, pinnable_kernels
from kernelinfo.gate.baseline import pinnable as pinnable
from kernelinfo.gate.baseline import read_baseline as read_baseline
from kernelinfo.gate.baseline import write_baseline as write_baseline
from kernelinfo.gate.judgement import Verdict, cases, judge
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import VANISHED, Notice, Outcome
from kernelinfo.gate.scope import Scope as Scope
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.record import INSTRUCTIONS
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.facts import SourceLine


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
    project, scope = configuration or Configuration(), scope or Scope()
    today = today or date.today()
    results = expectation.judgeable(report, project)
    folder = os.path.dirname(project.baseline or "") or "."
    kernels: Iterable[KernelSummary] = pinnable_kernels(results, folder)  # each is made once
    comparison = None
    if project.baseline is not None:
        build = pinnable(results, folder)
        kernels = build.kernels
        comparison = compare(read_baseline(project.baseline, kernels), build)
    compilers = comparison.old_compilers if comparison else ()
    foreign = ratchet.foreign(results, compilers)
    held = cases(results, kernels, comparison, foreign, project)
    verdict = judge(held, project, accepts=accepts, today=today)
    missed = _missed(comparison, project, scope, folder)
    unmet = (
        *expectation.too_few(report, results, project, scope, at_least),
        *expectation.nothing_judged(project, counts=scope.whole or at_least is not None),
        *expectation.nothing_numbered(verdict.unnumbered, project),
        *expectation.nothing_pinned(comparison, missed, project, scope),
    )
    notices = (
        *(ratchet.vanished(kernel, project) for kernel in missed),
        *ratchet.toolchain_changed(foreign, compilers, verdict.rebuilt, project),
        *(verdict.idle_budgets if scope.whole else ()),
        *excuses.on_suppressions(project, verdict.idle_suppressions if scope.whole else (), today),
    )
    return Outcome(
        report=Report(
            verdict.results, (*report.problems, *verdict.unstated, *unmet), report.repeats
        ),
        notices=tuple(_selected(notices, project)),
        fail_on=project.fail_on,
        excused=verdict.excused,
        passed_over=len(report.results) - len(results),
        comparison=comparison,
        baseline=project.baseline,
        part=scope.description,
        remarks=tuple(_remarks(results, verdict, comparison, missed, project, scope, at_least)),
    )


def asks_for_instructions(configuration: Configuration) -> bool:
    """True if the configuration says so, or if a budget, an allowance or the baseline has numbers
    of instructions."""
    if configuration.instructions:
        return True
    bounded = [number for one in configuration.budgets for number, _ in one.bounds]
    bounded += [number for number, _ in configuration.gate.allowances]
    if any(number in INSTRUCTIONS for number in bounded):
        return True
    return configuration.baseline is not None and holds_instructions(configuration.baseline)


def located(outcome: Outcome, options: Options) -> Outcome:
    """The outcome with source lines for failing kernels of code objects.

    Debug information that cannot be read is a problem of the outcome.
    """
    failing = [one.result.kernel for one in outcome.failing if one.result.kernel.source is None]
    code_objects = dict.fromkeys(kernel.code_object for kernel in failing)
    wanted = (one for one in code_objects if one.kind == "code-object")
    lines: dict[CodeObject, dict[str, SourceLine]] = {}
    problems = list(outcome.problems)
    for code_object, blob in opened_again(wanted, options):
        try:
            lines[code_object] = lines_of(blob)
        except ReadError as error:
            problems.append(problem(blob, error.message))

    def placed(result: Result) -> Result:
        kernel = result.kernel
        source = lines.get(kernel.code_object, {}).get(kernel.symbol)
        return result if source is None else result._replace(kernel=kernel._replace(source=source))

    results = tuple(map(placed, outcome.report.results))
    report = Report(results, tuple(problems), outcome.report.repeats)
    excused = tuple((at, one._replace(result=results[at])) for at, one in outcome.excused)
    return outcome._replace(report=report, excused=excused)


def _missed(
    comparison: Comparison | None, project: Configuration, scope: Scope, folder: FilePath
) -> tuple[KernelSummary, ...]:
    """Pinned kernels that are gone, although the run covers them."""
    gone = comparison.gone if comparison else ()
    return tuple(k for k in gone if project.asks_for(k.target) and scope.holds(k, folder))


def _selected(notices: Iterable[Notice], project: Configuration) -> Iterator[Notice]:
    """Notices whose rules are selected, or on gone kernels; without a path they are on settings."""
    file = str(project.file or project.baseline or "") or None
    for notice in notices:
        kept = (notice.finding,) if notice.finding.rule == VANISHED else ()
        for finding in tuple(project.selection.chosen([notice.finding])) or kept:
            yield notice._replace(finding=finding, path=notice.path or file)


def _remarks(
    results: Sequence[Result],
    verdict: Verdict,
    comparison: Comparison | None,
    missed: Sequence[KernelSummary],
    project: Configuration,
    scope: Scope,
    at_least: int | None,
) -> Iterator[Message]:
    """Lines `not checked: …` for uncovered parts and `note: …` for settings without effect."""
    for reason in (*expectation.ignored(project), *expectation.untargeted(results)):
        yield say("check-left-out", reason=reason)
    for note in expectation.notes(comparison, missed) if comparison else ():
        yield say("check-note", reason=note)
    if scope.whole:
        for pattern in expectation.unmatched_sizes(results, project):
            told = say("workgroup-size-unmatched", file=project.file or "", pattern=pattern)
            yield say("check-note", reason=told)
        return
    left_out = expectation.left_out(
        results,
        project,
        scope,
        at_least,
        idle_budgets=[notice.subject for notice in verdict.idle_budgets],
        elsewhere=len(comparison.gone) - len(missed) if comparison else 0,
        idle_suppressions=[*map(excuses.words, verdict.idle_suppressions)],
    )
    for reason in left_out:
        yield say("check-left-out", reason=reason)
