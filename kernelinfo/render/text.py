"""The default report: one row a kernel, what the next step would take, what the rules found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from kernelinfo.kernel import CodeObject, Item, Kernel, Report, Result, Used
from kernelinfo.limits import Resource
from kernelinfo.occupancy import Occupancy
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable
from kernelinfo.render.paint import Span, cells, left, paint, right
from kernelinfo.render.words import (
    RESOURCES,
    amount,
    change,
    compiler,
    number,
    percent,
    plural,
    size,
    waves_per_simd,
)

_BAR = 8
_HEADING = ("block", "VGPR", "AGPR", "SGPR", "LDS", "scratch", "waves/SIMD", "occ", "limited by")
SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_MANY_CODE_OBJECTS = 4
"""More are shown in one table with a column for the target."""
_MANY_KERNELS = 20
"""More are sorted, the worst first."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The report as text; problems are counted here and told on standard error."""
    report = Report.of(items)
    if not report.results:
        return
    shown = _shown(report.results, view)
    for line in _report(report, shown, view):
        yield paint(line, view.color) + "\n"


def _shown(results: Sequence[Result], view: View) -> list[Result]:
    ordered = list(results)
    if len(ordered) > _MANY_KERNELS:
        ordered.sort(key=_worst_first)
    if view.group:
        ordered.sort(key=lambda result: result.kernel.name)
    return ordered[: view.top] if view.top else ordered


def _worst_first(result: Result) -> tuple[float, int]:
    if result.occupancy is None:
        return -1, 0
    return result.occupancy.percent, -len(result.findings)


def _report(report: Report, shown: list[Result], view: View) -> Iterator[list[Span]]:
    code_objects = report.code_objects
    if view.group or len(code_objects) > _MANY_CODE_OBJECTS:
        yield _overview(report)
        yield []
        yield from _table(shown, view, with_target=True)
    else:
        kernels = Counter(kernel.code_object for kernel in report.kernels)
        shown.sort(key=lambda result: code_objects.index(result.kernel.code_object))
        for code_object, results in groupby(shown, key=lambda r: r.kernel.code_object):
            group = list(results)
            yield _heading(code_object, group, kernels[code_object])
            yield []
            yield from _table(group, view, with_target=False)
            yield []
    if hidden := len(report.results) - len(shown):
        yield [(f" … {plural(hidden, 'more kernel')}; --top 0 shows all", "dim")]
    if view.quiet:
        return
    yield from _also(report)
    yield from ([(line, "dim")] for line in _legend(shown))
    yield []
    yield from _steps_and_findings(shown)
    yield _summary(report)


def _heading(code_object: CodeObject, results: list[Result], kernels: int) -> list[Span]:
    where = _place(code_object.path, code_object.member)
    sizes = {f"wave{r.kernel.demand.wave_size}" for r in results if r.kernel.demand}
    about = [
        code_object.target or "unknown target",
        " and ".join(sorted(sizes)),
        compiler(code_object),
        plural(kernels, "kernel"),
    ]
    target = results[0].kernel.target
    if target is not None and target.name == code_object.target:
        about[0] = f"{target.name} ({target.family})"
    elif target is not None:
        about[0] = f"{code_object.target}, what if on {target.name} ({target.family})"
    return [(where, "bold"), ("   " + " · ".join(text for text in about if text), "")]


def _also(report: Report) -> Iterator[list[Span]]:
    """Where code objects were met again that are counted once."""
    for repeat in report.repeats:
        where, first = (_place(place.path, place.member) for place in (repeat, repeat.first))
        yield [(f" {where} is {first}, byte for byte", "dim")]


def _place(path: str, member: str | None) -> str:
    return printable(f"{path} › {member}" if member else path)


def _overview(report: Report) -> list[Span]:
    paths = {code_object.path for code_object in report.code_objects}
    targets = {code_object.target for code_object in report.code_objects}
    where = printable(paths.pop()) if len(paths) == 1 else plural(len(paths), "file")
    about = (
        plural(len(targets), "target"),
        plural(len(report.code_objects), "code object"),
        plural(len(report.results), "kernel"),
    )
    return [(where, "bold"), ("   " + " · ".join(about), "")]


def _table(results: list[Result], view: View, *, with_target: bool) -> Iterator[list[Span]]:
    rows = [_row(result, with_target) for result in results]
    names = [name_of(result.kernel, view.names) for result in results]
    head = (("target",) if with_target else ()) + _HEADING
    widths = [max(cells(row[i]) for row in [head, *rows]) for i in range(len(head) - 1)]
    rest = sum(widths) + len(widths) + max(len(row[-1]) for row in [head, *rows])
    most = max([cells("kernel"), *map(cells, names)])
    room = min(most, max(view.width - rest - 2, cells("kernel")))
    yield [(" " + left("kernel", room) + " " + _cells(head, widths), "bold")]
    for name, row, result in zip(names, rows, results, strict=True):
        if cells(name) > room and view.fold:
            yield [(" " + name, "")]
            name = ""
        style = "" if result.occupancy and result.occupancy.launchable else "red"
        yield [(" " + left(name, room) + " " + _cells(row, widths), style)]


def _cells(row: Sequence[str], widths: list[int]) -> str:
    numbers = (right(text, width) for text, width in zip(row[:-1], widths, strict=True))
    return " ".join([*numbers, f" {row[-1]}"])


