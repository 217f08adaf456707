"""Updates of a baseline, and the first configuration of a project."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kernelinfo.compare import Comparison, compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import Build, KernelSummary
from kernelinfo.config import Configuration
from kernelinfo.errors import BaselineError, Message
from kernelinfo.gate import check
from kernelinfo.gate.baseline import pinnable, read_baseline
from kernelinfo.gate.expectation import check_counts, select_results
from kernelinfo.gate.judgement import keep_accepted, pin_findings
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import Judged, Scope
from kernelinfo.gate.ratchet import can_tighten, find_foreign, tighten
from kernelinfo.gate.renames import find_likely, refuse_drop, state_renames
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.messages import in_file

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
    stated = set(map(id, given_up))
    unstated = [kernel for kernel in dropped if id(kernel) not in stated]
    likely = find_likely(unstated, comparison.new)
    for pair in likely:
        if pair.regressed:
            raise BaselineError(_keep(baseline, refuse_drop(pair)))
    kept = tuple(kernel for kernel in comparison.gone if not scope.holds(kernel, folder))
    compilers = {*now.compilers, *(() if scope.whole else old.compilers)}
    return Update(
        pinned=Build((*now.kernels, *kept), tuple(sorted(compilers))),
        new=comparison.new,
        changed=tuple(pair for pair in comparison.pairs if pair.old.content != pair.new.content),
        dropped=dropped,
        accepted=_list_accepted(comparison),
        ended=_list_ended(comparison.pairs),
        likely_renames=likely,
        is_first=is_first,
    )


def pin_improvements(
    report: Report,
    baseline: FilePath,
    configuration: Configuration,
    scope: Scope | None = None,
    at_least: int | None = None,
) -> Update:
    """The update that takes back slack: numbers that got better, and accepted findings that ended;
    nothing is written.

    Kernels that are new, gone, of another compiler or of another launch stay as they are, and so
    does each number that got worse. Raises `BaselineError` as `pin` does.
    """
    scope = scope or Scope()
    now = _build(report, baseline, configuration, scope, at_least)
    old = read_baseline(baseline, now.kernels)
    results = select_results(report, configuration)
    foreign = find_foreign(results, old.compilers)
    pairs = compare(old, now).pairs_of(now.kernels)
    changed: dict[int, Pair] = {}
    for judged, pair in zip(_judge(report, configuration, scope), pairs, strict=True):
        if pair is None or id(judged.result.kernel.code_object) in foreign:
            continue
        findings = (*judged.result.findings, *(s.finding for s in judged.suppressed))
        accepted = keep_accepted(pair.old.accepted, findings, judged.result, configuration)
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
    accepted = pin_findings(judged.result.findings, configuration.fail_on)
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
    """A glob for files like this one below its top folder: `build/**/*-hip-amdgcn-*.s`."""
    top, separator, _ = os.path.relpath(path).replace(os.sep, "/").partition("/")
    name, suffix = os.path.splitext(os.path.basename(path))
    if _HIP in name:
        name, suffix = "", f"{_HIP}*{suffix}"
    elif ".so" in name + suffix:
        suffix = ".so*"  # libfoo.so.1.2, too
    return f"{top}/**/*{suffix}" if separator else f"*{suffix}"
