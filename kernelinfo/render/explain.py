"""One kernel with its working: every number, the arithmetic behind it and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.compiler_number import CompilerNumber
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.calculator import vgpr_steps
from kernelinfo.occupancy.limits import RESOURCES, Limit
from kernelinfo.occupancy.placement import Demand, waves_of
from kernelinfo.occupancy.targets import Device, Target
from kernelinfo.reading.facts import SOURCES, Fact, FactName
from kernelinfo.render import View
from kernelinfo.render.arguments import argument_parts
from kernelinfo.render.code import code_parts
from kernelinfo.render.device import device_lines
from kernelinfo.render.findings import next_step
from kernelinfo.render.launch_sizes import launch_lines
from kernelinfo.render.names import folded, name_of, printable
from kernelinfo.render.paint import Span, cells, left, paint, right, wrap
from kernelinfo.render.profiler import expected
from kernelinfo.render.words import bare, block, number, percent, plural, size, waves_per_simd

_COLUMNS = ("resource", "used", "allocated", "out of", "allows", "slack")
_LABEL = 8
_ROOM = 8
"""Columns that text needs to hang in."""

Notes = Sequence[tuple[str, str]]
"""Labels and texts of further lines."""


def render_kernel(
    result: Result,
    view: View,
    device: Device | None,
    grid: int | None,
    pressure: Notes = (),
    further: Notes = (),
) -> Iterator[str]:
    """The explanation of one kernel, line by line; `grid` workgroups on a device."""
    kernel, occupancy = result.kernel, result.occupancy
    where = printable(kernel.code_object.path)
    if kernel.source is not None:
        where = f"{printable(kernel.source.file)}:{kernel.source.line}"
    elif kernel.line is not None:
        where += f":{kernel.line}"
    own, target = kernel.code_object.target or "unknown target", kernel.target
    on = own if target is None or target.name == own else f"{own}, what if on {target.name}"
    lines: list[list[Span]] = []
    if occupancy is not None and kernel.traits.demand is not None and target is not None:
        lines += working(target, kernel.traits.demand, occupancy, result)
        lines += _noted(launch_lines(target, kernel.traits.demand, occupancy))
        lines += _noted(pressure)
        if kernel.code is not None and (parts := code_parts(kernel.code)):
            lines += _listed("code", parts, " · ", view.width)
        if device is not None and (filling := result.filling(device, grid)):
            lines += _noted(device_lines(filling, occupancy.per))
        lines += _sources(kernel, view.width)
        if expectation := expected(result, device):
            lines += _listed("expect", expectation, "; ", view.width)
        lines += _noted(further)
    if kernel.arguments:
        lines += _listed("args", argument_parts(kernel.arguments), ", ", view.width)
    for line in [*_heading(name_of(kernel, view.names), f"{on}  {where}", view), []]:
        yield paint(line, view.color) + "\n"
    findings = [_finding(finding) for finding in result.findings]
    if view.fold:
        findings = [*_hanging(findings, view.width)]
    footnote = _hanging(_footnote(occupancy), view.width)
    for line in [*_hanging(lines, view.width), *findings, *footnote]:
        yield paint(line, view.color) + "\n"


def _finding(finding: Finding) -> list[Span]:
    text = finding.message + (f"; {finding.hint}" if finding.hint else "")
    return _labelled(finding.rule, f"{finding.severity}: {text}")


def _heading(name: str, about: str, view: View) -> Iterator[list[Span]]:
    """A name and its location in one line; in two on a terminal where both do not fit."""
    if view.fold and cells(name) + 3 + cells(about) > view.width:
        yield from ([(line, "bold")] for line in folded(name, view.width, 2))
        yield from wrap([(f"   {about}", "")], view.width, 3)
    else:
        yield [(name, "bold"), (f"   {about}", "")]


def _hanging(lines: Iterable[list[Span]], width: int) -> Iterator[list[Span]]:
    """Lines broken where they are too long; the rest hangs under the last part if it has room."""
    for line in lines:
        before = sum(cells(text) for text, _ in line[:-1])
        yield from wrap(line, width, before if width - before >= _ROOM else _LABEL + 2)


def render_numbers(
    target: Target, demand: Demand, occupancy: Occupancy, view: View, notes: Notes = ()
) -> Iterator[str]:
    """The same for numbers that belong to no kernel."""
    yield paint([(f"{target.name} ({target.family})", "bold")], view.color) + "\n\n"
    lines = [*working(target, demand, occupancy), *_noted(notes), *_footnote(occupancy)]
    for line in _hanging(lines, view.width):
        yield paint(line, view.color) + "\n"


def working(
    target: Target,
    demand: Demand,
    occupancy: Occupancy,
    of: Result | None = None,
) -> list[list[Span]]:
    """The table of resources, the result, the steps, and what is uncertain."""
    kernel = of.kernel if of else None
    rows = [_COLUMNS, *(_row(limit, occupancy, demand, kernel) for limit in occupancy.limits[1:])]
    rows.append(_row(occupancy.limits[0], occupancy, demand, kernel))
    widths = [max(cells(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    lines: list[list[Span]] = []
    for index, row in enumerate(rows):
        text = f" {left(row[0], widths[0])}  {right(row[1], widths[1])}  " + "  ".join(
            left(cell, width) for cell, width in zip(row[2:-1], widths[2:-1], strict=True)
        )
        style = "bold" if index == 0 or "◄" in text else ""
        lines.append([(f"{text}  ", style), (row[-1], style)])
    lines.append(
        _labelled("result", _result(occupancy, of.compiler_number if of else None), "bold")
    )
    if text := next_step(occupancy, of.next if of else occupancy.next):
        lines.append(_labelled("next", text))
    if not target.members:  # the steps are those of whichever device it runs on
        lines.append(_labelled("steps", _steps(target, demand, occupancy)))
    if occupancy.range is not None:
        span = occupancy.range
        least = occupancy.launch.smallest_size
        sizes = "to" if least is None else f"of {least} to"
        text = (
            f"workgroups {sizes} {occupancy.launch.workgroup_size}: "
            f"{number(round(span.min_percent, 1))}–{percent(span.max_percent)} "
            f"(best {span.best_workgroup_size}, worst {span.worst_workgroup_size})"
        )
        lines.append(_labelled("range", text))
    for reason in occupancy.obstacles:
        lines.append(_labelled("cannot", f"launch: {reason}", "red"))
    for reason in occupancy.at_most_because:
        lines.append(_labelled("at most", reason))
    if cap := target.waves.dispatch_cap_per_cu:
        text = f"about {cap} waves per CU on these parts, whatever the kernel uses"
        lines.append(_labelled("runtime", text))
    return lines


def _row(
    limit: Limit, occupancy: Occupancy, demand: Demand, kernel: Kernel | None
) -> tuple[str, str, str, str, str, str]:
    per = occupancy.per
    marker = " ◄" if limit.resource in occupancy.limiters else ""
    allows = "no limit"
    if limit.waves_per_simd is not None:
        allows = f"{waves_per_simd(limit.waves_per_simd)}{marker}"
    used, allocated = bare(limit.resource, limit.used), bare(limit.resource, limit.allocated)
    granule = bare(limit.resource, limit.granule)
    label = RESOURCES[limit.resource]
    headroom = occupancy.headroom
    match limit.resource:
        case "slots":
            group = waves_of(occupancy.launch.workgroup_size, demand.wave_size)
            waves = "wave" if group == 1 else "waves"
            label, used = "block", block(occupancy.launch)
            allocated, out_of = f"{group} {waves}", f"{limit.available} slots per {per}"
            return label, used, allocated, out_of, allows, _assumed(occupancy)
        case "vgpr":
            in_code = kernel.used.vgprs if kernel else None
            slack = _free(limit, headroom.vgprs, occupancy)
            if in_code is not None and in_code != limit.used:
                slack = f"the code uses {in_code}; {slack}".removesuffix("; ")
            return (
                label,
                used,
                f"{allocated} (by {granule})",
                f"{limit.available} per lane",
                allows,
                slack,
            )
        case "sgpr":
            trap = occupancy.allocated.trap_sgprs
            allocated = f"{limit.allocated - trap} + {trap} ¹" if trap else allocated
            slack = _free(limit, headroom.sgprs, occupancy)
            return label, used, allocated, f"{limit.available} per SIMD", allows, slack
        case "lds":
            out_of = f"{size(limit.available)} per {per}"
            allocated = f"{allocated} (by {granule})" if limit.allocated else allocated
            slack = _free(limit, headroom.lds_bytes, occupancy)
            return label, used, allocated, out_of, allows, slack
        case "scratch":
            out_of = f"{limit.available} waves per {per}"
            return label, f"{used}/lane", f"{size(limit.allocated)}/wave", out_of, allows, ""
        case "barriers":
            return label, used, allocated, f"{limit.available} per {per}", allows, ""


def _free(limit: Limit, free: int | None, occupancy: Occupancy) -> str:
    parts = []
    if free is not None and free > 0:
        parts.append(f"+{bare(limit.resource, free)} free")
    if len(occupancy.next) == 1 and occupancy.next[0].resource == limit.resource:
        step = occupancy.next[0]
        less = bare(limit.resource, -step.change)
        parts.append(f"−{less} gives {waves_per_simd(step.waves_per_simd)}")
    return "; ".join(parts)


_ASSUMED = {
    "option": "as given",
    "config": "as configured",
    "required": "required by the kernel",
    "declared-max": "the declared maximum",
    "hardware-max": "the hardware's maximum: none is declared",
    "graphics-stage": "a graphics stage: waves are launched one by one",
}


def _assumed(occupancy: Occupancy) -> str:
    return _ASSUMED[occupancy.launch.assumption]


def _result(occupancy: Occupancy, printed: CompilerNumber | None) -> str:
    per, bound = occupancy.per, "" if occupancy.exact else "at most "
    groups = f"{plural(occupancy.workgroups, 'workgroup')}/{per} · "
    if occupancy.launch.assumption == "graphics-stage":
        groups = ""
    text = (
        f"{bound}{groups}{occupancy.waves} of "
        f"{occupancy.wave_slots} waves/{per} · {percent(occupancy.percent)}"
    )
    if printed is None or printed.agrees is None:
        return text
    explanation = printed.reason or "agrees"
    return f"{text}   the compiler said {waves_per_simd(printed.waves_per_simd)}: {explanation}"


def _steps(target: Target, demand: Demand, occupancy: Occupancy) -> str:
    vgprs = next((limit.used for limit in occupancy.limits if limit.resource == "vgpr"), None)
    steps: list[str] = []
    passed = 0
    for most, waves in vgpr_steps(target, demand, occupancy):
        here = " ◄" if vgprs is not None and passed < vgprs <= most else ""
        steps.append(f"{most}:{number(waves)}{here}")
        passed = most
    return "VGPRs ≤ " + "  ".join(steps) + " waves/SIMD"


_IN_WORDS: dict[FactName, str] = {
    "reserved_vgprs": "{} VGPRs allocated",
    "least_reserved_vgprs": "{} VGPRs allocated at least",
    "vgprs": "{} VGPRs used",
    "accum_offset": "AGPRs from {} on",
    "agprs": "{} AGPRs used",
    "reserved_sgprs": "{} SGPRs allocated",
    "sgprs": "{} SGPRs used",
    "lds_bytes": "{} B of LDS",
    "scratch_bytes_per_lane": "{} B of scratch",
    "max_workgroup_size": "workgroups to {}",
    "cluster": "clusters of {} workgroups",
    "required_workgroup": "workgroups of {}",
    "dynamic_lds_bytes": "{} B of LDS at launch",
    "graphics_stage": "a graphics stage",
}


def _sources(kernel: Kernel, width: int) -> Iterator[list[Span]]:
    """What each source says and where, the best first."""
    label = "from"
    for source in SOURCES:
        stated = {fact.name: fact for fact in kernel.traits.facts if fact.source == source}
        parts = [_in_words(stated[name], kernel) for name in _IN_WORDS if name in stated]
        if parts:
            yield from _listed(label, [f"{source}: {parts[0]}", *parts[1:]], ", ", width)
            label = ""


def _in_words(fact: Fact, kernel: Kernel) -> str:
    value = "×".join(map(str, fact.value)) if isinstance(fact.value, tuple) else fact.value
    text = _IN_WORDS[fact.name].format(value)
    if (line := kernel.line_of(fact)) is not None:
        return f"{text} (line {line})"
    offset = kernel.offset(fact)
    return text if offset is None else f"{text} (at 0x{offset:x})"


def _footnote(occupancy: Occupancy | None) -> list[list[Span]]:
    if occupancy is None or not any(limit.resource == "sgpr" for limit in occupancy.limits):
        return []
    if not occupancy.allocated.trap_sgprs:
        return []
    text = f"{occupancy.allocated.trap_sgprs} SGPRs for the trap handler that ROCm installs; "
    return [[(" ¹ ", "dim"), (f"{text}--no-trap-handler leaves them out", "dim")]]


def _noted(notes: Notes) -> list[list[Span]]:
    return [_labelled(label, text) for label, text in notes]


def _labelled(label: str, text: str, style: str = "") -> list[Span]:
    return [(f" {left(label, _LABEL)} ", style), (text, style)]


def _listed(label: str, parts: list[str], separator: str, width: int) -> list[list[Span]]:
    """A labelled list, broken between its parts."""
    lines, line = [], ""
    for part in parts:
        if line and cells(line + separator + part + separator.rstrip()) > width - _LABEL - 2:
            lines.append(line + separator.rstrip())
            line = ""
        line += (separator if line else "") + part
    lines.append(line)
    labels = [label] + [""] * (len(lines) - 1)
    return [_labelled(name, text) for name, text in zip(labels, lines, strict=True)]
