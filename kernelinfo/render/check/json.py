"""The report's document with what the gate says; report-schema.json describes every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo.gate.outcome import VANISHED, Outcome
from kernelinfo.kernel import Report
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.json import document, encoded, flat


def render(outcome: Outcome, view: View) -> Iterator[str]:
    yield encoded(check_document(outcome))


def check_document(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON values."""
    vanished = [notice for notice in outcome.notices if notice.finding.rule == VANISHED]
    gone = (
        Problem(one.path or "", f"{one.subject}: {one.finding.message}", line=one.line)
        for one in vanished
    )
    problems = (*outcome.problems, *gone)
    found = document(Report(outcome.report.results, problems, outcome.report.repeats))
    for kernel, judged in zip(found["kernels"], outcome.judged, strict=True):
        kernel["suppressed"] = [
            flat(one.finding) | {"reason": one.reason, "until": one.until}
            for one in judged.suppressed
        ]
    for notice in outcome.notices:
        found["summary"][f"{notice.finding.severity}s"] += 1
    found["summary"]["suppressed"] = sum(len(judged.suppressed) for judged in outcome.judged)
    found["gate"] = {
        "answered": outcome.answered,
        "failed": outcome.failed,
        "fail_on": outcome.fail_on,
        "passed_over": outcome.passed_over,
        "baseline": str(outcome.baseline) if outcome.baseline else None,
        "part": outcome.part or None,
        "remarks": list(outcome.remarks),
        "renamed": [
            {"old": pair.old.name, "new": pair.new.name, "target": pair.new.target}
            for pair in outcome.renamed
        ],
        "notices": [
            {**flat(notice), "finding": notice.finding._asdict()} for notice in outcome.notices
        ],
    }
    return found
