"""Updates of a baseline: the numbers of a build, pinned."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kernelinfo.compare import compare
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import Build, KernelSummary
from kernelinfo.config import Configuration
from kernelinfo.errors import BaselineError
from kernelinfo.gate import check
from kernelinfo.gate.baseline import pinnable, read_baseline
from kernelinfo.gate.excuses import pinned
from kernelinfo.gate.expectation import judgeable, too_few
from kernelinfo.gate.messages import say
from kernelinfo.gate.scope import Scope
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.messages import in_file


class Update(NamedTuple):
    """A new baseline and its differences from the old one."""

    pinned: Build
    new: tuple[KernelSummary, ...]
    changed: tuple[Pair, ...]
    dropped: tuple[KernelSummary, ...]
    accepted: tuple[tuple[KernelSummary, str], ...] = ()
    """Kernels and rules whose findings the new baseline accepts and the old one did not."""
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
) -> Update:
    """The update that pins a report, and accepts its findings unless `accepts` is False; nothing is
    written.

    Pinned kernels that the run does not cover stay. Raises `BaselineError` if the report has
    problems or too few kernels, or if the old baseline cannot be read.
    """
    found, scope = judgeable(report, configuration), scope or Scope()
    if report.problems or not found:
        first = "".join(f", {one.located}" for one in report.problems[:1])
        unread = say("inputs-unread", first=first)
        raise BaselineError(in_file(baseline, say("baseline-unchanged", reason=unread)))
    for missing in too_few(report, found, configuration, scope, at_least):
        message = say("baseline-unchanged", reason=missing.located)
        raise BaselineError(in_file(baseline, message))
    folder = os.path.dirname(baseline) or "."
    now = pinnable(found, folder)
    if accepts:
        kernels = _accepting(now.kernels, report, configuration, scope)
        now = now._replace(kernels=tuple(kernels))
    if not os.path.exists(baseline):
        return update(Build((), ()), now, scope, folder)._replace(is_first=True)
    return update(read_baseline(baseline, now.kernels), now, scope, folder)


def _accepting(
    kernels: Iterable[KernelSummary], report: Report, configuration: Configuration, scope: Scope
) -> Iterator[KernelSummary]:
    """The kernels, each with the findings that a baseline accepts."""
    outcome = check(report, configuration._replace(baseline=None), scope=scope)
    for kernel, result in zip(kernels, outcome.report.results, strict=True):
        accepted = pinned(result.findings, configuration.fail_on)
        yield kernel._replace(accepted=accepted) if accepted else kernel


def update(old: Build, now: Build, scope: Scope, folder: FilePath) -> Update:
    """The update from `old` to `now`. Pinned kernels outside `scope` stay; `folder` is the
    baseline's."""
    found = compare(old, now)
    kept = tuple(kernel for kernel in found.gone if not scope.holds(kernel, folder))
    compilers = {*now.compilers, *(() if scope.whole else old.compilers)}
    return Update(
        pinned=Build((*now.kernels, *kept), tuple(sorted(compilers))),
        new=found.new,
        changed=tuple(pair for pair in found.pairs if pair.old.content != pair.new.content),
        dropped=tuple(kernel for kernel in found.gone if scope.holds(kernel, folder)),
        accepted=tuple(
            (kernel, rule)
            for kernel, known in (
                *((kernel, ()) for kernel in found.new),
                *((pair.new, pair.old.accepted) for pair in found.pairs),
            )
            for rule, _ in sorted(set(kernel.accepted) - set(known))
        ),
    )
