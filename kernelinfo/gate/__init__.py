"""The gate: a report judged by rules, budgets, a baseline and suppressions; baselines updated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from kernelinfo.analysis.kernels import lines_of, opened_again
from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import Build, KernelSummary
from kernelinfo.config import Budget, Configuration
from kernelinfo.errors import BaselineError, Message, ReadError
from kernelinfo.gate import judgement
from kernelinfo.gate.baseline import holds_instructions
from kernelinfo.gate.baseline import pinnable as pinnable
from kernelinfo.gate.baseline import read_baseline as read_baseline
from kernelinfo.gate.baseline import write_baseline as write_baseline
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import (
    VANISHED,
    Judged,
    Notice,
    Outcome,
    check_claims,
    check_counts,
    check_coverage,
    check_pinned,
    list_left_out,
    list_notes,
    list_unmatched_sizes,
    list_unselected,
    note_untargeted,
    select_results,
)
from kernelinfo.gate.outcome import Scope as Scope
from kernelinfo.gate.ratchet import can_tighten, find_foreign, judge_gone, judge_toolchain, tighten
from kernelinfo.gate.renames import find_likely, refuse_drop, state_renames
from kernelinfo.kernel import Kernel, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.record import INSTRUCTIONS
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.containers.formats import problem
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.messages import in_file


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
    build (`scope`). The report's findings are used unchanged, so make it with the configuration's
    `selection` and `workgroup_sizes`. Fewer than `at_least` kernels are a problem in any scope; by
    default the configuration's number holds, for the whole build only. Without `accepts` the
    findings that the baseline accepts count, too. `today` decides which suppressions have expired.
    `renames` are `OLD=NEW`: a pinned kernel that is gone is compared with a new one. Raises
    `BaselineError` if the baseline cannot be read, and `OptionError` for a rename that fits no
    kernel.
    """
    project, scope = configuration or Configuration(), scope or Scope()
    today = today or date.today()
    results = select_results(report, project)
    folder = os.path.dirname(project.baseline or "") or "."
    comparison, kernels, given_up = None, tuple[KernelSummary, ...](), tuple[KernelSummary, ...]()
    if project.baseline is not None:
        build = pinnable(results, folder)
        kernels = build.kernels
        comparison = compare(read_baseline(project.baseline, kernels), build)
        if renames:
            comparison, given_up = state_renames(comparison, renames, kernels)
    foreign = find_foreign(results, comparison.old_compilers if comparison else ())
    cases = judgement.make_cases(results, kernels, comparison, foreign, project)
    outcome = judgement.judge(cases, project, accepts=accepts, today=today)
    missed = _list_missed(comparison, project, scope, folder)
    likely = find_likely(missed, comparison.new, given_up) if comparison else ()
    unmet = (
        *check_counts(report, results, project, scope, at_least),
        *check_coverage(report, project, scope),
        *check_claims(project, counts=scope.whole or at_least is not None),
        *check_pinned(comparison, missed, project, scope),
    )
    pairs = comparison.pairs if comparison else ()
    idle = outcome.idle_suppressions if scope.whole else ()
    notices = (
        *judge_gone(missed, pairs, likely, project, given_up),
        *judge_toolchain(foreign, comparison, results, kernels, project),
        *(outcome.idle_budgets if scope.whole else ()),
        *judgement.judge_suppressions(project, idle, today),
    )
    problems = (*report.problems, *outcome.problems, *unmet)
    return outcome._replace(
        report=Report(outcome.report.results, problems, report.repeats),
        notices=tuple(_select(notices, project)),
        passed_over=len(report.results) - len(results),
        comparison=comparison,
        baseline=project.baseline,
        part=scope.description,
        remarks=tuple(_remark(results, outcome, comparison, missed, project, scope, at_least)),
        likely_renames=likely,
    )


def asks_for_instructions(configuration: Configuration) -> bool:
    """True if the configuration asks for instruction counts, or if a budget, an allowance or the
    baseline uses them."""
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
    failing = (r.kernel for r in outcome.report.results if any(map(outcome.fails, r.findings)))
    unlocated = (kernel.code_object for kernel in failing if kernel.source is None)
    code_objects = dict.fromkeys(c for c in unlocated if c.kind == "code-object")
    if not code_objects:
        return outcome
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
    """Pinned kernels that are missing although the run covers them."""
    gone = comparison.gone if comparison else ()
    return tuple(k for k in gone if project.asks_for(k.target) and scope.holds(k, folder))


def _select(notices: Iterable[Notice], project: Configuration) -> Iterator[Notice]:
    """Notices whose rules are selected, and those on missing kernels. Notices without a path are
    about settings."""
    file = str(project.file or project.baseline or "") or None
    for notice in notices:
        kept = (notice.finding,) if notice.finding.rule == VANISHED else ()
        for finding in tuple(project.selection.chosen([notice.finding])) or kept:
            yield notice._replace(finding=finding, path=notice.path or file)


