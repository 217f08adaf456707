"""The outcome in one line."""

from __future__ import annotations

from collections import Counter

from kernelinfo.gate.config.keys import SEVERITIES
from kernelinfo.gate.outcome import Outcome
from kernelinfo.render.names import printable
from kernelinfo.render.words import plural


def headline(outcome: Outcome) -> str:
    """`failed: 2 errors, 1 warning · 40 kernels`: the answer, then what it rests on."""
    answer = "failed" if outcome.failed else "passed"
    if not outcome.answered:
        answer = "cannot answer" if not outcome.failed else "failed, and cannot answer for all"
    counts = Counter(finding.severity for finding in outcome.findings)
    counted = [plural(counts[name], name) for name in reversed(SEVERITIES) if counts[name]]
    if outcome.problems:
        counted.insert(0, plural(len(outcome.problems), "problem"))
    excused = sum(len(judged.suppressed) for judged in outcome.judged)
    parts = [", ".join(counted) or "nothing found", plural(len(outcome.judged), "kernel")]
    if excused:
        parts.append(f"{excused} suppressed")
    if outcome.passed_over:
        parts.append(f"{plural(outcome.passed_over, 'kernel')} of other targets passed over")
    if outcome.part:
        parts.append(f"only of {printable(outcome.part)}")
    return f"{answer}: {' · '.join(parts)}"
