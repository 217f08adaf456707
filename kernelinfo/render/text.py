"""The default report: one row per kernel, next steps and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from kernelinfo.kernel import Item, Kernel, Result, counted, grouped
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.report import Report
from kernelinfo.reading.target_id import target_id
from kernelinfo.render import View, groups, paint
from kernelinfo.render import table as kernel_table
from kernelinfo.render.names import attributed, heading, member_path, names_of, printable

_MANY_CODE_OBJECTS = 4  # more share one table with a target column
_MANY_KERNELS = 20  # more get a summary first, and are grouped, worst first
_REPEATS = 3  # copies of code objects listed one by one


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The report as text. Problems are only counted; standard error lists them."""
    report = Report.of(items)
    if report.results:
        yield from paint.painted(_report(report, view), view)


def _report(report: Report, view: View) -> Iterator[list[paint.Span]]:
    is_long = len(report.results) > _MANY_KERNELS
    short = names_of(report.kernels, "short")
    brief = view.names == "short" or (is_long and view.may_shorten)
    names = short if brief else names_of(report.kernels, view.names)
    label = _label(report, short)
    if is_long or view.group or view.is_sorted or len(report.code_objects) > _MANY_CODE_OBJECTS:
        rows, shown = _rows(report, is_long, view)
        yield from _above(report, label, view)
        several = len({kernel_table.target_of(kernel) for kernel in report.kernels}) > 1
        targets = [*groups.targets_of(rows, report.results, view)] if several else []
        yield from kernel_table.table(rows, names, short, view, targets)
        if count := sum(len(row) - 1 for row in rows if kernel_table.is_folded(row)):
            text = f" × N = N kernels with equal numbers share a row; {grouped(count)} folded"
            yield from paint.fitted([(text, "dim")], view, 1)
    else:
        shown = kernel_table.shown_first(report.results, kernel_table.severity, view)
        yield from _by_code_object(report, shown, names, short, view)
    yield from paint.hidden(len(report.results) - len(shown))
    if not view.quiet:
        longest = 0 if brief else max(paint.cells(names[result.kernel.symbol]) for result in shown)
        yield from _below(report, shown, label, view, longest)


def _above(report: Report, label: kernel_table.Label, view: View) -> Iterator[list[paint.Span]]:
    """Lines above a table of all kernels: headings, or a summary of many kernels."""
    if len(report.code_objects) == 1:
        yield from _heading(report.code_objects[0], report.results, view, len(report.results))
    else:
        yield from _overview(report, view)
    yield []
    if len(report.results) > _MANY_KERNELS and not view.quiet:
        yield from groups.summary(report.results, label, view)


def _below(
    report: Report, shown: list[Result], label: kernel_table.Label, view: View, longest: int
) -> Iterator[list[paint.Span]]:
    """Lines of legend, next steps, findings and counts; `longest` is the widest name's columns."""
    for line in _also(report):
        yield from paint.fitted(line, view, 1)
    if view.fold and view.names == "full" and longest > 2 * view.width:
        text = " --names short cuts return types, namespaces and parameters"
        yield from paint.fitted([(text, "dim")], view, 1)
    for text in _legend(shown):
        yield from paint.wrap([(text, "dim")], view.width, 1 + text.startswith(" ≤") * 2)
    yield []
    if len(shown) < len(report.results):
        lines = [*kernel_table.of_all(shown, report.results, label, view)]
    else:
        lines = [*kernel_table.of_each(shown, label, view)]
    yield from [*lines, []] if lines else []
    yield from _summary(report, view)


def _rows(
    report: Report, is_long: bool, view: View
) -> tuple[list[kernel_table.TableRow], list[Result]]:
    """(rows, their results) of one table."""
    worst_first = is_long and not view.is_sorted
    if view.group or worst_first:
        return groups.grouped_rows(report.results, view, worst_first=worst_first)
    rows = kernel_table.shown_first(
        groups.folded_rows(report.results), lambda row: kernel_table.severity(row[0]), view
    )
    return rows, [result for row in rows for result in row]


