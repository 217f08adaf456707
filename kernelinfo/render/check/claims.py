"""The outcome of a check for CI systems: a headline, and claims with their locations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from kernelinfo.gate.baseline_text import name_unit
from kernelinfo.gate.outcome import UNBASELINED, Notice, Outcome, Suppressed
from kernelinfo.kernel import Finding, Kernel, Result, counted
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.paths import path_in_repository
from kernelinfo.reading.target_id import target_id
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable, told_apart
from kernelinfo.render.table import finding_counts, in_words, worst_first

TOOLCHAIN = "KI507"
"""Rule of a change of the compiler. The change may explain other findings."""


class FindingLocation(NamedTuple):
    """The place of a finding."""

    path: str  # relative to the repository's root if inside of it; separator `/`
    line: int | None  # 1-based; None if only the file is known

    @property
    def text(self) -> str:
        """`kernels.s:12`, or the path alone."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Claim(NamedTuple):
    """A finding and its subject."""

    finding: Finding
    about: Result | Notice
    name: str  # of the kernel or other subject
    subject: str  # the name in the user's style; printable
    target: str | None  # of a kernel, with features; else None
    suppressed: Suppressed | None = None
    accepted: bool = False  # by the baseline
    fails: bool = False  # it counts and is severe enough
    number: int = 1  # counts claims of the same rule, target and name
    alike: int = 0  # number of further claims that this line stands for
    apart: str = ""  # ` · libfoo.so`, if others of this name and target have the same location

    @property
    def counts(self) -> bool:
        """True unless the finding is suppressed or accepted."""
        return self.suppressed is None and not self.accepted

    @property
    def result(self) -> Result | None:
        """The kernel of the finding; None if the finding names no kernel that was read."""
        return self.about if isinstance(self.about, Result) else None

    @property
    def location(self) -> FindingLocation | None:
        """The source line, else the assembly line, else the file; None if all are unknown."""
        about = self.about
        if isinstance(about, Notice):
            return None if about.path is None else location_in(about.path, about.line)
        if source := about.kernel.source:
            return FindingLocation(PurePath(source.file).as_posix(), source.line)
        return location_in(about.kernel.code_object.path, about.kernel.line)

    @property
    def identity(self) -> tuple[str, ...]:
        """(rule, target, name), which stay the same when the kernel moves."""
        return self.finding.rule, self.target or "", self.name

    @property
    def text(self) -> str:
        """Message and hint in one printable line."""
        return printable(in_words(self.finding))

    @property
    def sentence(self) -> str:
        """Subject, message and hint in one printable line."""
        target = f" ({printable(self.target)})" if self.target else ""
        further = f" and {counted(self.alike, 'more kernel')}" if self.alike else ""
        return f"{self.subject}{target}{self.apart}{further}: {self.text}"

    @property
    def where(self) -> str:
        """The location as printable text: `kernels.s:12`; empty if the file is unknown."""
        return printable(self.location.text) if self.location else ""

    @property
    def excuse(self) -> str:
        """Reason of the suppression with its end, or of the acceptance, printable; empty if the
        finding counts."""
        if self.accepted:
            return "accepted by the baseline"
        if self.suppressed is None:
            return ""
        until = f" (until {self.suppressed.until})" if self.suppressed.until else ""
        return printable(self.suppressed.reason + until)


def compiler_first(claim: Claim) -> tuple[bool, int, str]:
    """Sort key: a change of the compiler, then the worst finding."""
    return (claim.finding.rule != TOOLCHAIN, *worst_first(claim.finding))


def claims(outcome: Outcome, view: View) -> Iterator[Claim]:
    """All findings in reading order; suppressed and accepted ones follow the others of their
    kernel."""
    seen: Counter[tuple[str, ...]] = Counter()
    for claim in _unnumbered(outcome, view):
        seen[claim.identity] += 1
        fails = claim.counts and outcome.fails(claim.finding)
        yield claim._replace(fails=fails, number=seen[claim.identity])


def fold(claims: Iterable[Claim], outcome: Outcome, view: View) -> list[Claim]:
    """The first claim of each group, with the count of the other kernels; all with `--top 0`.

    A group is either kernels of one source line whose messages differ only in numbers, or the new
    kernels of one new target, or else of one file.
    """
    groups: dict[object, list[Claim]] = {}
    new_targets = outcome.new_targets
    seen: Counter[object] = Counter()
    for claim in claims:
        key = _group(claim, new_targets) if view.top else id(claim)
        seen[key, id(claim.about)] += 1  # several findings of a kernel are as many lines
        groups.setdefault((key, seen[key, id(claim.about)]), []).append(claim)
    return [first._replace(alike=len(rest)) for first, *rest in groups.values()]


