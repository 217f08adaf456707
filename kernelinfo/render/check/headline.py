"""The verdict in one line."""

from __future__ import annotations

from collections import Counter

from kernelinfo.gate.verdict import SEVERITIES, Verdict
from kernelinfo.render.words import plural


def headline(verdict: Verdict) -> str:
    """`failed: 2 errors, 1 warning · 40 kernels`: the answer, then what it rests on."""
    answer = "failed" if verdict.failed else "passed"
    if not verdict.answered:
        answer = "cannot answer" if not verdict.failed else "failed, and cannot answer for all"
    counts = Counter(finding.severity for finding in verdict.findings)
    told = [plural(counts[name], name) for name in reversed(SEVERITIES) if counts[name]]
    if verdict.problems:
        told.insert(0, plural(len(verdict.problems), "problem"))
    excused = sum(len(judged.suppressed) for judged in verdict.judged)
    parts = [", ".join(told) or "nothing found", plural(len(verdict.judged), "kernel")]
    if excused:
        parts.append(f"{excused} suppressed")
    if verdict.passed_over:
        parts.append(f"{plural(verdict.passed_over, 'kernel')} of other targets passed over")
    return f"{answer}: {' · '.join(parts)}"