def _remark(
    results: Sequence[Result],
    outcome: Outcome,
    comparison: Comparison | None,
    missed: Sequence[KernelSummary],
    project: Configuration,
    scope: Scope,
    at_least: int | None,
) -> Iterator[Message]:
    """Lines `not checked: …` for uncovered parts and `note: …` for settings without effect."""
    for reason in (*list_unselected(project), *note_untargeted(results)):
        yield say("check-left-out", reason=reason)
    for note in list_notes(comparison) if comparison else ():
        yield say("check-note", reason=note)
    if scope.whole:
        for pattern in list_unmatched_sizes(results, project):
            note = say("workgroup-size-unmatched", file=project.file or "", pattern=pattern)
            yield say("check-note", reason=note)
        return
    left_out = list_left_out(
        results,
        project,
        scope,
        at_least,
        idle_budgets=[notice.subject for notice in outcome.idle_budgets],
        elsewhere=len(comparison.gone) - len(missed) if comparison else 0,
        idle_suppressions=[*map(judgement.name_suppression, outcome.idle_suppressions)],
    )
    for reason in left_out:
        yield say("check-left-out", reason=reason)


# Updates of a baseline, and the first configuration of a project.

_HIP = "-hip-amdgcn-"
"""Part of the names that hipcc --save-temps gives to device code."""
_TEXT = """\
# For `kernelinfo check`; `kernelinfo explain gate` describes every key.
paths    = {paths}  # outputs of the build, relative to this file
target   = {targets}  # each must be built
baseline = "kernelinfo.baseline.json"  # made by `kernelinfo check --update-baseline`
fail-on  = "warning"  # on what is new: --update-baseline accepts the findings of today
expect   = {{ min-kernels = {count} }}  # nine tenths of today's: fewer cannot be all

# [workgroup-size]    # what the host launches
# "saxpy*" = 256

# [[budget]]          # the first that matches counts
# kernel = "gemm_*"
# vgpr-spill = 0
# waves = 2
"""


class Update(NamedTuple):
    """A new baseline and its differences from the old one."""

    pinned: Build
    new: tuple[KernelSummary, ...]
    changed: tuple[Pair, ...]
    dropped: tuple[KernelSummary, ...]
    accepted: tuple[tuple[KernelSummary, str], ...] = ()
    """Kernels and rules whose findings the new baseline accepts and the old one did not."""
    ended: tuple[tuple[KernelSummary, str], ...] = ()
    """Kernels and rules whose findings the old baseline accepted and the new one does not."""
    likely_renames: tuple[Pair, ...] = ()
    """Dropped kernels, each with the new one that is likely the same."""
    is_first: bool = False
    """True if there was no baseline before."""
    accepts: bool = True
    """False if the new baseline accepts no findings. Then `ended` also has findings that kernels
    still have."""
    idle_budgets: tuple[Budget, ...] = ()
    """Budgets that match only dropped kernels, or renamed ones under their old names."""


def pin(
    report: Report,
    baseline: FilePath,
    configuration: Configuration,
    scope: Scope | None = None,
    at_least: int | None = None,
    *,
    accepts: bool = True,
    renames: Sequence[str] = (),
) -> Update:
    """The update that pins a report, and accepts its findings unless `accepts` is False; nothing is
    written.

    Pinned kernels that the run does not cover stay. `renames` are `OLD=NEW`, or `OLD=` for kernels
    to drop. Raises `BaselineError` if the report has problems or too few kernels, if the old
    baseline cannot be read, or if a kernel to drop is likely renamed and got worse, and
    `OptionError` for a rename that fits no kernel.
    """
    scope, folder = scope or Scope(), os.path.dirname(baseline) or "."
    now = _build(report, baseline, configuration, scope, at_least)
    if accepts:
        all_judged = _judge(report, configuration, scope)
        kernels = zip(now.kernels, all_judged, strict=True)
        now = now._replace(
            kernels=tuple(_accept(kernel, judged, configuration) for kernel, judged in kernels)
        )
    is_first = not os.path.exists(baseline)
    old = Build((), ()) if is_first else read_baseline(baseline, now.kernels)
    comparison, given_up = state_renames(compare(old, now), renames, now.kernels)
    dropped = tuple(kernel for kernel in comparison.gone if scope.holds(kernel, folder))
    likely = find_likely(dropped, comparison.new, given_up)
    for pair in likely:
        if pair.regressed:
            raise BaselineError(_keep(baseline, refuse_drop(pair)))
    kept = tuple(kernel for kernel in comparison.gone if not scope.holds(kernel, folder))
    compilers = {*now.compilers, *(() if scope.whole else old.compilers)}
    pinned = Build((*now.kernels, *kept), tuple(sorted(compilers)))
    return Update(
        pinned=pinned,
        new=comparison.new,
        changed=tuple(pair for pair in comparison.pairs if pair.old.content != pair.new.content),
        dropped=dropped,
        accepted=_list_accepted(comparison),
        ended=_list_ended(comparison.pairs),
        likely_renames=likely,
        is_first=is_first,
        accepts=accepts,
        idle_budgets=judgement.list_deserted(configuration, comparison, dropped, pinned.kernels),
    )