def _group(claim: Claim, new_targets: Container[str]) -> object:
    """The key of the claims that are told in one line."""
    kernel, finding = claim.result and claim.result.kernel, claim.finding
    about = (finding.rule, finding.severity, claim.fails)
    if kernel and finding.rule == UNBASELINED:
        target, file = claim.target or "", kernel.code_object.path
        return *about, target if target in new_targets else name_unit(file, target)
    if kernel and kernel.source:
        return *about, kernel.source, re.sub(r"\d+", "#", finding.message)
    return id(claim)


def _unnumbered(outcome: Outcome, view: View) -> Iterator[Claim]:
    claimed = [j for j in outcome.kernels() if j.result.findings or j.suppressed or j.accepted]
    apart = _tell_apart([judged.result.kernel for judged in claimed], view)
    for (result, suppressed, accepted), mark in zip(claimed, apart, strict=True):
        kernel = result.kernel
        about = (result, kernel.name, name_of(kernel, view.names), _target(kernel))
        yield from (Claim(finding, *about, apart=mark) for finding in result.findings)
        yield from (Claim(each.finding, *about, each, apart=mark) for each in suppressed)
        yield from (Claim(finding, *about, accepted=True, apart=mark) for finding in accepted)
    for notice in outcome.notices:
        name = notice.subject
        yield Claim(notice.finding, notice, name, printable(name), notice.target)


def _tell_apart(kernels: Sequence[Kernel], view: View) -> list[str]:
    """The library, member or options of each kernel, if location, name and target are another's
    too; else an empty text."""
    places = (kernel.source or (kernel.code_object.path, kernel.line) for kernel in kernels)
    called = [
        f"{place} {name_of(kernel, view.names)} {_target(kernel)}"
        for place, kernel in zip(places, kernels, strict=True)
    ]
    texts = told_apart([[kernel] for kernel in kernels], called, targets=False)
    return [text.removeprefix(shared) for text, shared in zip(texts, called, strict=True)]


def _target(kernel: Kernel) -> str:
    return target_id(kernel.code_object.target, kernel.code_object.features)


def headline(outcome: Outcome) -> str:
    """The verdict and its counts: `failed: 2 errors, 1 warning · 40 kernels`."""
    answer = "failed" if outcome.failed else "passed"
    if not outcome.answered:
        answer = "cannot answer" if not outcome.failed else "failed, and cannot answer for all"
    severities = [*finding_counts(outcome.findings).values()]
    if outcome.problems:
        severities.insert(0, counted(len(outcome.problems), "problem"))
    excused = sum(len(judged.suppressed) for _, judged in outcome.excused)
    parts = [", ".join(severities) or "nothing found", counted(len(outcome.report), "kernel")]
    if unread := sum(map(_is_unread, outcome.report.results)):
        code = f"code of {counted(unread, 'kernel')} in objects not read"
        parts.append(f"{code} (instructions = true reads it)")
    if excused:
        parts.append(f"{excused} suppressed")
    if accepted := len(outcome.accepted):
        parts.append(f"{accepted} accepted")
    for target, count in outcome.new_targets.items():
        parts.append(f"{printable(target)} is new: {counted(count, 'kernel')} unpinned")
    if outcome.passed_over:
        parts.append(f"{counted(outcome.passed_over, 'kernel')} of other targets passed over")
    if outcome.part:
        parts.append(f"only of {printable(outcome.part)}")
    return f"{answer}: {' · '.join(parts)}"


def _is_unread(result: Result) -> bool:
    """True for a kernel of a code object whose instructions were not asked for."""
    kernel = result.kernel
    is_object = kernel.code_object.kind == "code-object"
    return is_object and kernel.instructions is None and kernel.touched is None


def location_in(path: str, line: int | None = None) -> FindingLocation:
    """The location of a path from the command line."""
    return FindingLocation(PurePath(path_in_repository(path) or path).as_posix(), line)


def problem_text(problem: Problem) -> str:
    """A problem without its path, in one printable line."""
    member = f"{printable(problem.member)}: " if problem.member else ""
    return member + printable(problem.message)
