"""Changes of a baseline update as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.compare.changes import Pair
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.config.file import FilePath
from kernelinfo.config.measures import MEASURES
from kernelinfo.gate.pinning import Update
from kernelinfo.render import View
from kernelinfo.render.names import printable
from kernelinfo.rules.remark import counted


def render_update(update: Update, baseline: FilePath, view: View) -> Iterator[str]:
    """Lines of new, changed (old → new) and dropped kernels, then their counts."""
    lists = {
        "new": [(kernel, _numbers(kernel)) for kernel in update.new],
        "changed": [(pair.new, _changes(pair)) for pair in update.changed],
        "dropped": [(kernel, "") for kernel in update.dropped],
    }
    for word, kernels in () if view.quiet else lists.items():
        yield from _listed(word, kernels, view)
    summary = ", ".join(f"{len(kernels)} {word}" for word, kernels in lists.items())
    pinned = counted(len(update.pinned.kernels), "kernel")
    yield f"{printable(str(baseline))}: {pinned} pinned, {summary}\n"


def _listed(word: str, kernels: Sequence[tuple[KernelSummary, str]], view: View) -> Iterator[str]:
    for kernel, text in kernels[: view.top or None]:
        change = f": {text}" if text else ""
        yield f"{word} {printable(kernel.name)} ({kernel.target}){change}\n"
    if view.top and (hidden := len(kernels) - view.top) > 0:
        yield f"… {hidden} more {word}; --top 0 shows all\n"


def _numbers(kernel: KernelSummary) -> str:
    values = ((getattr(kernel, measure.field), measure.noun) for measure in MEASURES)
    return ", ".join(f"{value:g} {noun}" for value, noun in values if value)


def _changes(pair: Pair) -> str:
    changes = [
        f"{_known(old)} → {_known(new)} {measure.noun}"
        for measure in MEASURES
        if (old := getattr(pair.old, measure.field)) != (new := getattr(pair.new, measure.field))
    ]
    if pair.old.name != pair.new.name:
        changes.append(f"was {printable(pair.old.name)}")
    if pair.old.code_object != pair.new.code_object:
        changes.append(f"was in {printable(pair.old.code_object)}")
    return ", ".join(changes)


def _known(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
