"""The gate's answer: findings of each kernel, suppressed ones, and those about no kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.gate.config.file import FilePath
from kernelinfo.gate.config.keys import SEVERITIES
from kernelinfo.kernel import Finding, Report, Result
from kernelinfo.reading.blob import Problem

if TYPE_CHECKING:
    from kernelinfo.rules.severity import Severity

VANISHED = "KI502"
"""A kernel of the baseline that is gone: the gate then cannot answer (exit code 2)."""


class Suppressed(NamedTuple):
    """A finding that the configuration excuses."""

    finding: Finding
    reason: str
    until: str | None
    """ISO date of the last day; None for ever."""


class Judged(NamedTuple):
    """One kernel as the gate sees it."""

    result: Result
    """With the findings of rules, budgets and baseline that are not suppressed."""
    suppressed: tuple[Suppressed, ...] = ()


class Notice(NamedTuple):
    """A finding about something other than a kernel that is there: one gone, a suppression."""

    finding: Finding
    subject: str
    """The subject: a kernel's name, a suppression, the toolchain."""
    target: str | None = None
    path: str | None = None
    """The file to look into: the configuration, the baseline."""
    line: int | None = None


class Outcome(NamedTuple):
    """The answer of `kernelinfo check`."""

    judged: tuple[Judged, ...]
    notices: tuple[Notice, ...]
    problems: tuple[Problem, ...]
    """Inputs that could not be read or judged, and too few kernels."""
    report: Report
    """All kernels judged, to be rendered like any report."""
    fail_on: Severity
    passed_over: int = 0
    """Kernels of targets that the configuration does not ask for."""
    comparison: Comparison | None = None
    """With the baseline; None without one."""
    baseline: FilePath | None = None
    part: str = ""
    """The part of the build that was judged, in words; empty for all of it."""
    remarks: tuple[str, ...] = ()
    """`not checked: …` and `note: …`: what the answer does not cover, and what guards nothing."""

    @property
    def renamed(self) -> tuple[Pair, ...]:
        """Kernels that were known again under another namespace than the baseline's."""
        pairs = self.comparison.pairs if self.comparison else ()
        return tuple(pair for pair in pairs if pair.match == "namespace")

    @property
    def failing(self) -> tuple[Judged, ...]:
        """The kernels that fail."""
        return tuple(one for one in self.judged if any(map(self.fails, one.result.findings)))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that count, of kernels and otherwise."""
        of_kernels = (finding for one in self.judged for finding in one.result.findings)
        return (*of_kernels, *(notice.finding for notice in self.notices))

    @property
    def answered(self) -> bool:
        """True if everything was read and every kernel of the baseline is there."""
        return not self.problems and not any(n.finding.rule == VANISHED for n in self.notices)

    @property
    def failed(self) -> bool:
        """True if any finding is at or above `fail_on`."""
        return any(self.fails(finding) for finding in self.findings)

    def fails(self, finding: Finding) -> bool:
        """True if the finding is at or above `fail_on`."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)
