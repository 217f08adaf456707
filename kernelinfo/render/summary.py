"""Many kernels at a glance: for each target the waves they reach, what limits them, who spills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest
from math import ceil, floor

from kernelinfo.kernel import Result
from kernelinfo.light_typing import Any
from kernelinfo.occupancy.limits import RESOURCES
from kernelinfo.render import View
from kernelinfo.render.findings import Label
from kernelinfo.render.paint import Span, left, right, wrap
from kernelinfo.render.words import grouped, size

_LABEL = 10
_BAR = 5
_NUMBER = 6
_CELL = _BAR + 1 + _NUMBER
_GAP = 2
_SPILLERS = 3
"""Kernels that are named."""
_NO_LIMIT = "cannot run"
_UNKNOWN = "unknown"


class _Counts:
    """What is counted of the kernels of one target."""

    def __init__(self) -> None:
        self.kernels = 0
        self.waves: Counter[int | None] = Counter()
        """Kernels by whole waves per SIMD; None where the occupancy is not known."""
        self.limiters: Counter[str] = Counter()
        self.spilling = 0
        self.vgprs = self.sgprs = self.scratch_bytes = 0
        """The most that one kernel spills, and the most scratch of a lane."""

    def add(self, result: Result) -> None:
        occupancy, spills = result.occupancy, result.kernel.spills
        self.kernels += 1
        self.waves[None if occupancy is None else floor(occupancy.waves_per_simd)] += 1
        if occupancy is not None:
            words = [RESOURCES[name] for name in occupancy.limiters]
            self.limiters.update(words if occupancy.launchable else [_NO_LIMIT])
        self.spilling += spills.registers > 0
        self.vgprs = max(self.vgprs, spills.vgprs or 0)
        self.sgprs = max(self.sgprs, spills.sgprs or 0)
        scratch = result.kernel.used.scratch_bytes_per_lane or 0
        self.scratch_bytes = max(self.scratch_bytes, scratch)


def summary(results: Iterable[Result], label: Label, view: View) -> Iterator[list[Span]]:
    """A column a target, as many next to each other as fit; then the kernels that spill most."""
    counts: dict[str, _Counts] = {}
    spilling = []
    for result in results:
        counts.setdefault(result.kernel.code_object.target or "?", _Counts()).add(result)
        if result.kernel.spills.registers:
            spilling.append(result)
    targets = sorted(counts, key=lambda name: (len(name), name))
    fitting = max(1, (view.width - 1 - _LABEL) // (_CELL + _GAP))
    for start in range(0, len(targets), fitting):
        yield from _columns({name: counts[name] for name in targets[start : start + fitting]})
        yield []
    yield from _spillers(spilling, label, view)


def _columns(counts: dict[str, _Counts]) -> Iterator[list[Span]]:
    of = list(counts.values())
    yield [(_row("waves/SIMD", counts), "bold")]
    waves = {number for one in of for number in one.waves if number is not None}
    for number in sorted(waves, reverse=True):
        text = str(number) if number else "<1"
        yield from _bars(text, of, lambda one, n=number: one.waves[n])  # type: ignore[misc]
    yield from _bars(_UNKNOWN, of, lambda one: one.waves[None])
    yield [(" limited by", "bold")]
    for name in (*RESOURCES.values(), _NO_LIMIT):
        yield from _bars(name, of, lambda one, n=name: one.limiters[n])  # type: ignore[misc]
    if not any(one.spilling for one in of):
        return
    yield [(" spilling", "bold")]
    yield from _numbers("kernels", of, lambda one: grouped(one.spilling))
    yield from _numbers("VGPRs to", of, lambda one: grouped(one.vgprs))
    yield from _numbers("SGPRs to", of, lambda one: grouped(one.sgprs))
    yield from _numbers("scratch to", of, lambda one: size(one.scratch_bytes))


def _bars(label: str, of: list[_Counts], number: Callable[[_Counts], int]) -> Iterator[list[Span]]:
    """A bar and a number for each target; nothing where all are 0."""
    if not any(map(number, of)):
        return
    texts = []
    for one in of:
        count = number(one)
        bar = "■" * ceil(_BAR * count / one.kernels)
        texts.append(left(bar, _BAR) + right(f" {grouped(count)}" if count else "", _NUMBER + 1))
    yield [(_row(right(label, _LABEL), texts), "")]


def _numbers(label: str, of: list[_Counts], text: Callable[[_Counts], str]) -> Iterator[list[Span]]:
    texts = [text(one) for one in of]
    if any(one != "0" for one in texts):
        shown = [right("" if one == "0" else one, _CELL) for one in texts]
        yield [(_row(right(label, _LABEL), shown), "")]


def _row(label: str, texts: Iterable[str]) -> str:
    parts = (left(text, _CELL) for text in texts)
    return f" {left(label, _LABEL)}" + "".join(" " * _GAP + part for part in parts)


def _spillers(results: list[Result], label: Label, view: View) -> Iterator[list[Span]]:
    """The kernels that spill the most, each of them once."""
    worst: dict[str, Result] = {}
    for result in nlargest(len(results), results, key=_spilled):
        worst.setdefault(result.kernel.name, result)
        if len(worst) == _SPILLERS:
            break
    for result in worst.values():
        line: list[Span] = [(" spills most ", "bold"), (f"{_amounts(result)}: {label(result)}", "")]
        yield from wrap(line, view.width, 3) if view.fold else [line]
    if worst:
        yield []


def _spilled(result: Result) -> tuple[Any, ...]:
    spills, used = result.kernel.spills, result.kernel.used
    return spills.vgprs or 0, used.scratch_bytes_per_lane or 0, spills.sgprs or 0


def _amounts(result: Result) -> str:
    vgprs, scratch, sgprs = _spilled(result)
    parts = [f"{vgprs} VGPRs" if vgprs else "", f"{sgprs} SGPRs" if sgprs else ""]
    parts.append(f"{size(scratch)} of scratch" if scratch else "")
    return ", ".join(filter(None, parts))
