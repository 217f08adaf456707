"""The report's JSON document with the gate's findings; report-schema.json has every key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from kernelinfo.compare.changes import Pair
from kernelinfo.errors import Message
from kernelinfo.gate.outcome import VANISHED, Outcome
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.messages import in_file
from kernelinfo.render import View
from kernelinfo.render.json import as_json, document, picked
from kernelinfo.render.json_text import encoded


def render(outcome: Outcome, view: View) -> Iterator[str]:
    gone = (
        Problem(
            notice.path or "",
            in_file(notice.subject, Message(notice.finding.message, notice.finding.code)),
            line=notice.line,
        )
        for notice in outcome.notices
        if notice.finding.rule == VANISHED
    )
    excused = (
        {
            "suppressed": [
                as_json(each.finding) | picked(each, "reason", "until")
                for each in judged.suppressed
            ],
            "accepted": as_json(judged.accepted),
        }
        for judged in outcome.kernels()
    )
    report = outcome.report
    counts = Counter(f"{notice.finding.severity}s" for notice in outcome.notices)
    counts["suppressed"] = sum(len(judged.suppressed) for _, judged in outcome.excused)
    whole = document(chain(report.results, outcome.problems, gone, report.repeats), excused, counts)
    whole["gate"] = {
        **picked(outcome, "answered", "failed", "fail_on", "passed_over"),
        "accepted": len(outcome.accepted),
        "baseline": str(outcome.baseline) if outcome.baseline else None,
        "part": outcome.part or None,
        "remarks": outcome.remarks,
        "renamed": [*map(_names, outcome.renamed)],
        "likely_renames": [*map(_names, outcome.likely_renames)],
        "new_targets": outcome.new_targets,
        "notices": as_json(outcome.notices),
    }
    yield from encoded(whole)


def _names(pair: Pair) -> dict[str, str]:
    return {"old": pair.old.name, "new": pair.new.name, "target": pair.new.target}
