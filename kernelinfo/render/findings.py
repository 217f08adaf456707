"""What the next step would take and what the rules found: of each kernel, or of many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from kernelinfo.kernel import Finding, Result, Used
from kernelinfo.light_typing import TYPE_CHECKING
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.limits import Resource
from kernelinfo.render import View
from kernelinfo.render.names import folded
from kernelinfo.render.paint import Span, cells, left, wrap
from kernelinfo.render.words import amount, change, percent, plural, waves_per_simd

if TYPE_CHECKING:
    from kernelinfo.rules.severity import Severity

SEVERITY_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "bold magenta", "note": ""}
"""Worst first; legible on dark and on light."""

_MESSAGES = 3
"""That a digest tells of one rule."""
_LABEL = 28
"""Columns; a longer name stands on a line of its own."""

Label = Callable[[Result], str]
"""The name before a kernel's lines, with its style."""
Head = tuple[Span, ...]
"""Rule and severity."""

_NEXT: Head = (("next  ", "bold"),)


def of_each(results: Sequence[Result], label: Label, view: View) -> Iterator[list[Span]]:
    """Every kernel with its next step and all that was found."""
    blocks = [(label(result), list(_said(result))) for result in results]
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


def of_all(
    shown: Iterable[Result], results: Iterable[Result], label: Label, view: View
) -> Iterator[list[Span]]:
    """The next steps of those shown and the findings of all; what holds of many is listed once."""
    groups: dict[Head, dict[str, list[Result]]] = {_NEXT: {}}
    for result in shown:
        if text := _next(result):
            groups[_NEXT].setdefault(text, []).append(result)
    worst = [*SEVERITY_STYLES].index
    pairs = [(finding, result) for result in results for finding in result.findings]
    for finding, result in sorted(pairs, key=lambda p: (worst(p[0].severity), p[0].rule)):
        messages = groups.setdefault(_head(finding), {})
        messages.setdefault(_text(finding), []).append(result)
    for head, messages in groups.items():
        for text, of in islice(messages.items(), _MESSAGES):
            more = f" and {plural(len(of) - 1, 'more kernel')}" if len(of) > 1 else ""
            yield from _line((" ", ""), head, f"{text}: {label(of[0])}{more}", view)
        if rest := sum(map(len, islice(messages.values(), _MESSAGES, None))):
            text = f"… and {plural(rest, 'more kernel')}; --top 0 tells of each"
            yield from _line((" ", ""), head, text, view)


def next_step(occupancy: Occupancy, used: Used | None = None) -> str:
    """`≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD, 62.5 %`, every binding resource named."""
    asked = {limit.resource: limit.used for limit in occupancy.limits}
    mends = [
        f"≤ {amount(step.resource, step.at_most)} "
        f"({_asks(step.resource, asked[step.resource], used)}"
        f"{change(step.resource, step.change)})"
        for step in occupancy.next
    ]
    reached = occupancy.next[0]
    text = " and ".join(mends)
    text += f" → {waves_per_simd(reached.waves_per_simd)}, {percent(reached.percent)}"
    if occupancy.limiters == ("lds",) and (free := occupancy.headroom.vgprs):
        text += f"; free until then: {asked['vgpr'] + free} VGPRs"
    return text


def _asks(resource: Resource, asked: int, used: Used | None) -> str:
    """Registers asked for are not to be seen in the table, which shows what is allocated."""
    if resource not in ("vgpr", "sgpr"):
        return ""
    padded = used is not None and asked > ((used.vgprs if resource == "vgpr" else used.sgprs) or 0)
    return f"{'allocates' if padded else 'uses'} {asked}, "


def _said(result: Result) -> Iterator[tuple[Head, str]]:
    if text := _next(result):
        yield _NEXT, text
    if result.occupancy is not None:
        yield from ((_head(finding), _text(finding)) for finding in result.findings)


def _next(result: Result) -> str:
    occupancy = result.occupancy
    return next_step(occupancy, result.kernel.used) if occupancy and occupancy.next else ""


def _head(finding: Finding) -> Head:
    style = SEVERITY_STYLES[finding.severity]
    return (f"{finding.rule} ", ""), (f"{finding.severity:<8}", style)


def _text(finding: Finding) -> str:
    return finding.message + (f"; {finding.hint}" if finding.hint else "")


def _line(before: Span, head: Head, text: str, view: View) -> Iterator[list[Span]]:
    """On a terminal broken where it is too long; elsewhere whole, for grep."""
    line = [before, *head, (text, "")]
    indent = sum(cells(part) for part, _ in line[:-1])
    yield from wrap(line, view.width, indent) if view.fold else [line]
