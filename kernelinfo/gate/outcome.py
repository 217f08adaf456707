"""The outcome of a check: findings on each kernel, suppressed findings, notices and problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Budget, ToolchainChange
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.kernel import Finding, Result, Severity
from kernelinfo.kernel.report import Report
from kernelinfo.opening import FilePath
from kernelinfo.reading.blob import Problem

VANISHED = "KI502"
"""The rule for pinned kernels that are gone. They leave a check without an answer (exit code 2)."""


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
    """Name of the gone kernel, the suppression or the budget; or `toolchain`."""
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
        """All kernels with their findings, made anew each time."""
        return tuple(self.kernels())

    @property
    def renamed(self) -> tuple[Pair, ...]:
        """Pairs of kernels whose namespace changed since the baseline."""
        pairs = self.comparison.pairs if self.comparison else ()
        return tuple(pair for pair in pairs if pair.match == "namespace")

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """Findings that the baseline accepts."""
        return tuple(finding for _, one in self.excused for finding in one.accepted)

    @property
    def failing(self) -> tuple[Judged, ...]:
        """Kernels with a finding at or above `fail_on`."""
        return tuple(one for one in self.kernels() if any(map(self.fails, one.result.findings)))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings that count, on kernels and in notices."""
        of_kernels = (finding for one in self.report.results for finding in one.findings)
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
