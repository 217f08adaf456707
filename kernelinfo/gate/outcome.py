"""The outcome of a check, and the part of a build that it covers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kernelinfo.analysis.options import Options
from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, ToolchainChange
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.kernel import Finding, Result, Severity
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.paths import fits

VANISHED = "KI502"
"""The rule for pinned kernels that are gone. They leave a check without an answer (exit code 2)."""
UNBASELINED = "KI503"
"""The rule for kernels that the baseline does not have."""
_MOST_NAMED = 2
"""Most paths to name; more are counted."""


class Scope(NamedTuple):
    """The part of a build that a run covers, or all of it."""

    paths: tuple[str, ...] = ()
    """Files, folders and globs; empty for all of the build."""
    options: Options = Options()
    """Choice of kernels by name and target."""
    may_hold_none: bool = False
    """True if the paths are a few of the build's files, perhaps without kernels (--subset)."""

    @property
    def whole(self) -> bool:
        """True if the run covers the whole build."""
        return not (self.paths or self.options.choices)

    @property
    def description(self) -> str:
        """The part in words: `3 paths, -k vgpr*`. Empty for the whole build."""
        many = self.may_hold_none or len(self.paths) > _MOST_NAMED
        number = f"{len(self.paths)} path{'s' if self.paths[1:] else ''}"
        paths = (number,) if self.paths and many else self.paths
        return ", ".join((*paths, *self.options.choices))

    def holds(self, kernel: KernelSummary, folder: FilePath) -> bool:
        """True if the run covers a pinned kernel; `folder` is the baseline's.

        A baseline cannot tell whether --where holds: no kernel is gone then.
        """
        if self.options.where is not None:
            return False
        if not self.options.asks_for(kernel.name, kernel.symbol, kernel.target):
            return False
        if not self.options.asks_for_member(kernel.code_object):
            return False
        location = os.path.abspath(os.path.join(folder, kernel.code_object.partition(" › ")[0]))
        given = [os.path.abspath(path) for path in self.paths]
        return not given or any(
            location == path
            or location.startswith(os.path.join(path, ""))
            or fits(location.replace(os.sep, "/"), path.replace(os.sep, "/"))
            for path in given
        )


class Suppressed(NamedTuple):
    """A finding that a suppression excuses."""

    finding: Finding
    reason: str  # the configuration's reason
    until: str | None
    """Last day of the suppression as an ISO date; None if it does not expire."""


class Judged(NamedTuple):
    """One kernel with the findings that count, and those that are suppressed or accepted."""

    result: Result
    """The kernel with the findings that count, by rules, budgets and baseline."""
    suppressed: tuple[Suppressed, ...] = ()  # findings that the configuration excuses
    accepted: tuple[Finding, ...] = ()
    """Findings that the baseline accepts."""


class KernelCase(NamedTuple):
    """One kernel of the build with all that it is held against."""

    result: Result
    kernel: KernelSummary
    """The kernel as a baseline pins it."""
    budgets: Sequence[Budget]
    """Those that match the kernel; the first applies."""
    pair: Pair | None
    """The kernel with its pinned one; a new kernel with a pinned copy of it, if there is one."""
    is_new: bool
    """True if there is a baseline, and it does not have the kernel."""
    is_moved: bool
    """True if the kernels of the pair differ."""
    change: ToolchainChange | None
    """How to judge a kernel of another compiler; None for one of the baseline's."""

    @property
    def budget(self) -> Budget | None:
        """The budget that applies; None without one."""
        return self.budgets[0] if self.budgets else None


class Notice(NamedTuple):
    """A finding that belongs to no kernel of the build: on a gone kernel, a suppression, a budget,
    the toolchain."""

    finding: Finding  # what was found
    subject: str
    """Name of the gone kernel, target or file, of the suppression or the budget;
    or `toolchain`."""
    target: str | None = None  # with features; None where it is about none
    path: str | None = None
    """The configuration or baseline that the finding is about."""
    line: int | None = None  # 1-based; None if it is not known


class Outcome(NamedTuple):
    """The answer of `kernelinfo check`."""

    report: Report
    """The judged kernels with the findings that count; inputs that could not be read or judged, and
    unmet expectations."""
    notices: tuple[Notice, ...]  # findings about no kernel that is there
    fail_on: Severity  # the mildest severity that fails
    excused: tuple[tuple[int, Judged], ...] = ()
    """(position in the report, kernel) of those with suppressed or accepted findings."""
    passed_over: int = 0
    """Number of kernels whose targets are not configured."""
    comparison: Comparison | None = None
    """Comparison with the baseline; None without a baseline."""
    baseline: FilePath | None = None
    part: str = ""
    """The judged part of the build in words: `3 paths, -k vgpr*`. Empty for all of it."""
    remarks: tuple[str, ...] = ()
    """Lines `not checked: …` for uncovered parts and `note: …` for settings without effect."""
    likely_renames: tuple[Pair, ...] = ()
    """Pinned kernels that are gone, each with the new kernel that is likely the same one."""

    def kernels(self) -> Iterator[Judged]:
        """Each kernel with its findings, in the order of the report."""
        excused = dict(self.excused)
        for number, result in enumerate(self.report.results):
            yield excused.get(number) or Judged(result)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the report."""
        return self.report.problems

    @property
    def judged(self) -> tuple[Judged, ...]:
        """All kernels with their findings; made again at each call."""
        return tuple(self.kernels())

    @property
    def renamed(self) -> tuple[Pair, ...]:
        """Pairs of kernels whose name changed since the baseline: in namespace, or by --rename."""
        pairs = self.comparison.pairs if self.comparison else ()
        return tuple(pair for pair in pairs if pair.match == "namespace")

    @property
    def new_targets(self) -> Mapping[str, int]:
        """Target that the baseline does not have -> number of its kernels."""
        if self.comparison is None or not self.comparison.pairs:
            return {}
        paired = (
            kernel.target for pair in self.comparison.pairs for kernel in (pair.old, pair.new)
        )
        pinned = {*paired, *(kernel.target for kernel in self.comparison.gone)}
        targets = (kernel.target for kernel in self.comparison.new)
        return Counter(target for target in targets if target not in pinned)

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """Findings that the baseline accepts."""
        return tuple(finding for _, judged in self.excused for finding in judged.accepted)

    @property
    def failing(self) -> tuple[Judged, ...]:
        """Kernels with a finding at or above `fail_on`."""
        return tuple(
            judged for judged in self.kernels() if any(map(self.fails, judged.result.findings))
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings that count, on kernels and in notices."""
        of_kernels = (finding for result in self.report.results for finding in result.findings)
        return (*of_kernels, *(notice.finding for notice in self.notices))

    @property
    def answered(self) -> bool:
        """True if all inputs were read and judged, and no pinned kernel is gone; else exit code
        2."""
        return not self.problems and not any(n.finding.rule == VANISHED for n in self.notices)

    @property
    def failed(self) -> bool:
        """True if any finding is at or above `fail_on`: exit code 1, if all is answered."""
        return any(self.fails(finding) for finding in self.findings)

    def fails(self, finding: Finding) -> bool:
        """True if the finding is at or above `fail_on`."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)
