"""The outcome as text: failures first, each with its location; no passing kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from typing import TypeVar

from kernelinfo.compare.changes import Pair
from kernelinfo.gate.outcome import Outcome
from kernelinfo.render import View
from kernelinfo.render.check.claims import TOOLCHAIN, Claim, claims, compiler_first, fold, headline
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, fitted, painted
from kernelinfo.render.table import SEVERITY_STYLES

_T = TypeVar("_T")
_WORST = "; worst: "
"""Before each kernel in the message on another compiler."""
_OF_THE_GATE = ("KI206", "KI5")  # only notes of these rules are shown


def render(outcome: Outcome, view: View) -> Iterator[str]:
    """Lines of failures, warnings and notes of the gate, then suppressed ones, then the verdict."""
    for line in () if view.quiet else _lines(outcome, view):
        yield from painted(fitted(line, view, 2), view)
    style = "green" if outcome.answered and not outcome.failed else "bold red"
    headline_text = f"kernelinfo check {headline(outcome)} · fails on {outcome.fail_on} (--fail-on)"
    yield from painted(fitted([(headline_text, style)], view, 2), view)


def verdict(outcome: Outcome, view: View) -> Iterator[str]:
    """The findings that fail and the outcome, a line each: for standard error."""
    counted = [claim for claim in claims(outcome, view) if claim.counts]
    failing = [claim for claim in counted if claim.fails or claim.finding.rule == TOOLCHAIN]
    failing = sorted(fold(failing, outcome, view), key=compiler_first)
    for line in _first(failing, _claim, "more that fail", view):
        yield "".join(text for text, _ in line)
    yield f"kernelinfo check {headline(outcome)} · fails on {outcome.fail_on} (--fail-on)"


def _lines(outcome: Outcome, view: View) -> Iterator[list[Span]]:
    all_claims = list(claims(outcome, view))
    counted = sorted(fold(filter(_is_shown, all_claims), outcome, view), key=compiler_first)
    for _, of_rule in groupby(counted, compiler_first):
        same = list(of_rule)
        rest = f"more {same[0].finding.rule} of severity {same[0].finding.severity}"
        yield from _first(same, _claim, rest, view)
    excused = [claim for claim in all_claims if claim.suppressed]
    yield from _first(excused, _excused, "more suppressed", view)
    if accepted := Counter(finding.rule for finding in outcome.accepted):
        counted_rules = ", ".join(f"{count} {rule}" for rule, count in sorted(accepted.items()))
        text = f"accepted by {printable(str(outcome.baseline))}: {counted_rules}"
        yield [(f"{text}; --strict lists and judges them", "dim")]
    yield from _first(outcome.renamed, _renamed, "more renamed", view)


def _is_shown(claim: Claim) -> bool:
    """True for a finding that counts, if it is more than a note, fails or is of the gate."""
    is_told = claim.finding.severity != "note" or claim.finding.rule.startswith(_OF_THE_GATE)
    return claim.fails or (claim.counts and is_told)


def _claim(claim: Claim) -> Iterator[list[Span]]:
    """The line of a claim; that of another compiler is followed by the kernels that lost most."""
    finding = claim.finding
    worst: list[str] = []
    if finding.rule == TOOLCHAIN:
        first, *worst = finding.message.split(_WORST)
        claim = claim._replace(finding=finding._replace(message=first))
    what = [(f"{finding.severity} ", SEVERITY_STYLES[finding.severity]), (f"{finding.rule} ", "")]
    yield [*_where(claim), *what, (claim.sentence, "")]
    yield from ([(f"  {_WORST.lstrip('; ')}{printable(kernel)}", "")] for kernel in worst)


def _excused(claim: Claim) -> Iterator[list[Span]]:
    text = f"suppressed {claim.finding.rule} {claim.sentence} · {claim.excuse}"
    yield [*_where(claim), (text, "dim")]


def _where(claim: Claim) -> list[Span]:
    """The location in the style of compilers, so that editors can follow it."""
    return [(f"{claim.where}: ", "bold")] if claim.location else []


def _renamed(pair: Pair) -> Iterator[list[Span]]:
    names = f"{printable(pair.old.name)} → {printable(pair.new.name)}"
    yield [(f"renamed {names} ({printable(pair.new.target)})", "dim")]


def _first(
    items: Sequence[_T], lines: Callable[[_T], Iterator[list[Span]]], what: str, view: View
) -> Iterator[list[Span]]:
    """Lines of the first items, and the number of others."""
    shown = items[: view.top or None]
    yield from chain.from_iterable(map(lines, shown))
    if hidden := len(items) - len(shown):
        yield [(f"… {hidden} {what}; --top 0 shows all", "dim")]
