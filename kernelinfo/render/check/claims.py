"""The findings of an outcome one by one, with subject and location, for a CI system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kernelinfo.gate.outcome import Notice, Outcome, Suppressed
from kernelinfo.kernel import Finding, Result
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.target_id import target_id
from kernelinfo.render import View
from kernelinfo.render.check.location import Location, location_in, location_of
from kernelinfo.render.names import name_of, printable


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding, what it is about, and where that is."""

    finding: Finding
    subject: str
    """The kernel's name, or what else it is about; printable."""
    target: str | None
    location: Location | None
    fingerprint: str
    """The same for this rule, target and name on every machine, wherever the kernel moves."""
    result: Result | None = None
    """None where it is about no kernel that was read."""
    suppressed: Suppressed | None = None

    @property
    def text(self) -> str:
        """What is found and what to do; printable, one line."""
        return printable("; ".join(filter(None, (self.finding.message, self.finding.hint))))

    @property
    def sentence(self) -> str:
        """The same with what it is about."""
        target = f" ({printable(self.target)})" if self.target else ""
        return f"{self.subject}{target}: {self.text}"


def claims(outcome: Outcome, view: View) -> Iterator[Claim]:
    """All findings in the order of reading, those that are excused after the others of a kernel."""
    seen: Counter[tuple[str, ...]] = Counter()
    for judged in outcome.judged:
        result, kernel = judged.result, judged.result.kernel
        if not (result.findings or judged.suppressed):
            continue
        subject, origin = name_of(kernel, view.names), kernel.code_object
        target = target_id(origin.target, origin.features)
        location = location_of(kernel)
        for finding in result.findings:
            mark = _fingerprint(seen, finding.rule, target, kernel.name)
            yield Claim(finding, subject, target, location, mark, result)
        for one in judged.suppressed:
            mark = _fingerprint(seen, one.finding.rule, target, kernel.name)
            yield Claim(one.finding, subject, target, location, mark, result, one)
    for notice in outcome.notices:
        mark = _fingerprint(seen, notice.finding.rule, notice.target or "", notice.subject)
        location_of_notice = _location_of_notice(notice, outcome)
        subject = printable(notice.subject)
        yield Claim(notice.finding, subject, notice.target, location_of_notice, mark)


def location_of_problem(problem: Problem) -> Location:
    return location_in(problem.path, problem.line)


def problem_text(problem: Problem) -> str:
    """What could not be read, without its path; printable, one line."""
    member = f"{printable(problem.member)}: " if problem.member else ""
    return member + printable(problem.message)


def _location_of_notice(notice: Notice, outcome: Outcome) -> Location | None:
    if notice.path is not None:
        return location_in(notice.path, notice.line)
    return None if outcome.baseline is None else location_in(str(outcome.baseline))


def _fingerprint(seen: Counter[tuple[str, ...]], *identity: str) -> str:
    """A digest of rule, target and name; of repeated ones with their number."""
    from hashlib import sha256  # loads OpenSSL, and few formats ask

    seen[identity] += 1
    parts = identity if seen[identity] == 1 else (*identity, str(seen[identity]))
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
