"""A summary of many kernels: waves and limiters per target, and the worst spillers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor

from kernelinfo.kernel import Result, grouped
from kernelinfo.model.limits import RESOURCES
from kernelinfo.render import View
from kernelinfo.render.paint import Span, fitted, left, right, size
from kernelinfo.render.table import Label

_LABEL = 10
_BAR = 5
_NUMBER = 6
_CELL = _BAR + 1 + _NUMBER
_GAP = 2
_SPILLERS = 3  # kernels named
_NO_LIMIT = "cannot run"


def summary(results: Sequence[Result], label: Label, view: View) -> Iterator[list[Span]]:
    """Lines with one column per target, as many as fit, then the kernels that spill most."""
    by_target: dict[str, list[Result]] = {}
    for result in results:
        by_target.setdefault(result.kernel.code_object.target or "?", []).append(result)
    targets = sorted(by_target, key=lambda name: (len(name), name))
    fitting = max(1, (view.width - 1 - _LABEL) // (_CELL + _GAP))
    for start in range(0, len(targets), fitting):
        yield from _columns({name: by_target[name] for name in targets[start : start + fitting]})
        yield []
    yield from _spillers(results, label, view)


def _columns(by_target: dict[str, list[Result]]) -> Iterator[list[Span]]:
    of = list(by_target.values())
    kernels = [len(results) for results in of]
    yield from _row("waves/SIMD", by_target, "bold")
    waves = [Counter(map(_waves, results)) for results in of]
    for number in sorted({one for counts in waves for one in counts}, reverse=True):
        text = "unknown" if number < 0 else str(number or "<1")
        yield from _bars(text, [counts[number] for counts in waves], kernels)
    yield [(" limited by", "bold")]
    limiters = [Counter(name for one in results for name in _limiters(one)) for results in of]
    for name in (*RESOURCES.values(), _NO_LIMIT):
        yield from _bars(name, [counts[name] for counts in limiters], kernels)
    spilling = [sum(one.kernel.spills.registers > 0 for one in results) for results in of]
    if any(spilling):
        yield [(" spilling", "bold")]
        yield from _numbers("kernels", map(grouped, spilling))
        vgprs, scratch, sgprs = zip(
            *(map(max, zip(*map(_spilled, results), strict=True)) for results in of), strict=True
        )
        yield from _numbers("VGPRs to", map(grouped, vgprs))
        yield from _numbers("SGPRs to", map(grouped, sgprs))
        yield from _numbers("scratch to", map(size, scratch))


def _waves(result: Result) -> int:
    """Whole waves per SIMD; -1 if the occupancy is unknown."""
    return -1 if result.occupancy is None else floor(result.occupancy.waves_per_simd)


def _limiters(result: Result) -> list[str]:
    if result.occupancy is None or not result.occupancy.launchable:
        return [_NO_LIMIT] * (result.occupancy is not None)
    return [RESOURCES[name] for name in result.occupancy.limiters]


def _bars(label: str, counts: list[int], kernels: list[int]) -> Iterator[list[Span]]:
    """A bar and a number for each target."""
    bars = ["■" * ceil(_BAR * one / all) for one, all in zip(counts, kernels, strict=True)]
    numbers = [right(grouped(one), _NUMBER) if one else "" for one in counts]
    texts = [f"{left(bar, _BAR)} {text}" for bar, text in zip(bars, numbers, strict=True)]
    return _row(label, texts)


def _numbers(label: str, texts: Iterable[str]) -> Iterator[list[Span]]:
    return _row(label, ["" if text == "0" else right(text, _CELL) for text in texts])


def _row(label: str, texts: Iterable[str], style: str = "") -> Iterator[list[Span]]:
    """A line with one cell per target; no line if all cells are blank."""
    cells = "".join(" " * _GAP + left(text, _CELL) for text in texts)
    if not cells.isspace():
        yield [(f" {right(label, _LABEL)}{cells}", style)]


def _spillers(results: Sequence[Result], label: Label, view: View) -> Iterator[list[Span]]:
    """Lines with the kernels that spill most, each once."""
    spilling = [result for result in results if result.kernel.spills.registers]
    worst: dict[str, Result] = {}
    for result in sorted(spilling, key=_spilled, reverse=True):
        worst.setdefault(result.kernel.name, result)
    for result in [*worst.values()][:_SPILLERS]:
        text = f"{_amounts(result)}: {label(result)}"
        yield from fitted([(" spills most ", "bold"), (text, "")], view, 3)
    if worst:
        yield []


def _spilled(result: Result) -> tuple[int, int, int]:
    """Sort key: VGPRs spilled, bytes of scratch per lane, SGPRs spilled."""
    spills, used = result.kernel.spills, result.kernel.used
    return spills.vgprs or 0, used.scratch_bytes_per_lane or 0, spills.sgprs or 0


def _amounts(result: Result) -> str:
    vgprs, scratch, sgprs = _spilled(result)
    parts = [f"{vgprs} VGPRs" if vgprs else "", f"{sgprs} SGPRs" if sgprs else ""]
    parts.append(f"{size(scratch)} of scratch" if scratch else "")
    return ", ".join(filter(None, parts))