def pin_improvements(
    report: Report,
    baseline: FilePath,
    configuration: Configuration,
    scope: Scope | None = None,
    at_least: int | None = None,
) -> Update:
    """The update that removes slack: it pins numbers that got better and drops accepted findings
    that ended.

    Nothing is written. Kernels that are new, missing, or from another compiler or launch stay as
    they are, as does each number that got worse. Raises `BaselineError` as `pin` does.
    """
    scope = scope or Scope()
    now = _build(report, baseline, configuration, scope, at_least)
    old = read_baseline(baseline, now.kernels)
    results = select_results(report, configuration)
    foreign = find_foreign(results, old.compilers)
    pairs = compare(old, now).pairs_of(now.kernels)
    changed: dict[int, Pair] = {}
    for (result, suppressed, _), pair in zip(
        _judge(report, configuration, scope), pairs, strict=True
    ):
        if pair is None or id(result.kernel.code_object) in foreign:
            continue
        findings = (*result.findings, *(each.finding for each in suppressed))
        accepted = judgement.keep_accepted(pair.old.accepted, findings, result, configuration)
        best = tighten(pair, configuration.gate) if can_tighten(pair) else pair.old
        best = best._replace(accepted=accepted)
        if best != pair.old:
            changed[id(pair.old)] = Pair(pair.old, best)
    kernels = (changed[id(k)].new if id(k) in changed else k for k in old.kernels)
    pinned, ended = old._replace(kernels=tuple(kernels)), _list_ended(changed.values())
    moved = tuple(pair for pair in changed.values() if pair.old.content != pair.new.content)
    return Update(pinned, (), moved, (), ended=ended)


def _build(
    report: Report,
    baseline: FilePath,
    configuration: Configuration,
    scope: Scope,
    at_least: int | None,
) -> Build:
    """The build to pin. Raises `BaselineError` for a report with problems or too few kernels."""
    results = select_results(report, configuration)
    if report.problems or not results:
        first = "".join(f", {problem.located}" for problem in report.problems[:1])
        raise BaselineError(_keep(baseline, say("inputs-unread", first=first)))
    for unmet in check_counts(report, results, configuration, scope, at_least):
        raise BaselineError(_keep(baseline, unmet.located))
    return pinnable(results, os.path.dirname(baseline) or ".")


def _keep(baseline: FilePath, reason: str) -> Message:
    return in_file(baseline, say("baseline-unchanged", reason=reason))


def _judge(report: Report, configuration: Configuration, scope: Scope) -> Iterator[Judged]:
    """Each kernel of the report with its findings and suppressed ones, without a baseline."""
    return check(report, configuration._replace(baseline=None), scope=scope).kernels()


def _accept(kernel: KernelSummary, judged: Judged, configuration: Configuration) -> KernelSummary:
    """The kernel with the findings that a baseline accepts."""
    accepted = judgement.pin_findings(judged.result.findings, configuration.fail_on)
    return kernel._replace(accepted=accepted) if accepted else kernel


def _list_ended(pairs: Iterable[Pair]) -> tuple[tuple[KernelSummary, str], ...]:
    """Kernels and rules that the old baseline accepts and the new one does not."""
    return tuple(
        (pair.old, rule)
        for pair in pairs
        for rule, _ in pair.old.accepted
        if rule not in dict(pair.new.accepted)
    )


def _list_accepted(comparison: Comparison) -> tuple[tuple[KernelSummary, str], ...]:
    """Kernels and rules that the new build accepts and the old one did not."""
    pairs = [(pair.new, pair.old.accepted) for pair in comparison.pairs]
    return tuple(
        (kernel, rule)
        for kernel, before in (*((kernel, ()) for kernel in comparison.new), *pairs)
        for rule, _ in sorted(set(kernel.accepted) - set(before))
    )


def write_configuration(report: Report) -> str:
    """Text of a `kernelinfo.toml` that covers the kernels of a report."""
    kernels = report.kernels
    count = len({(kernel.code_object, kernel.symbol) for kernel in kernels})
    return _TEXT.format(
        paths=json.dumps(sorted({_write_glob(kernel.code_object.path) for kernel in kernels})),
        targets=json.dumps(sorted(_list_targets(kernels))),
        count=count - count // 10,
    )


def _list_targets(kernels: Iterable[Kernel]) -> set[str]:
    return {kernel.code_object.target for kernel in kernels if kernel.code_object.target}


def _write_glob(path: str) -> str:
    """A glob for files of the same kind as `path` below its top folder:
    `build/**/*-hip-amdgcn-*.s`."""
    top, separator, _ = os.path.relpath(path).replace(os.sep, "/").partition("/")
    name, suffix = os.path.splitext(os.path.basename(path))
    if _HIP in name:
        name, suffix = "", f"{_HIP}*{suffix}"
    elif ".so" in name + suffix:
        suffix = ".so*"  # libfoo.so.1.2, too
    return f"{top}/**/*{suffix}" if separator else f"*{suffix}"
