"""The table of the report, one row per kernel, and the next steps and findings below it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kernelinfo.kernel import Finding, Kernel, Result, counted
from kernelinfo.model import Occupancy, Step
from kernelinfo.model.limits import RESOURCES
from kernelinfo.render import View, paint
from kernelinfo.render.names import BETWEEN, told_apart

if TYPE_CHECKING:
    from kernelinfo.kernel import Severity

_T = TypeVar("_T")

_BAR = 8
_BAR_OF_A_CELL = " [■·]+$"
_HEADING = ("block", "VGPR", "AGPR", "SGPR", "LDS", "scratch", "waves/SIMD", "occ", "limited by")
_SHOWN = (
    *("kernel", "target", "block", "vgpr", "agpr", "sgpr", "lds", "scratch", "waves", "occ"),
    "limiters",
)
_OFTEN_ZERO = ("AGPR", "LDS", "scratch")
_BAR_STYLES = {"■": "bold", "·": "dim"}
_SLOTS = RESOURCES["slots"]
_NAME = "kernel"
_TARGET = "target"

CellColumns = dict[str, list[str]]  # heading → cells


TableRow = Sequence[Result]
"""One result, or several whose cells are equal."""


def is_folded(row: TableRow) -> bool:
    """True if the row stands for several results of one target."""
    origins = (result.kernel.code_object for result in row)
    return len(row) > len({(origin.target, origin.features) for origin in origins})


def named(
    rows: Sequence[TableRow], names: Mapping[str, str], *, with_target: bool
) -> Iterator[str]:
    """The name of each row: `gemm · libfoo.so × 6`. `names` maps symbols to names."""
    of_rows = [[result.kernel for result in row] for row in rows]
    called = [names[row[0].kernel.symbol] for row in rows]
    texts = told_apart(of_rows, called, targets=not with_target)
    for row, text in zip(rows, texts, strict=True):
        yield f"{text} × {len(row)}" if is_folded(row) else text


def table(
    rows: Sequence[TableRow],
    names: Mapping[str, str],
    short: Mapping[str, str],
    view: View,
    targets: Sequence[str] = (),
) -> Iterator[list[paint.Span]]:
    """Lines of the heading and the rows. `names` and `short` map symbols to names; `targets` are
    the cells of the column of targets; without them the table has no such column.

    A terminal shows the name first, once for all rows of a kernel, or above the row if it does not
    fit. Names are short where whole ones do not fit and the user chose none. A narrow terminal
    omits columns that are 0 for every kernel, and then the bars. A pipe or file gets the whole name
    last, so that all other columns are aligned.
    """
    results, with_target = [row[0] for row in rows], bool(targets)
    called = [*named(rows, names, with_target=with_target)]
    columns = _columns(results, targets, view)
    if view.fold:
        taken = [*map(paint.cells, called)]
        room = _room(_fitted(columns, taken, view.width), view.width)
        if view.may_shorten and max(taken) > room:
            called = [*named(rows, short, with_target=with_target)]
        yield from _names_first(called, columns, results, view)
        return
    heading, *lines = lines_of(columns)
    yield [(f" {heading}  {_NAME}", "bold")]
    for name, line, result in zip(called, lines, results, strict=True):
        yield [*_painted(f" {line}", result, view), (f"  {name}", _style(result))]


def _names_first(
    called: Sequence[str], columns: CellColumns, results: Sequence[Result], view: View
) -> Iterator[list[paint.Span]]:
    columns = _fitted(columns, [*map(paint.cells, (_NAME, *called))], view.width)
    once = [_NAME, *called]
    if _TARGET in columns:
        once = [name if name != before else "" for before, name in pairwise(("", *once))]
    rows = zip(once, *([name, *texts] for name, texts in columns.items()), strict=True)
    lines = [(*row[:-1], f" {row[-1]}") for row in rows]
    for index, line, indent in paint.laid_out(lines, f"k{_kinds(columns)}", view, " "):
        spans = _painted(line, results[index - 1], view) if index else [(line.rstrip(), "bold")]
        yield from paint.fitted(spans, view, indent)


def _painted(line: str, result: Result, view: View) -> list[paint.Span]:
    """A row in spans: on a terminal the bar and the limiters have their own style."""
    occupancy = result.occupancy
    if not (view.color and occupancy and occupancy.launchable):
        return [(line, _style(result))]
    before, limited_by, behind = line.rpartition(paint.limiters(occupancy))
    parts = [part for part in re.split(r"(■+|·+)", before) if part]
    spans: list[paint.Span] = [(part, _BAR_STYLES.get(part[0], "")) for part in parts]
    return [*spans, (limited_by, "" if limited_by == _SLOTS else "magenta"), (behind, "")]


def _style(result: Result) -> str:
    return "" if result.occupancy and result.occupancy.launchable else "red"


def _fitted(columns: CellColumns, names: list[int], width: int) -> CellColumns:
    """The columns; `names` holds the widths of the names, in columns of the terminal. Columns of
    zeros and the bars are left out if most names fit only without them, or if not even the heading
    of the names fits; `occ` too if that is not enough for the heading."""
    fewer = dict(columns)
    for heading in _OFTEN_ZERO:
        if _room(fewer, width) < max(names) and all(cell == "0" for cell in fewer[heading]):
            del fewer[heading]
    if _room(fewer, width) < max(names):
        fewer = {
            heading.removesuffix("/SIMD"): [re.sub(_BAR_OF_A_CELL, "", cell) for cell in column]
            for heading, column in fewer.items()
        }
    if _room(columns, width) < paint.cells(_NAME):
        if _room(fewer, width) < paint.cells(_NAME):
            del fewer["occ"]  # the waves say the same
        return fewer
    room, before = _room(fewer, width), _room(columns, width)
    fitting = sum(name <= room for name in names)
    gained = fitting - sum(name <= before for name in names)
    return fewer if gained and 2 * fitting > len(names) else columns


def _room(columns: CellColumns, width: int) -> int:
    """Columns left for names."""
    return width - paint.cells(lines_of(columns)[0]) - 2


def lines_of(columns: CellColumns) -> list[str]:
    """The heading and the rows as text. Targets and limiters are aligned left, all else right."""
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    return paint.aligned([(*row[:-1], f" {row[-1]}") for row in rows], _kinds(columns), " ")


def _kinds(columns: CellColumns) -> str:
    return ("t" if _TARGET in columns else "n") + "n" * (len(columns) - 2) + "t"


def _columns(results: Sequence[Result], targets: Sequence[str], view: View) -> CellColumns:
    """The columns of the table. A column that the user sorts by is added if no other column shows
    its values."""
    further = [column for column in view.also if column.name not in _SHOWN]
    columns: CellColumns = {_TARGET: [*targets]} if targets else {}
    values = zip(*map(values_of, results), strict=True)
    for heading, amounts in zip(_HEADING, values, strict=True):
        columns[heading] = paint.column_cells(heading, amounts)
    limiters = columns.pop(_HEADING[-1])
    for column in further:
        columns[column.name] = paint.column_cells(
            column.name, [column.value(result) for result in results]
        )
    return {**columns, _HEADING[-1]: limiters}


def values_of(result: Result) -> tuple[str | int | None, ...]:
    """The cells of a kernel, without its name and target; LDS and scratch in bytes."""
    kernel, occupancy = result.kernel, result.occupancy
    used = kernel.numbers
    if occupancy is None:
        registers = map(paint.known, (used.vgprs, used.agprs, used.sgprs))
        sizes = used.lds_bytes, used.scratch_bytes_per_lane
        return ("?", *registers, *sizes, "?", "?", "unknown target")
    launch, allocated = occupancy.launch, occupancy.allocated
    full = round(occupancy.percent * _BAR / 100)
    at_most = paint.bound(occupancy.exact or not occupancy.launchable)
    return (
        paint.block(launch),
        paint.known(allocated.vgprs),
        paint.known(allocated.agprs),
        paint.known(allocated.sgprs),
        None if used.lds_bytes is None else used.lds_bytes + launch.dynamic_lds_bytes,
        used.scratch_bytes_per_lane,
        f"{at_most}{paint.number(occupancy.waves_per_simd)} {'■' * full:·<{_BAR}}",
        f"{at_most}{occupancy.percent:.1f}%",
        paint.limiters(occupancy),
    )


def target_of(kernel: Kernel) -> str:
    """The target that the kernel was compiled for; `gfx90a as gfx942` with `--as`."""
    compiled_for, target = kernel.code_object.target or "?", kernel.target
    return (
        compiled_for
        if target is None or target.name == compiled_for
        else f"{compiled_for} as {target.name}"
    )


def shown_first(rows: Sequence[_T], severity: Callable[[_T], Any], view: View) -> list[_T]:
    """The results or rows, or `view.top` of them: the worst, unless the user sorts them."""
    if not view.top or len(rows) <= view.top:
        return [*rows]
    return [*(rows if view.is_sorted else sorted(rows, key=severity))[: view.top]]


def severity(result: Result) -> tuple[float, int]:
    """Sort key, worst first: unknown occupancy, then few waves, then many findings."""
    if result.occupancy is None:
        return -1, 0
    return result.occupancy.percent, -len(result.findings)


SEVERITY_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "bold magenta", "note": ""}
"""Worst severity first. The colours are legible on dark and light terminals."""

_MESSAGES = 3  # messages of one rule in a digest
_LABEL = 28  # columns; a longer name gets its own line

Label = Callable[[Result], str]  # the text in front of a kernel's lines
Head = tuple[paint.Span, ...]  # rule and severity
SaidLine = tuple[Head, str]  # the text behind the head

_NEXT: Head = (("next  ", "bold"),)


def finding_counts(findings: Iterable[Finding]) -> dict[Severity, str]:
    """Severity → text (`2 errors`, `1 warning`), worst first; only severities that occur."""
    number = Counter(finding.severity for finding in findings)
    return {level: counted(number[level], level) for level in SEVERITY_STYLES if number[level]}


def worst_first(finding: Finding) -> tuple[int, str]:
    """Sort key: worst severity first, then rule."""
    return [*SEVERITY_STYLES].index(finding.severity), finding.rule


def of_each(results: Sequence[Result], label: Label, view: View) -> Iterator[list[paint.Span]]:
    """Lines with the next step and the findings of each kernel, then the findings that several
    kernels share, each once with their names."""
    said: dict[tuple[str, tuple[SaidLine, ...]], list[Result]] = {}
    for result in results:
        said.setdefault((result.kernel.symbol, tuple(_said(result))), []).append(result)
    blocks = [(_labels(group, label), lines) for (_, lines), group in said.items()]
    owners: dict[SaidLine, list[str]] = {}
    for name, lines in blocks:
        for line in lines:
            owners.setdefault(line, []).append(name)
    shared = {line: names for line, names in owners.items() if names[1:] and line[0] != _NEXT}
    alone = [(name, [line for line in lines if line not in shared]) for name, lines in blocks]
    yield from _of_kernels(alone, view)
    for (head, text), names in sorted(shared.items(), key=_worst_line_first):
        yield from _line((" ", ""), head, f"{text}: {', '.join(names)}", view)


def _worst_line_first(said: tuple[SaidLine, list[str]]) -> tuple[int, str]:
    """Sort key: worst severity first, then rule."""
    (((rule, _), (severity, _)), _), _ = said
    return [*SEVERITY_STYLES].index(cast("Severity", severity.rstrip())), rule


def _of_kernels(
    blocks: Sequence[tuple[str, Sequence[SaidLine]]], view: View
) -> Iterator[list[paint.Span]]:
    """Lines of kernels, each after the label of its kernel, or below the label if that is long."""
    widest = min(_LABEL, view.width // 3) if view.fold else _LABEL
    width = max(
        (paint.cells(name) for name, lines in blocks if lines and paint.cells(name) <= widest),
        default=0,
    )
    for name, lines in blocks:
        if lines and paint.cells(name) > width:
            heading = paint.folded(name, view.width - 1, 2) if view.fold else [name]
            yield from ([(f" {line}", "")] for line in heading)
            name = ""
        stands_above = view.fold and lines and not name
        for head, text in lines:
            label = f" {paint.left(name, 2 if stands_above else width)}  "
            yield from _line((label, ""), head, text, view)
            name = ""


def _labels(results: Sequence[Result], label: Label) -> str:
    """The part that the labels of all these kernels have in common, and the number of kernels."""
    first, *rest = (label(result).split(BETWEEN) for result in results)
    if not rest:
        return BETWEEN.join(first)
    shared = [part for part in first if all(part in other for other in rest)]
    return f"{BETWEEN.join(shared)} × {len(results)}"


def of_all(
    shown: Iterable[Result], results: Iterable[Result], label: Label, view: View
) -> Iterator[list[paint.Span]]:
    """Lines with the next steps of the shown kernels and a digest of all findings."""
    groups: dict[Head, dict[str, list[Result]]] = {_NEXT: {}}
    said: dict[str, str] = {}  # a message → with the hint of its first kernel
    for result in shown:
        if text := next_step(result.occupancy, result.next):
            groups[_NEXT].setdefault(text, []).append(result)
    pairs = [(finding, result) for result in results for finding in result.findings]
    for finding, result in sorted(pairs, key=lambda pair: worst_first(pair[0])):
        messages = groups.setdefault(_head(finding), {})
        messages.setdefault(finding.message, []).append(result)
        said.setdefault(finding.message, in_words(finding))
    for head, messages in groups.items():
        for text, group in islice(messages.items(), _MESSAGES):
            also = f" and {counted(len(group) - 1, 'more kernel')}" if len(group) > 1 else ""
            words = said.get(text, text)
            yield from _line((" ", ""), head, f"{words}: {label(group[0])}{also}", view)
        if rest := sum(map(len, islice(messages.values(), _MESSAGES, None))):
            text = f"… and {counted(rest, 'more kernel')}; --top 0 tells of each"
            yield from _line((" ", ""), head, text, view)


def next_step(occupancy: Occupancy | None, steps: tuple[Step, ...]) -> str:
    """The next steps: `≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD, 62.5 %`; empty without a step."""
    if occupancy is None or not steps:
        return ""
    text = " and ".join(map(_bound, steps))
    reached = steps[0]
    text += f" → {paint.waves_per_simd(reached.waves_per_simd)}, {paint.percent(reached.percent)}"
    if occupancy.limiters == ("lds",):
        most, used = occupancy.most_vgprs, occupancy.placement.used["vgpr"]
        if most is not None and used is not None and most > used:
            text += f"; VGPRs may grow to {most} at no cost"
    return text


def _bound(step: Step) -> str:
    """One step: `≤ 96 VGPRs (uses 122, −26)`. LDS and scratch omit the used amount."""
    used = step.at_most - step.change
    uses = f"uses {used}, " if step.resource in ("vgpr", "sgpr") else ""
    least = f"≤ {paint.amount(step.resource, step.at_most)}"
    return f"{least} ({uses}{paint.change(step.resource, step.change)})"


def _said(result: Result) -> Iterator[SaidLine]:
    if text := next_step(result.occupancy, result.next):
        yield _NEXT, text
    yield from ((_head(finding), in_words(finding)) for finding in result.findings)


def _head(finding: Finding) -> Head:
    style = SEVERITY_STYLES[finding.severity]
    return (f"{finding.rule} ", ""), (f"{finding.severity:<8}", style)


def in_words(finding: Finding) -> str:
    """Message and hint of a finding, in one sentence."""
    return finding.message + (f"; {finding.hint}" if finding.hint else "")


def _line(before: paint.Span, head: Head, text: str, view: View) -> Iterator[list[paint.Span]]:
    indent = min(sum(paint.cells(part) for part, _ in (before, *head)), view.width * 3 // 8)
    return paint.fitted([before, *head, (text, "")], view, indent)