def _by_code_object(
    report: Report,
    shown: list[Result],
    names: Mapping[str, str],
    short: Mapping[str, str],
    view: View,
) -> Iterator[list[paint.Span]]:
    """Lines of one table per code object, each under its heading."""
    results: dict[CodeObject, list[Result]] = {}
    for result in shown:
        results.setdefault(result.kernel.code_object, []).append(result)
    kernels = Counter(kernel.code_object for kernel in report.kernels)
    shared = set.intersection(*(set(origin.options) for origin in report.code_objects))
    for code_object, group in results.items():
        options = [
            f"{name}={value}" for name, value in code_object.options if (name, value) not in shared
        ]
        yield from _heading(code_object, group, view, kernels[code_object], " ".join(options))
        yield []
        yield from kernel_table.table([[result] for result in group], names, short, view)
        yield []


def _heading(
    code_object: CodeObject,
    results: Sequence[Result],
    view: View,
    kernels: int,
    options: str = "",
) -> Iterator[list[paint.Span]]:
    """Heading of a code object: path, target, Triton's options, compiler and number of kernels."""
    sizes = {f"wave{r.kernel.traits.demand.wave_size}" for r in results if r.kernel.traits.demand}
    about = [
        code_object.target or "unknown target",
        " and ".join(sorted(sizes)),
        printable(options),
        paint.compiler_name(code_object.compiler or ""),
        counted(kernels, "kernel"),
    ]
    target = results[0].kernel.target
    if target is not None:
        before = "" if target.name == code_object.target else f"{code_object.target}, what if on "
        about[0] = f"{before}{target.name} ({target.family})"
    where = member_path(code_object.path, code_object.member)
    return heading(where, " · ".join(filter(None, about)), view)


def _also(report: Report) -> Iterator[list[paint.Span]]:
    """Lines on copies of code objects, which are counted once."""
    exact = [repeat for repeat in report.repeats if repeat.is_exact]
    if copies := len(report.repeats) - len(exact):
        state = "states" if copies == 1 else "state"
        text = f" {counted(copies, 'code object')} {state} what the assembly does"
        yield [(f"{text}, and {'counts' if copies == 1 else 'count'} once; --all-copies", "dim")]
    for repeat in exact[:_REPEATS]:
        where, first = (member_path(copy.path, copy.member) for copy in (repeat, repeat.first))
        yield [(f" {where} is {first}, byte for byte", "dim")]
    if rest := len(exact[_REPEATS:]):
        yield [(f" … and {counted(rest, 'more code object')} counted once", "dim")]


def _overview(report: Report, view: View) -> Iterator[list[paint.Span]]:
    paths = {code_object.path for code_object in report.code_objects}
    processors = {kernel_table.target_of(kernel) for kernel in report.kernels}
    origins = (kernel.code_object for kernel in report.kernels)
    targets = {target_id(origin.target or "?", origin.features) for origin in origins}
    about = (
        processors.pop() if len(targets) == 1 else counted(len(targets), "target"),
        counted(len(report.code_objects), "code object"),
        counted(len(report.results), "kernel"),
    )
    what = printable(paths.pop()) if len(paths) == 1 else counted(len(paths), "file")
    return heading(what, " · ".join(about), view)


_SIZES = {
    "option": "block = as given",
    "config": "block = as configured",
    "required": "block = the size the kernel requires",
    "declared-max": "block = declared maximum, --workgroup-size N to change",
    "hardware-max": "block = hardware's maximum, none is declared; --workgroup-size N to change",
    "graphics-stage": "block – = a graphics stage: waves are launched one by one",
}


_ROUNDED = 8
"""AGPRs per lane. Where VGPRs and AGPRs share one file, rounding up the VGPRs allocates fewer AGPRs
than this (LLVM AMDGPUUsage, granulated VGPRs); padding allocates as many or more."""


