"""Suppressions: findings that they excuse, expired ones (KI505) and unused ones (KI506)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config import Suppression, entries_for
from kernelinfo.errors import Message
from kernelinfo.gate.messages import say
from kernelinfo.gate.outcome import Suppressed
from kernelinfo.kernel import Finding
from kernelinfo.rules import means
from kernelinfo.rules.documented import documented

_EXPIRED, _UNUSED = documented("KI505"), documented("KI506")


class Suppressions:
    """Suppressions of a configuration on one day. It remembers which of them matched a finding."""

    def __init__(self, suppressions: Sequence[Suppression], today: date) -> None:
        self._all = suppressions
        self._today = today
        self._met: set[int] = set()

    def sort_out(
        self, kernel: KernelSummary, findings: Iterable[Finding]
    ) -> tuple[tuple[Finding, ...], tuple[Suppressed, ...]]:
        """(findings that count, findings that a valid suppression excuses) of one kernel."""
        counted, excused = [], []
        own = entries_for(self._all, kernel.name, kernel.symbol, kernel.target)
        for finding in findings:
            fitting = [one for one in own if means(one.rule, finding.rule, finding.name)]
            self._met.update(map(id, fitting))
            valid = next((s for s in fitting if not self._has_expired(s)), None)
            if valid is None:
                counted.append(finding)
            else:
                until = valid.until.isoformat() if valid.until else None
                excused.append(Suppressed(finding, valid.reason, until))
        return tuple(counted), tuple(excused)

    def remarks(self, *, all_seen: bool) -> Iterable[tuple[Suppression, Finding]]:
        """A finding per expired suppression and, if the whole build was read, per unused one."""
        for suppression in self._all:
            if self._has_expired(suppression):
                findings, day = _words(suppression), suppression.until
                message = say("suppression-expired", findings=findings, day=day)
                yield suppression, _EXPIRED.found(message, say("suppression-expired-mend"))
        for suppression in self._idle() if all_seen else ():
            message = say("suppression-unused", findings=_words(suppression))
            yield suppression, _UNUSED.found(message, say("suppression-unused-mend"))

    def left_out(self) -> Iterator[Message]:
        """A text on the suppressions that excuse nothing in a part of the build."""
        if idle := ", ".join(map(_words, self._idle())):
            yield say("left-out-suppressions", names=idle)

    def _idle(self) -> Iterator[Suppression]:
        """Valid suppressions that matched no finding."""
        for suppression in self._all:
            if not self._has_expired(suppression) and id(suppression) not in self._met:
                yield suppression

    def _has_expired(self, suppression: Suppression) -> bool:
        return suppression.until is not None and suppression.until < self._today


def _words(suppression: Suppression) -> str:
    return f"{suppression.rule} of {suppression.kernel}"
