"""Many kernels: grouped over their targets, worst first, and summed up for each target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor

from kernelinfo.kernel import Result, grouped
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading.target_id import target_id
from kernelinfo.render import View, paint, table
from kernelinfo.render.names import several

Group = list[Result]  # one kernel on all its targets


def grouped_rows(
    results: Iterable[Result], view: View, *, worst_first: bool
) -> tuple[list[table.TableRow], list[Result]]:
    """(rows of the first groups until `view.top` rows are reached, the results of these groups). A
    group has all results of one symbol, on any target; those with equal cells share a row."""
    by_symbol: dict[str, Group] = {}
    for result in results:
        by_symbol.setdefault(result.kernel.symbol, []).append(result)
    groups = [*by_symbol.values()]
    if worst_first:
        groups.sort(key=lambda group: min(map(table.severity, group)))
    rows: list[table.TableRow] = []
    shown: list[Result] = []
    for group in groups:
        if view.top and len(rows) >= view.top:
            break
        equal: dict[tuple[str | int | None, ...], Group] = {}
        for result in sorted(group, key=table.severity):
            equal.setdefault(table.values_of(result), []).append(result)
        rows += equal.values()
        shown += group
    return rows, shown


def folded_rows(results: Iterable[Result]) -> list[table.TableRow]:
    """Rows in the order of the results. Results with the same symbol and target share a row if
    their cells are equal."""
    equal: dict[tuple[str | int | None, ...], Group] = {}
    for result in results:
        shown = (result.kernel.symbol, _id(result), *table.values_of(result))
        equal.setdefault(shown, []).append(result)
    return [*equal.values()]


def targets_of(
    rows: Sequence[table.TableRow], results: Iterable[Result], view: View
) -> Iterator[str]:
    """The targets of each row. A target is shown with its features if `results` has the same kernel
    for the same processor with other features, in another row."""
    ids: dict[str, dict[str, set[str]]] = {row[0].kernel.symbol: {} for row in rows}
    for result in results:
        if (of_kernel := ids.get(result.kernel.symbol)) is not None:
            of_kernel.setdefault(table.target_of(result.kernel), set()).add(_id(result))
    for row in rows:
        of_kernel, row_ids = ids[row[0].kernel.symbol], {_id(result) for result in row}
        names: list[str] = []
        for processor in dict.fromkeys(table.target_of(result.kernel) for result in row):
            every = of_kernel[processor]
            names += [processor] if every <= row_ids else sorted(every & row_ids)
        yield joined(sorted(names, key=lambda name: (len(name), name)), view.width // 5)


def joined(names: Sequence[str], width: int) -> str:
    """All targets, `gfx900,906,90a`; if that is too wide, the first one and the number of
    others."""
    text = ",".join(names).replace(",gfx", ",")
    return text if len(text) <= width else several(names)


def _id(result: Result) -> str:
    code_object = result.kernel.code_object
    return target_id(code_object.target or "?", code_object.features)


_LABEL = 10
_BAR = 5
_NUMBER = 6
_CELL = _BAR + 1 + _NUMBER
_GAP = 2
_SPILLERS = 3  # kernels named
_NO_LIMIT = "cannot run"


def summary(
    results: Sequence[Result], label: table.Label, view: View
) -> Iterator[list[paint.Span]]:
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


def _columns(by_target: dict[str, list[Result]]) -> Iterator[list[paint.Span]]:
    groups = list(by_target.values())
    kernels = [len(results) for results in groups]
    yield from _row("waves/SIMD", by_target, "bold")
    waves = [Counter(map(_waves, results)) for results in groups]
    for number in sorted({key for counts in waves for key in counts}, reverse=True):
        text = "unknown" if number < 0 else str(number or "<1")
        yield from _bars(text, [counts[number] for counts in waves], kernels)
    yield [(" limited by", "bold")]
    limiters = [
        Counter(name for result in results for name in _limiters(result)) for results in groups
    ]
    for name in (*RESOURCES.values(), _NO_LIMIT):
        yield from _bars(name, [counts[name] for counts in limiters], kernels)
    spilling = [
        sum(result.kernel.spilled_registers > 0 for result in results) for results in groups
    ]
    if any(spilling):
        yield [(" spilling", "bold")]
        yield from _numbers("kernels", map(grouped, spilling))
        vgprs, scratch, sgprs = zip(
            *(map(max, zip(*map(_spilled, results), strict=True)) for results in groups),
            strict=True,
        )
        yield from _numbers("VGPRs to", map(grouped, vgprs))
        yield from _numbers("SGPRs to", map(grouped, sgprs))
        yield from _numbers("scratch to", map(paint.size, scratch))


def _waves(result: Result) -> int:
    """Whole waves per SIMD; -1 if the occupancy is unknown."""
    return -1 if result.occupancy is None else floor(result.occupancy.waves_per_simd)


def _limiters(result: Result) -> list[str]:
    if result.occupancy is None or not result.occupancy.launchable:
        return [_NO_LIMIT] * (result.occupancy is not None)
    return [RESOURCES[name] for name in result.occupancy.limiters]


def _bars(label: str, counts: list[int], kernels: list[int]) -> Iterator[list[paint.Span]]:
    """A bar and a number for each target."""
    bars = ["■" * ceil(_BAR * count / all) for count, all in zip(counts, kernels, strict=True)]
    numbers = [paint.right(grouped(count), _NUMBER) if count else "" for count in counts]
    texts = [f"{paint.left(bar, _BAR)} {text}" for bar, text in zip(bars, numbers, strict=True)]
    return _row(label, texts)


def _numbers(label: str, texts: Iterable[str]) -> Iterator[list[paint.Span]]:
    return _row(label, ["" if text == "0" else paint.right(text, _CELL) for text in texts])


def _row(label: str, texts: Iterable[str], style: str = "") -> Iterator[list[paint.Span]]:
    """A line with one cell per target; no line if all cells are blank."""
    cells = "".join(" " * _GAP + paint.left(text, _CELL) for text in texts)
    if not cells.isspace():
        yield [(f" {paint.right(label, _LABEL)}{cells}", style)]


def _spillers(
    results: Sequence[Result], label: table.Label, view: View
) -> Iterator[list[paint.Span]]:
    """Lines with the kernels that spill most, each once."""
    spilling = [result for result in results if result.kernel.spilled_registers]
    worst: dict[str, Result] = {}
    for result in sorted(spilling, key=_spilled, reverse=True):
        worst.setdefault(result.kernel.name, result)
    for result in [*worst.values()][:_SPILLERS]:
        text = f"{_amounts(result)}: {label(result)}"
        yield from paint.fitted([(" spills most ", "bold"), (text, "")], view, 3)
    if worst:
        yield []


def _spilled(result: Result) -> tuple[int, int, int]:
    """Sort key: VGPRs spilled, bytes of scratch per lane, SGPRs spilled."""
    numbers = result.kernel.numbers
    scratch = numbers.scratch_bytes_per_lane or 0
    return numbers.vgpr_spills or 0, scratch, numbers.sgpr_spills or 0


def _amounts(result: Result) -> str:
    vgprs, scratch, sgprs = _spilled(result)
    parts = [f"{vgprs} VGPRs" if vgprs else "", f"{sgprs} SGPRs" if sgprs else ""]
    parts.append(f"{paint.size(scratch)} of scratch" if scratch else "")
    return ", ".join(filter(None, parts))
