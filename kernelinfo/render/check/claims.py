"""What a verdict claims, one finding after the other, ready to be told to a CI system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kernelinfo.compare.footprint import target_id
from kernelinfo.gate.verdict import Notice, Suppressed, Verdict
from kernelinfo.kernel import Finding, Result
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.check.place import Place, place_in, place_of
from kernelinfo.render.names import name_of, printable


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding, what it is about, and where that is."""

    finding: Finding
    subject: str
    """The kernel's name, or what else it is about; printable."""
    target: str | None
    place: Place | None
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


def claims(verdict: Verdict, view: View) -> Iterator[Claim]:
    """All findings in the order of reading, those that are excused after the others of a kernel."""
    met: Counter[tuple[str, ...]] = Counter()
    for judged in verdict.judged:
        result, kernel = judged.result, judged.result.kernel
        if not (result.findings or judged.suppressed):
            continue
        subject, origin = name_of(kernel, view.names), kernel.code_object
        target = target_id(origin.target, origin.features)
        place = place_of(kernel)
        for finding in result.findings:
            mark = _fingerprint(met, finding.rule, target, kernel.name)
            yield Claim(finding, subject, target, place, mark, result)
        for one in judged.suppressed:
            mark = _fingerprint(met, one.finding.rule, target, kernel.name)
            yield Claim(one.finding, subject, target, place, mark, result, one)
    for notice in verdict.notices:
        mark = _fingerprint(met, notice.finding.rule, notice.target or "", notice.subject)
        place_of_notice = _place_of_notice(notice, verdict)
        subject = printable(notice.subject)
        yield Claim(notice.finding, subject, notice.target, place_of_notice, mark)


def place_of_problem(problem: Problem) -> Place:
    return place_in(problem.path, problem.line)


def problem_text(problem: Problem) -> str:
    """What could not be read, without its path; printable, one line."""
    member = f"{printable(problem.member)}: " if problem.member else ""
    return member + printable(problem.message)


def _place_of_notice(notice: Notice, verdict: Verdict) -> Place | None:
    if notice.path is not None:
        return place_in(notice.path, notice.line)
    return None if verdict.baseline is None else place_in(str(verdict.baseline))


def _fingerprint(met: Counter[tuple[str, ...]], *identity: str) -> str:
    """A digest of what is claimed of what; the second time it is met, of that too."""
    from hashlib import sha256  # loads OpenSSL, and few formats ask

    met[identity] += 1
    parts = identity if met[identity] == 1 else (*identity, str(met[identity]))
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
