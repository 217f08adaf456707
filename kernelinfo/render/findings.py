"""Next steps and findings: of each kernel, or of many kernels together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from kernelinfo.kernel import Finding, Result
from kernelinfo.model import Occupancy
from kernelinfo.model.headroom import Step
from kernelinfo.render import View
from kernelinfo.render.attribution import BETWEEN
from kernelinfo.render.names import folded
from kernelinfo.render.paint import Span, cells, fitted, left
from kernelinfo.render.words import amount, change, percent, waves_per_simd
from kernelinfo.rules.remark import counted

if TYPE_CHECKING:
    from kernelinfo.rules.severity import Severity

SEVERITY_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "bold magenta", "note": ""}
"""Worst severity first. The colours are legible on dark and light terminals."""

_MESSAGES = 3  # messages of one rule in a digest
_LABEL = 28  # columns; a longer name gets its own line

Label = Callable[[Result], str]  # the text in front of a kernel's lines
Head = tuple[Span, ...]  # rule and severity

_NEXT: Head = (("next  ", "bold"),)


def counts(findings: Iterable[Finding]) -> dict[Severity, str]:
    """Severity → text (`2 errors`, `1 warning`), worst first; only severities that occur."""
    number = Counter(finding.severity for finding in findings)
    return {one: counted(number[one], one) for one in SEVERITY_STYLES if number[one]}


def worst_first(finding: Finding) -> tuple[int, str]:
    """Sort key: worst severity first, then rule."""
    return [*SEVERITY_STYLES].index(finding.severity), finding.rule


def of_each(results: Sequence[Result], label: Label, view: View) -> Iterator[list[Span]]:
    """Lines with the next step and all findings of each kernel."""
    said: dict[tuple[str, tuple[tuple[Head, str], ...]], list[Result]] = {}
    for result in results:
        said.setdefault((result.kernel.symbol, tuple(_said(result))), []).append(result)
    blocks = [(_labels(of, label), lines) for (_, lines), of in said.items()]
    short = [cells(name) for name, lines in blocks if lines and cells(name) <= _LABEL]
    width = max(short, default=0)
    for name, lines in blocks:
        if lines and cells(name) > width:
            heading = folded(name, view.width - 1, 2) if view.fold else [name]
            yield from ([(f" {line}", "")] for line in heading)
            name = ""
        for head, text in lines:
            yield from _line((f" {left(name, width)}  ", ""), head, text, view)
            name = ""


def _labels(results: Sequence[Result], label: Label) -> str:
    """The part that the labels of all these kernels share, and their number."""
    first, *others = (label(result).split(BETWEEN) for result in results)
    if not others:
        return BETWEEN.join(first)
    shared = [part for part in first if all(part in other for other in others)]
    return f"{BETWEEN.join(shared)} × {len(results)}"


def of_all(
    shown: Iterable[Result], results: Iterable[Result], label: Label, view: View
) -> Iterator[list[Span]]:
    """Lines with the next steps of the shown kernels and a digest of all findings."""
    groups: dict[Head, dict[str, list[Result]]] = {_NEXT: {}}
    for result in shown:
        if text := next_step(result.occupancy, result.next):
            groups[_NEXT].setdefault(text, []).append(result)
    pairs = [(finding, result) for result in results for finding in result.findings]
    for finding, result in sorted(pairs, key=lambda pair: worst_first(pair[0])):
        messages = groups.setdefault(_head(finding), {})
        messages.setdefault(in_words(finding), []).append(result)
    for head, messages in groups.items():
        for text, of in islice(messages.items(), _MESSAGES):
            more = f" and {counted(len(of) - 1, 'more kernel')}" if len(of) > 1 else ""
            yield from _line((" ", ""), head, f"{text}: {label(of[0])}{more}", view)
        if rest := sum(map(len, islice(messages.values(), _MESSAGES, None))):
            text = f"… and {counted(rest, 'more kernel')}; --top 0 tells of each"
            yield from _line((" ", ""), head, text, view)


def hidden_kernels(count: int) -> Iterator[list[Span]]:
    """A line with the number of hidden kernels; no line if all are shown."""
    if count:
        yield [(f" … {counted(count, 'more kernel')}; --top 0 shows all", "dim")]


def next_step(occupancy: Occupancy | None, steps: tuple[Step, ...]) -> str:
    """The next steps: `≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD, 62.5 %`; empty without a step."""
    if occupancy is None or not steps:
        return ""
    amounts = {limit.resource: limit.used for limit in occupancy.limits}
    text = " and ".join(_bound(step, amounts[step.resource]) for step in steps)
    reached = steps[0]
    text += f" → {waves_per_simd(reached.waves_per_simd)}, {percent(reached.percent)}"
    if len(steps) < len(occupancy.next):
        text += f"; frees the VGPRs that are only padding, which are {amounts['vgpr']} now"
    elif occupancy.limiters == ("lds",) and (free := occupancy.headroom.vgprs):
        text += f"; VGPRs may grow to {amounts['vgpr'] + free} at no cost"
    return text


def _bound(step: Step, used: int) -> str:
    """One step: `≤ 96 VGPRs (uses 122, −26)`. LDS and scratch omit the used amount."""
    uses = f"uses {used}, " if step.resource in ("vgpr", "sgpr") else ""
    least = f"≤ {amount(step.resource, step.at_most)}"
    return f"{least} ({uses}{change(step.resource, step.change)})"


def _said(result: Result) -> Iterator[tuple[Head, str]]:
    if text := next_step(result.occupancy, result.next):
        yield _NEXT, text
    yield from ((_head(finding), in_words(finding)) for finding in result.findings)


def _head(finding: Finding) -> Head:
    style = SEVERITY_STYLES[finding.severity]
    return (f"{finding.rule} ", ""), (f"{finding.severity:<8}", style)


def in_words(finding: Finding) -> str:
    """Message and hint of a finding, in one sentence."""
    return finding.message + (f"; {finding.hint}" if finding.hint else "")


def _line(before: Span, head: Head, text: str, view: View) -> Iterator[list[Span]]:
    indent = sum(cells(part) for part, _ in (before, *head))
    return fitted([before, *head, (text, "")], view, indent)
