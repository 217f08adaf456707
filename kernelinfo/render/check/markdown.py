"""Markdown of failing kernels, for pull requests and summaries of GitHub jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kernelinfo.compare import Comparison
from kernelinfo.gate.outcome import Outcome
from kernelinfo.kernel import Result, counted
from kernelinfo.render import View
from kernelinfo.render.check.claims import Claim, claims, headline, problem_text
from kernelinfo.render.diff.rows import AFFECTED, roll_up, rows
from kernelinfo.render.diff.text import COLUMNS, rows_in_markdown
from kernelinfo.render.paint import number
from kernelinfo.render.tables import code, folded, kernel_table, plain

_FAILING = ("kernel", "target", "waves/SIMD", "finding", "at")
_EXCUSED = ("kernel", "target", "finding")


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """The verdict, the failing kernels, then notes and problems."""
    yield f"**kernelinfo {plain(headline(outcome))}**\n"
    all_claims = list(claims(outcome, view))
    failing = groupby((c for c in all_claims if c.fails), lambda claim: claim.result)
    fails = [_row(result, list(group)) for result, group in failing if result is not None]
    yield from kernel_table(_FAILING, fails)
    if outcome.comparison is not None:
        yield from _moved(outcome.comparison, view)
    notes = [
        f"{c.finding.rule} {c.finding.severity}: {code(c.subject)}: {plain(c.text)}"
        for c in all_claims
        if c.result is None
    ]
    yield from _list("About the gate itself:", notes)
    problems = [f"{code(p.path)}: {plain(problem_text(p))}" for p in outcome.problems]
    yield from _list("Not covered:", [plain(remark) for remark in outcome.remarks])
    renamed = [
        (code(pair.old.name), code(pair.new.name), code(pair.new.target))
        for pair in outcome.renamed
    ]
    yield from folded(f"{len(renamed)} renamed", ("was", "is", "target"), renamed)
    yield from _list("Could not be answered:", problems)
    excused = [(*_cells(claim), plain(claim.excuse)) for claim in all_claims if claim.suppressed]
    yield from folded(f"{len(excused)} suppressed", (*_EXCUSED, "reason"), excused)
    accepted = [_cells(claim) for claim in all_claims if claim.accepted]
    yield from folded(f"{len(accepted)} accepted by the baseline", _EXCUSED, accepted)


def _moved(comparison: Comparison, view: View) -> Iterator[str]:
    """Changes since the baseline in one line, with a folded table of affected kernels."""
    changes = rows(comparison)
    affected = rows_in_markdown(changes, AFFECTED, view)
    moved = sum(row.status in AFFECTED for row in changes)
    yield f"\nSince the baseline: {plain(roll_up(comparison, changes))}\n"
    yield from folded(f"{counted(moved, 'kernel')} affected", COLUMNS, affected)


def _row(result: Result, failing: Sequence[Claim]) -> tuple[str, ...]:
    cells_of = [*map(_cells, failing)]
    name, target, _ = cells_of[0]
    waves = number(result.occupancy.waves_per_simd) if result.occupancy else "?"
    texts = "<br>".join(text for _, _, text in cells_of)
    return name, target, waves, texts, code(failing[0].where)


def _cells(claim: Claim) -> tuple[str, str, str]:
    """The cells of a claim: kernel, target and finding."""
    finding = f"{claim.finding.rule} {claim.finding.severity}: {plain(claim.text)}"
    return code(claim.subject) + plain(claim.apart), code(claim.target or ""), finding


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n{title}\n\n"
        yield from (f"* {line}\n" for line in lines)
