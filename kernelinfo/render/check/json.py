"""The report's document with what the gate says; report-schema.json describes every key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kernelinfo.gate.verdict import VANISHED, Notice, Verdict
from kernelinfo.kernel import Report
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.json import document, flat


def render(verdict: Verdict, view: View) -> Iterator[str]:
    yield json.dumps(check_document(verdict), indent=1) + "\n"


def check_document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as JSON values."""
    vanished = [notice for notice in verdict.notices if notice.finding.rule == VANISHED]
    problems = (*verdict.problems, *(_problem(notice) for notice in vanished))
    found = document(Report(verdict.report.results, problems, verdict.report.repeats))
    for kernel, judged in zip(found["kernels"], verdict.judged, strict=True):
        kernel["suppressed"] = [
            flat(one.finding) | {"reason": one.reason, "until": one.until}
            for one in judged.suppressed
        ]
    for notice in verdict.notices:
        found["summary"][f"{notice.finding.severity}s"] += 1
    found["summary"]["suppressed"] = sum(len(judged.suppressed) for judged in verdict.judged)
    found["gate"] = {
        "answered": verdict.answered,
        "failed": verdict.failed,
        "fail_on": verdict.fail_on,
        "passed_over": verdict.passed_over,
        "baseline": str(verdict.baseline) if verdict.baseline else None,
        "notices": [
            {**flat(notice), "finding": notice.finding._asdict()} for notice in verdict.notices
        ],
    }
    return found


def _problem(notice: Notice) -> Problem:
    message = f"{notice.subject}: {notice.finding.message}"
    return Problem(notice.path or "", message, line=notice.line)
