"""Outcomes of real kernels, and on kernels that are called whatever anybody may think of."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from kernelinfo import Finding, Options, Problem, Report, Result, analyse
from kernelinfo.config.keys import SEVERITIES
from kernelinfo.gate.outcome import Judged, Notice, Outcome, Suppressed
from kernelinfo.reading.facts import SourceLine

from ...conftest import FIXTURES

TUTORIAL = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
LINES = FIXTURES / "assembly" / "tiny-lines-clang22-gfx90a.s"
BINARY = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"
BROKEN = FIXTURES / "broken" / "truncated.co"


@cache
def read(*paths: str) -> Report:
    return Report.of(analyse(paths, Options()))


def outcome_of(*paths: object, **changes: Any) -> Outcome:
    """All kernels of these files as the rules judge them, warnings and more failing."""
    report = read(*map(str, paths))
    return Outcome(report, (), "warning")._replace(**changes)


def of_kernels(outcome: Outcome, *judged: Judged) -> Outcome:
    """The same with these kernels instead of its own."""
    report = Report(tuple(one.result for one in judged), outcome.problems)
    return outcome._replace(report=report, excused=tuple(enumerate(judged)))


def excusing(outcome: Outcome, rule: str, reason: str) -> Outcome:
    """The same with all findings of a rule suppressed."""
    judged = []
    for one in outcome.judged:
        kept = tuple(f for f in one.result.findings if f.rule != rule)
        gone = tuple(f for f in one.result.findings if f.rule == rule)
        excused = tuple(Suppressed(finding, reason, "2027-03-31") for finding in gone)
        judged.append(Judged(one.result._replace(findings=kept), one.suppressed + excused))
    return of_kernels(outcome, *judged)


texts = st.text(
    st.characters(codec=None)  # lone surrogates, too: undecodable bytes of names become such
    | st.sampled_from("|`<>&[](){}@#*_~\\%:,;\"'\n\r\t\0\x1b\u202e\ud800\udcff")
)
paths = st.binary(min_size=1, max_size=40).map(
    lambda raw: raw.replace(b"\0", b"0").decode("utf-8", "surrogateescape")
)


@st.composite
def hostile(draw: st.DrawFn) -> Outcome:
    """An outcome whose every name, message and path is anything at all."""
    result = read(str(TUTORIAL)).results[3]
    judged = tuple(_judged(draw, result) for _ in range(draw(st.integers(0, 3))))
    notices = tuple(
        Notice(_finding(draw), draw(texts), draw(st.none() | texts), draw(st.none() | paths))
        for _ in range(draw(st.integers(0, 2)))
    )
    problems = tuple(
        Problem(draw(paths), "cannot be read: " + draw(texts), draw(st.none() | texts))
        for _ in range(draw(st.integers(0, 2)))
    )
    return of_kernels(Outcome(Report((), problems), notices, "warning"), *judged)


def _judged(draw: st.DrawFn, like: Result) -> Judged:
    source = draw(st.none() | st.builds(SourceLine, paths, st.integers(1, 9)))
    kernel = like.kernel._replace(
        code_object=like.kernel.code_object._replace(path=draw(paths), member=draw(texts)),
        name=draw(texts),
        symbol=draw(texts),
        source=source,
    )
    findings = tuple(_finding(draw) for _ in range(draw(st.integers(0, 2))))
    excused = tuple(
        Suppressed(_finding(draw), draw(texts), None) for _ in range(draw(st.integers(0, 1)))
    )
    return Judged(like._replace(kernel=kernel, findings=findings), excused)


def _finding(draw: st.DrawFn) -> Finding:
    severity = draw(st.sampled_from(SEVERITIES))
    return Finding("KI101", "vgpr-spill", severity, draw(texts), draw(texts))