def _legend(shown: list[Result]) -> Iterator[str]:
    occupancies = [result.occupancy for result in shown if result.occupancy]
    assumptions = dict.fromkeys(occupancy.launch.assumption for occupancy in occupancies)
    registers = "what the hardware allocates" if occupancies else "what the code uses"
    if occupancies and len(occupancies) < len(shown):
        registers += ", or what the code uses (waves/SIMD ?)"
    meanings = [f"registers = {registers}", *(_SIZES[a] for a in assumptions)]
    yield f" {'; '.join(meanings)}"
    yield from _about_agprs(shown)
    if any(
        result.occupancy and result.occupancy.percent == 100 and result.kernel.spilled_registers
        for result in shown
    ):
        yield (
            " 100 % with spills: occupancy is full, the cost is in the spills; "
            "`kernelinfo sweep` tries looser bounds"
        )
    reasons = dict.fromkeys(reason for o in occupancies for reason in o.at_most_because)
    yield from (f" ≤ {reason}" for reason in reasons)


def _about_agprs(shown: list[Result]) -> Iterator[str]:
    """What the columns of VGPRs and AGPRs count, where that would surprise."""
    if any(result.kernel.numbers.agprs and _agpr_file(result) == "unified" for result in shown):
        yield " VGPR counts AGPRs where both share one file"
    unused = [
        (result.kernel.numbers.vgprs or 0, _agpr_file(result), result.occupancy.allocated)
        for result in shown
        if result.occupancy
        and result.occupancy.allocated.agprs
        and result.kernel.numbers.agprs == 0
    ]
    none = " AGPR of kernels that use none ="
    shared = [(used, allocated) for used, file, allocated in unused if file == "unified"]
    for why, is_padding in (("rounding", False), ("padding", True)):
        of_kind = [pair for pair in shared if ((pair[1].agprs or 0) >= _ROUNDED) == is_padding]
        if of_kind:
            used, allocated = max(of_kind, key=itemgetter(0))
            share = f"{used} VGPRs take {allocated.arch_vgprs} of {allocated.vgprs}"
            yield f"{none} {why}, as profilers show it: {share}"
    if len(shared) < len(unused):
        yield f"{none} VGPR: both files are allocated alike"


def _agpr_file(result: Result) -> str | None:
    """The `agprs.file` of the kernel's target; None for an unknown target."""
    return result.kernel.target and result.kernel.target.agprs.file


def _label(report: Report, names: Mapping[str, str]) -> kernel_table.Label:
    """A function that returns a kernel's label: its short name, and what distinguishes it from
    kernels of the same name.

    The labels of all kernels with one symbol are made together, when the first of them is needed.
    """
    namesakes: dict[str, list[Kernel]] = {}
    for kernel in report.kernels:
        namesakes.setdefault(kernel.symbol, []).append(kernel)
    labels: dict[int, str] = {}

    def label(result: Result) -> str:
        kernel = result.kernel
        if id(kernel) not in labels:
            group = namesakes[kernel.symbol]
            labels.update(zip(map(id, group), attributed(group, names), strict=True))
        return labels[id(kernel)]

    return label


def _summary(report: Report, view: View) -> Iterator[list[paint.Span]]:
    """Lines with the counts of findings and kernels, and the commands that explain them."""
    findings = [finding for result in report.results for finding in result.findings]
    line: list[paint.Span] = [(" ", "")]
    for how_bad, count in kernel_table.finding_counts(findings).items():
        line += [(", " if line[1:] else "", ""), (count, kernel_table.SEVERITY_STYLES[how_bad])]
    problems = f"{counted(len(report.problems), 'problem')}: not all was read"
    kernels = counted(len(report.results), "kernel")
    code_objects = counted(len(report.code_objects), "code object")
    read = f"{kernels} in {code_objects} · {problems if report.problems else 'all read'}"
    line.append((f"{' · ' if line[1:] else ''}{read}", "bold red" if report.problems else ""))
    yield from paint.wrap(line, view.width, 1)
    rule = (
        f"`kernelinfo explain {min(findings, key=kernel_table.worst_first).rule}` or "
        if findings
        else ""
    )
    advice = f"{rule}`kernelinfo explain occupancy` says more"
    yield from paint.fitted([(f" occupancy is a ceiling, not a speed; {advice}", "dim")], view, 1)
