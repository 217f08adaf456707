"""The outcome as one HTML page: verdict, new and suppressed findings, then the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from kernelinfo.gate.outcome import Outcome
from kernelinfo.kernel import Item
from kernelinfo.render import View, html
from kernelinfo.render.check.claims import Claim, claims, compiler_first, headline
from kernelinfo.render.diff.rows import roll_up, rows
from kernelinfo.render.names import printable
from kernelinfo.render.table import worst_first

_SHOWN = 50  # claims of a list; the table has all
_SINCE_THE_BASELINE = ("KI501", "KI502", "KI503", "KI504")
"""Rules of the baseline: worse, gone, new, better."""


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """The report's page, headed by the verdict of the gate."""
    report = outcome.report
    items: Iterator[Item] = chain(report.results, outcome.problems, report.repeats)
    return html.render(items, view, {"gate": _gate(outcome, view)})


def _gate(outcome: Outcome, view: View) -> dict[str, Any]:
    """The outcome as JSON values: verdict, and lists with title, length and the worst claims."""
    comparison = outcome.comparison
    all_claims = sorted(claims(outcome, view), key=lambda claim: worst_first(claim.finding))
    claimed = {id(claim.result) for claim in all_claims}
    results = map(id, outcome.report.results)
    indices = {result: index for index, result in enumerate(results) if result in claimed}
    counted = [claim for claim in all_claims if claim.counts]
    moved = [claim for claim in counted if claim.finding.rule in _SINCE_THE_BASELINE]
    still = [claim for claim in counted if claim.finding.rule not in _SINCE_THE_BASELINE]
    failing = [claim for claim in still if claim.fails]
    about = [claim for claim in still if claim.result is None and not claim.fails]
    excused = [claim for claim in all_claims if claim.suppressed]
    accepted = [claim for claim in all_claims if claim.accepted]

    def listed(title: str, claims: Sequence[Claim]) -> tuple[str, int, list[tuple[Any, ...]]]:
        rows = [_row(claim, indices.get(id(claim.result))) for claim in claims[:_SHOWN]]
        return title, len(claims), rows

    return {
        "headline": f"{headline(outcome)} · fails on {outcome.fail_on}",
        "passed": outcome.answered and not outcome.failed,
        "since": roll_up(comparison, rows(comparison)) if comparison else "",
        "lists": [
            listed(f"Since {printable(str(outcome.baseline))}", moved),
            listed("Fails", failing),
            listed("About the gate", sorted(about, key=compiler_first)),
            listed("Suppressed", excused),
            listed("Accepted by the baseline", accepted),
        ],
        "renamed": [
            (printable(pair.old.name), printable(pair.new.name), printable(pair.new.target))
            for pair in outcome.renamed
        ],
        "remarks": [printable(remark) for remark in outcome.remarks],
    }


def _row(claim: Claim, kernel: int | None) -> tuple[Any, ...]:
    """(severity, rule, kernel's index or None, subject, text, location, suppression)."""
    subject = claim.subject + (f" ({printable(claim.target)})" if claim.target else "")
    about = (claim.finding.severity, claim.finding.rule, kernel, subject if kernel is None else "")
    return (*about, claim.text, claim.where, claim.excuse or None)
