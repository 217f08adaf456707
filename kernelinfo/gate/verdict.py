"""What the gate says of each kernel, what is suppressed, and what concerns no kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernelinfo.compare import Comparison
from kernelinfo.kernel import Finding, Report, Result
from kernelinfo.reading.blob import Problem
from kernelinfo.rules.severity import Severity

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
"""The mildest first."""
VANISHED = "KI502"
"""A kernel of the baseline that is gone: a finding for which the answer is "cannot tell"."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that the configuration excuses."""

    finding: Finding
    reason: str
    until: str | None
    """ISO date of the last day; None for ever."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One kernel as the gate sees it."""

    result: Result
    """With the findings that count: the rules', the budgets' and the baseline's."""
    suppressed: tuple[Suppressed, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """A finding about something other than a kernel that is there: one gone, a suppression."""

    finding: Finding
    subject: str
    """What it is about: a kernel's name, a suppression, the toolchain."""
    target: str | None = None
    path: str | None = None
    """Where to look: the configuration, the baseline."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `kernelinfo check` answers."""

    judged: tuple[Judged, ...]
    notices: tuple[Notice, ...]
    problems: tuple[Problem, ...]
    """What could not be read or judged, and too few kernels."""
    report: Report
    """All kernels judged, to be rendered like any report."""
    fail_on: Severity
    passed_over: int = 0
    """Kernels of targets that the configuration does not ask for."""
    comparison: Comparison | None = None
    """With the baseline; None without one."""
    baseline: Path | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that count, of kernels and otherwise."""
        of_kernels = (finding for one in self.judged for finding in one.result.findings)
        return (*of_kernels, *(notice.finding for notice in self.notices))

    @property
    def answered(self) -> bool:
        """Whether all was read that was to be judged, and every kernel of the baseline is there."""
        return not self.problems and not any(n.finding.rule == VANISHED for n in self.notices)

    @property
    def failed(self) -> bool:
        """Whether a finding is as severe as the configuration bears no longer."""
        return any(self.fails(finding) for finding in self.findings)

    def fails(self, finding: Finding) -> bool:
        """Whether a finding alone is as severe as that."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)
