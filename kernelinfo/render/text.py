"""The default report: one row a kernel, what the next step would take, what the rules found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from kernelinfo.kernel import CodeObject, Item, Report, Result
from kernelinfo.render import View
from kernelinfo.render.findings import SEVERITY_STYLES, Label, of_all, of_each
from kernelinfo.render.names import names_of, printable
from kernelinfo.render.paint import Span, cells, paint, wrap
from kernelinfo.render.table import table
from kernelinfo.render.words import compiler, plural

_MANY_CODE_OBJECTS = 4
"""More are shown in one table with a column for the target."""
_MANY_KERNELS = 20
"""More are sorted, the worst first."""
_REPEATS = 3
"""Copies of code objects that are listed one by one."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """The report as text; problems are counted here and listed on standard error."""
    report = Report.of(items)
    if not report.results:
        return
    shown = _shown(report.results, view)
    for line in _report(report, shown, view):
        yield paint(line, view.color) + "\n"


def _shown(results: Sequence[Result], view: View) -> list[Result]:
    ordered = list(results)
    if len(ordered) > _MANY_KERNELS and not view.is_sorted:
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
    names = names_of(report.kernels, view.names)
    if view.group or view.is_sorted or len(code_objects) > _MANY_CODE_OBJECTS:
        yield _overview(report)
        yield []
        yield from table(shown, names, view, with_target=True)
    else:
        kernels = Counter(kernel.code_object for kernel in report.kernels)
        shown.sort(key=lambda result: code_objects.index(result.kernel.code_object))
        for code_object, results in groupby(shown, key=lambda r: r.kernel.code_object):
            group = list(results)
            yield from _heading(code_object, group, kernels[code_object], view)
            yield []
            yield from table(group, names, view, with_target=False)
            yield []
    if hidden := len(report.results) - len(shown):
        yield [(f" … {plural(hidden, 'more kernel')}; --top 0 shows all", "dim")]
    if view.quiet:
        return
    yield from _also(report)
    longest = max(cells(names[result.kernel.symbol]) for result in shown)
    if view.fold and view.names == "full" and longest > 2 * view.width:
        yield [(" --names short cuts return types, namespaces and parameters", "dim")]
    for text in _legend(shown):
        yield from wrap([(text, "dim")], view.width, 1 + text.startswith(" ≤") * 2)
    yield []
    label = _label(report)
    many = of_all(shown, report.results, label, view)
    lines = [*(many if hidden else of_each(shown, label, view))]
    yield from [*lines, []] if lines else []
    yield from _summary(report, view)


def _heading(
    code_object: CodeObject, results: list[Result], kernels: int, view: View
) -> Iterator[list[Span]]:
    where = _place(code_object.path, code_object.member)
    sizes = {f"wave{r.kernel.traits.demand.wave_size}" for r in results if r.kernel.traits.demand}
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
    details = "   " + " · ".join(text for text in about if text)
    if view.fold and cells(where + details) > view.width:
        yield [(where, "bold")]
        yield from wrap([(details, "")], view.width, 3)
    else:
        yield [(where, "bold"), (details, "")]


def _also(report: Report) -> Iterator[list[Span]]:
    """The copies of code objects that are counted once."""
    for repeat in report.repeats[:_REPEATS]:
        where, first = (_place(place.path, place.member) for place in (repeat, repeat.first))
        yield [(f" {where} is {first}, byte for byte", "dim")]
    if rest := len(report.repeats[_REPEATS:]):
        yield [(f" … and {plural(rest, 'more code object')} counted once", "dim")]


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


_SIZES = {
    "option": "block = as given",
    "config": "block = as configured",
    "required": "block = the size the kernel requires",
    "declared-max": "block = declared maximum, --workgroup-size N to change",
    "hardware-max": "block = hardware's maximum, none is declared; --workgroup-size N to change",
    "graphics-stage": "block – = a graphics stage: waves are launched one by one",
}


def _legend(shown: list[Result]) -> Iterator[str]:
    known = [result.occupancy for result in shown if result.occupancy]
    assumptions = dict.fromkeys(occupancy.launch.assumption for occupancy in known)
    meanings = ["registers = what the hardware allocates", *(_SIZES[a] for a in assumptions)]
    yield f" {'; '.join(meanings)}"
    if any(result.kernel.used.agprs for result in shown):
        yield " VGPR counts AGPRs where both share one file"
    reasons = dict.fromkeys(reason for o in known for reason in o.at_most_because)
    for reason in reasons:
        yield f" ≤ {reason}"


def _label(report: Report) -> Label:
    """The short name, with the target where there are several."""
    names = names_of(report.kernels, "short")
    several = len({code_object.target for code_object in report.code_objects}) > 1

    def label(result: Result) -> str:
        name = names[result.kernel.symbol]
        return f"{name} {result.kernel.code_object.target or ''}" if several else name

    return label


def _summary(report: Report, view: View) -> Iterator[list[Span]]:
    severities = Counter(f.severity for r in report.results for f in r.findings)
    counts = [
        (plural(severities[severity], severity), SEVERITY_STYLES[severity])
        for severity in SEVERITY_STYLES
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
    yield from wrap(line, view.width, 1)
    yield [(" occupancy is a ceiling, not a speed: `kernelinfo explain occupancy`", "dim")]
