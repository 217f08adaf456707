"""Changes of a baseline update as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config.keys import MEASURES
from kernelinfo.gate.pinning import Update
from kernelinfo.kernel import counted
from kernelinfo.kernel.record import INSTRUCTIONS
from kernelinfo.opening import FilePath
from kernelinfo.render import View
from kernelinfo.render.names import printable
from kernelinfo.rules import find

_LISTED = tuple(measure for measure in MEASURES if measure not in INSTRUCTIONS[1:])
"""Numbers of a new kernel; of its instructions only how many there are."""


def render_update(update: Update, baseline: FilePath, view: View) -> Iterator[str]:
    """Lines of new, changed (old → new) and dropped kernels, and of newly accepted and ended
    findings, then their counts."""
    if not view.quiet:
        changed = [pair.new for pair in update.changed]
        renames = {id(pair.old): pair for pair in update.likely_renames}
        dropped = (_successor(renames.get(id(kernel))) for kernel in update.dropped)
        yield from _listed("new", update.new, map(_numbers, update.new), view)
        yield from _listed("changed", changed, map(_changes, update.changed), view)
        yield from _listed("dropped", update.dropped, dropped, view)
        yield from _of_rules("accepted", update.accepted, view)
        yield from _of_rules("ended", update.ended, view)
    lists = {"new": update.new, "changed": update.changed, "dropped": update.dropped}
    summary = ", ".join(f"{len(kernels)} {word}" for word, kernels in lists.items())
    pinned = counted(len(update.pinned.kernels), "kernel")
    yield f"{printable(str(baseline))}: {pinned} pinned, {summary}{_acceptance(update)}\n"
    if update.is_first:
        name = printable(str(baseline))
        yield f"commit {name}; `kernelinfo check` then fails on what is new or worse\n"


def _acceptance(update: Update) -> str:
    """The accepted findings by rule: `; 14 findings accepted (12 KI101, 2 KI106), 3 of them newly`;
    empty without any."""
    rules = Counter(rule for kernel in update.pinned.kernels for rule, _ in kernel.accepted)
    if not rules:
        return ""
    by_rule = ", ".join(f"{count} {rule}" for rule, count in sorted(rules.items()))
    newly = f", {len(update.accepted)} of them new" if update.accepted else ""
    return f"; {counted(rules.total(), 'finding')} accepted ({by_rule}){newly}"


def _of_rules(
    word: str, findings: Iterable[tuple[KernelSummary, str]], view: View
) -> Iterator[str]:
    """Lines of kernels and rules, rule by rule."""
    by_rule: dict[str, list[KernelSummary]] = {}
    for kernel, number in findings:
        by_rule.setdefault(number, []).append(kernel)
    for number, kernels in sorted(by_rule.items()):
        rule = find(number)
        name = f"{number} {rule.name}" if rule else number
        yield from _listed(word, kernels, repeat(""), view, name)


def _successor(rename: Pair | None) -> str:
    """`softmax_v2(float*) is likely the same: no number differs`; empty without a rename."""
    if rename is None:
        return ""
    return f"{printable(rename.new.name)} is likely the same: {rename.why or 'no number differs'}"


def _listed(
    word: str, kernels: Sequence[KernelSummary], texts: Iterable[str], view: View, what: str = ""
) -> Iterator[str]:
    """A line with its text for each kernel, as many as `view` allows, and the number of others;
    with `what` it is this of the kernel. Texts of others are not asked for."""
    part = f"{what} of " if what else ""
    for kernel, text in zip(kernels[: view.top or None], texts, strict=False):
        change = f": {text}" if text else ""
        yield f"{word} {part}{printable(kernel.name)} ({kernel.target}){change}\n"
    if view.top and (hidden := len(kernels) - view.top) > 0:
        yield f"… {hidden} more {f'{word} {what}'.strip()}; --top 0 shows all\n"


def _numbers(kernel: KernelSummary) -> str:
    values = ((getattr(kernel.numbers, measure.field), measure.noun) for measure in _LISTED)
    return ", ".join(f"{value:g} {noun}" for value, noun in values if value)


def _changes(pair: Pair) -> str:
    before, after = pair.old.numbers, pair.new.numbers
    changes = [
        f"{_amount(old)} → {_amount(new)} {measure.noun}"
        for measure in MEASURES
        if (old := getattr(before, measure.field)) != (new := getattr(after, measure.field))
    ]
    if pair.old.name != pair.new.name:
        changes.append(f"was {printable(pair.old.name)}")
    if pair.old.code_object != pair.new.code_object:
        changes.append(f"was in {printable(pair.old.code_object)}")
    return ", ".join(changes)


def _amount(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