def _row(result: Result, with_target: bool) -> tuple[str, ...]:
    kernel, occupancy = result.kernel, result.occupancy
    target = (_target(kernel),) if with_target else ()
    used = kernel.used
    if occupancy is None:
        numbers = (used.vgprs, used.agprs, used.sgprs, used.lds_bytes, used.scratch_bytes_per_lane)
        return (*target, "?", *map(_or_unknown, numbers), "?", "?", "unknown target")
    launch, allocated = occupancy.launch, occupancy.allocated
    lds = None if used.lds_bytes is None else used.lds_bytes + launch.dynamic_lds_bytes
    bound = "≤" if occupancy.launchable and not occupancy.exact else ""
    return (
        *target,
        str(launch.workgroup_size),
        _or_unknown(allocated.vgprs),
        _or_unknown(used.agprs if allocated.agprs else allocated.agprs),
        _or_unknown(allocated.sgprs),
        "?" if lds is None else size(lds),
        "?" if used.scratch_bytes_per_lane is None else size(used.scratch_bytes_per_lane),
        f"{bound}{number(occupancy.waves_per_simd)} {_bar(occupancy)}",
        f"{bound}{occupancy.percent:.1f}%",
        " ".join(RESOURCES[name] for name in occupancy.limiters)
        if occupancy.launchable
        else "cannot launch",
    )


def _target(kernel: Kernel) -> str:
    """What it was compiled for; `gfx90a as gfx942` where that is not what is asked about."""
    own, target = kernel.code_object.target or "?", kernel.target
    return own if target is None or target.name == own else f"{own} as {target.name}"


def _or_unknown(value: int | None) -> str:
    return "?" if value is None else str(value)


def _bar(occupancy: Occupancy) -> str:
    full = round(occupancy.percent * _BAR / 100)
    return "■" * full + "·" * (_BAR - full)


_SIZES = {
    "option": "block = as given",
    "config": "block = as configured",
    "required": "block = the size the kernel requires",
    "declared-max": "block = declared maximum, --workgroup-size N to change",
    "hardware-max": "block = hardware's maximum, none is declared; --workgroup-size N to change",
}


def _legend(shown: list[Result]) -> Iterator[str]:
    known = [result.occupancy for result in shown if result.occupancy]
    assumptions = dict.fromkeys(occupancy.launch.assumption for occupancy in known)
    meanings = ["registers = what the hardware reserves", *(_SIZES[a] for a in assumptions)]
    yield f" {'; '.join(meanings)}"
    if any(result.kernel.used.agprs for result in shown):
        yield " VGPR counts AGPRs where both share one file"
    reasons = dict.fromkeys(reason for o in known for reason in o.at_most_because)
    for reason in reasons:
        yield f" ≤ {reason}"


def _steps_and_findings(shown: list[Result]) -> Iterator[list[Span]]:
    several = len({result.kernel.code_object.target for result in shown}) > 1
    blocks = [(_label(result, several), list(_lines_of(result))) for result in shown]
    width = max([0, *(cells(name) for name, lines in blocks if lines and cells(name) <= 28)])
    for name, lines in blocks:
        if not lines:
            continue
        if cells(name) > width:
            yield [(f" {name}", "")]
            name = ""
        for line in lines:
            yield [(f" {left(name, width)}  ", ""), *line]
            name = ""
    if any(lines for _, lines in blocks):
        yield []


def _label(result: Result, with_target: bool) -> str:
    name = name_of(result.kernel, "short")
    return f"{name} {result.kernel.code_object.target or ''}" if with_target else name


def _lines_of(result: Result) -> Iterator[list[Span]]:
    occupancy = result.occupancy
    if occupancy is None:
        return
    if occupancy.next:
        yield [("next  ", "bold"), (next_step(occupancy, result.kernel.used), "")]
    for finding in result.findings:
        style = SEVERITY_STYLE[finding.severity]
        yield [
            (f"{finding.rule} ", ""),
            (f"{finding.severity:<8}", style),
            (finding.message + (f"; {finding.hint}" if finding.hint else ""), ""),
        ]


def next_step(occupancy: Occupancy, used: Used | None = None) -> str:
    """`≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD, 62.5 %`, every binding resource named."""
    asked = {limit.resource: limit.used for limit in occupancy.limits}
    asks = [
        f"≤ {amount(step.resource, step.at_most)} "
        f"({_asks(step.resource, asked[step.resource], used)}"
        f"{change(step.resource, step.change)})"
        for step in occupancy.next
    ]
    reached = occupancy.next[0]
    text = " and ".join(asks)
    text += f" → {waves_per_simd(reached.waves_per_simd)}, {percent(reached.percent)}"
    if occupancy.limiters == ("lds",) and (free := occupancy.headroom.vgprs):
        text += f"; free until then: {asked['vgpr'] + free} VGPRs"
    return text


def _asks(resource: Resource, asked: int, used: Used | None) -> str:
    """Registers asked for are not to be seen in the table, which shows what is reserved."""
    if resource not in ("vgpr", "sgpr"):
        return ""
    padded = used is not None and asked > ((used.vgprs if resource == "vgpr" else used.sgprs) or 0)
    return f"{'reserves' if padded else 'uses'} {asked}, "


def _summary(report: Report) -> list[Span]:
    severities = Counter(f.severity for r in report.results for f in r.findings)
    counts = [
        (plural(severities[severity], severity), SEVERITY_STYLE[severity])
        for severity in ("error", "warning", "note")
        if severities[severity]
    ]
    line: list[Span] = [(" ", "")]
    for index, (text, style) in enumerate(counts):
        line += [(", " if index else "", ""), (text, style)]
    read = (
        f"{plural(len(report.problems), 'problem')}: not all was read"
        if report.problems
        else "all read"
    )
    kernels, code_objects = len(report.results), len(report.code_objects)
    read = f"{plural(kernels, 'kernel')} in {plural(code_objects, 'code object')} · {read}"
    line.append((f"{' · ' if counts else ''}{read}", "bold red" if report.problems else ""))
    line.append((" · occupancy is a ceiling, not a speed: `kernelinfo explain`", "dim"))
    return line
