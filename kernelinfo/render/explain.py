"""One kernel explained: every number, its arithmetic and its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelinfo.hardware.targets import Device, Target
from kernelinfo.kernel import Kernel, Language, Result, counted
from kernelinfo.kernel.compiler_number import CompilerNumber
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Headroom, Occupancy
from kernelinfo.model.calculator import vgpr_steps
from kernelinfo.model.curves import fill
from kernelinfo.model.limits import RESOURCES, Limit, limits
from kernelinfo.reading.facts import SOURCES, Fact
from kernelinfo.render import View, notes, paint
from kernelinfo.render.names import heading, name_of, printable
from kernelinfo.render.table import SEVERITY_STYLES, in_words, next_step

_COLUMNS = ("resource", "used", "allocated", "out of", "allows", "slack")
_LABEL = 8
_ROOM = 8  # fewest columns for indented text
KnownTexts = dict[tuple[Traits, Occupancy, CompilerNumber | None, Language | None], str]
"""Texts on the occupancy, by the numbers that they state: 1,074 kernels of a library share 403."""
_MOST_KNOWN = 1 << 12  # 2 kB each
_PER = {"vgpr": "lane", "sgpr": "SIMD"}  # other resources count per CU or WGP


def render_kernel(
    result: Result,
    view: View,
    device: Device | None,
    grid: int | None,
    pressure: notes.Notes,
    further: notes.Notes,
    texts: KnownTexts,
    code: list[str],
) -> Iterator[str]:
    """Text that explains one kernel; `grid` is the number of workgroups launched on the device.

    `texts` caches the texts of kernels explained before, for this view. `code` says what the code
    does. `view.whole` adds sources, counters and arguments."""
    kernel, occupancy = result.kernel, result.occupancy
    is_compiled = kernel.code_object.command is not None
    path, line = kernel.source or (kernel.code_object.path, None if is_compiled else kernel.line)
    where = printable(path if line is None else f"{path}:{line}")
    code_object, target = kernel.code_object, kernel.target
    on = code_object.target_id or "unknown target"
    on += (
        "" if target is None or target.name == code_object.target else f", what if on {target.name}"
    )
    if version := code_object.code_object_version:
        on += f"  code object v{version}"
    yield from paint.painted(heading(name_of(kernel, view.names), f"{on}  {where}", view), view)
    yield "\n"
    if occupancy is not None and target is not None:
        yield _of_statement(target, occupancy, result, view, texts)
    findings = [
        [*_labelled(f.rule, f"{f.severity}: ", SEVERITY_STYLES[f.severity]), (in_words(f), "")]
        for f in result.findings
    ]
    yield from paint.painted(_hanging(findings, view.width) if view.fold else findings, view)
    lines: list[list[paint.Span]] = []
    if occupancy is not None and target is not None:
        lines += _noted(pressure)
        lines += _noted(notes.cluster_notes(kernel.traits, target))
        lines += _listed("code", code, " · ", view.width)
        if device is not None:
            lines += _noted(notes.device_notes(fill(device, occupancy, grid), occupancy.per))
        if view.whole:
            lines += _sources(kernel, view.width)
            lines += _listed("expect", notes.expected(result, device), "; ", view.width)
        lines += _noted(further)
    if kernel.code_object.command is not None:
        lines.append(_labelled("lines", "are those of the assembly that the compiler wrote"))
    if view.whole:
        arguments = notes.argument_parts(kernel.arguments or ())
        lines += _listed("args", arguments, ", ", view.width)
    yield from paint.painted(_hanging(lines, view.width), view)
    footnotes = [spans for line in _footnote(occupancy, whole=view.whole) for spans in line]
    if not view.whole:
        footnotes += [(" · " if footnotes else " ", "dim"), (_MORE, "dim")]
    yield from paint.painted(paint.wrap(footnotes, view.width, 3) if footnotes else (), view)


_MORE = "-v: sources, counters, loops"


def _of_statement(
    target: Target, occupancy: Occupancy, result: Result, view: View, texts: KnownTexts
) -> str:
    """The text on the occupancy, which kernels with equal numbers share."""
    language = result.kernel.language
    key = result.kernel.traits, occupancy, result.compiler_number, language
    if key not in texts:
        if len(texts) >= _MOST_KNOWN:
            texts.clear()
        of_launch = notes.launch_notes(target, occupancy, language, whole=view.whole)
        lines = [*_working(target, occupancy, result, whole=view.whole), *_noted(of_launch)]
        texts[key] = "".join(paint.painted(_hanging(lines, view.width), view))
    return texts[key]


def _hanging(lines: Iterable[list[paint.Span]], width: int) -> Iterator[list[paint.Span]]:
    """Lines wrapped at the width. Continuation lines are indented under the last part if there is
    room."""
    for line in lines:
        before = sum(paint.cells(text) for text, _ in line[:-1])
        yield from paint.wrap(line, width, before if width - before >= _ROOM else _LABEL + 2)


def render_numbers(
    target: Target, occupancy: Occupancy, view: View, further: notes.Notes
) -> Iterator[str]:
    """Lines that explain the occupancy of given numbers, without a kernel."""
    lines = [*_working(target, occupancy), *_noted(further), *_footnote(occupancy)]
    yield from paint.painted([[(f"{target.name} ({target.family})", "bold")], []], view)
    yield from paint.painted(_hanging(lines, view.width), view)


def _working(
    target: Target, occupancy: Occupancy, result: Result | None = None, *, whole: bool = True
) -> Iterator[list[paint.Span]]:
    """Lines of the resource table, the result, the steps and the uncertain numbers. Barriers that
    do not limit have a row only in the `whole` table."""
    slots, *resources = occupancy.limits
    if not whole and "barriers" not in occupancy.limiters:
        resources = [limit for limit in resources if limit.resource != "barriers"]
    free, code = occupancy.headroom, limits(occupancy.placement.unpadded)
    unpadded = {limit.resource: limit for limit in code}
    rows = [
        _COLUMNS,
        *(
            _limit_row(limit, occupancy, free, unpadded[limit.resource], whole=whole)
            for limit in (*resources, slots)
        ),
    ]
    for text, row in zip(paint.aligned([row[:-1] for row in rows], "tnttt"), rows, strict=True):
        style = "bold" if row == _COLUMNS else "magenta" if "◄" in text else ""
        yield [(f" {text}  ", style), (row[-1], style)]
    yield _labelled(
        "result", _result(occupancy, result.compiler_number if result else None), "bold"
    )
    is_worth = result is None or bool(result.next)
    if (is_worth or whole) and (text := next_step(occupancy, occupancy.next)):
        yield _labelled("next", text if is_worth else f"{text}; not advised: it spills already")
    if not target.members:  # a generic target has the steps of the device that it runs on
        yield _labelled("steps", _steps(target, occupancy))
    if span := occupancy.range:
        least = occupancy.launch.smallest_size
        sizes = "to" if least is None else f"of {least} to"
        text = (
            f"workgroups {sizes} {occupancy.launch.workgroup_size}: "
            f"{paint.number(round(span.min_percent, 1))}–{paint.percent(span.max_percent)} "
            f"(best {span.best_workgroup_size}, worst {span.worst_workgroup_size})"
        )
        yield _labelled("range", text)
    yield from (_labelled("cannot", f"launch: {why}", "red") for why in occupancy.obstacles)
    yield from (_labelled("at most", reason) for reason in occupancy.at_most_because)
    if cap := target.waves.dispatch_cap_per_cu:
        text = f"about {cap} waves per CU on these parts, whatever the kernel uses"
        yield _labelled("runtime", text)


def _limit_row(
    limit: Limit, occupancy: Occupancy, free: Headroom, unpadded: Limit, *, whole: bool
) -> tuple[str, ...]:
    """The row of one resource in the table of limits, one cell per entry of _COLUMNS. `unpadded` is
    the limit without the descriptor's padding. The `whole` table shows the granule of LDS."""
    per, resource = occupancy.per, limit.resource
    allows = "no limit"
    if limit.waves_per_simd is not None:
        unit = "wave/SIMD" if limit.waves_per_simd == 1 else "waves/SIMD"
        marker = " ◄" if resource in occupancy.limiters else ""
        allows = f"{_at_most_slots(limit.waves_per_simd, occupancy)} {unit}{marker}"
    label, slack = RESOURCES[resource], _slack(limit, free)
    used, allocated = paint.bare(resource, limit.used), paint.bare(resource, limit.allocated)
    if resource == "lds":
        used, allocated = paint.size_column([limit.used, limit.allocated])
    by = " per " if whole else "/"
    out_of = f"{paint.bare(resource, limit.available)}{by}{_PER.get(resource, per)}"
    if resource == "vgpr" or (resource == "lds" and limit.allocated and whole):
        allocated += f" (by {paint.bare(resource, limit.granule)})"
    match resource:
        case "slots":
            label, used = "block", paint.block(occupancy.launch)
            allocated, out_of = counted(limit.used, "wave"), f"{limit.available} slots{by}{per}"
            slack = _assumed(occupancy)
        case "sgpr":
            if trap := occupancy.allocated.trap_sgprs:
                allocated = f"{limit.allocated - trap} + {trap} ¹"
        case "scratch":
            used, allocated = f"{used}/lane", f"{allocated}/wave"
            out_of = f"{limit.available} waves{by}{per}"
            slack = ""
    if unpadded.waves_per_simd is not None and unpadded.waves_per_simd != limit.waves_per_simd:
        slack = f"{_at_most_slots(unpadded.waves_per_simd, occupancy)} unpadded"
    return label, used, allocated, out_of, allows, slack


def _at_most_slots(waves_per_simd: float, occupancy: Occupancy) -> str:
    """Waves per SIMD as text; `> 8` if they exceed the wave slots, since the exact number would
    depend on how whole workgroups are counted."""
    slots = occupancy.wave_slots / occupancy.placement.domain.simds
    return f"> {paint.number(slots)}" if waves_per_simd > slots else paint.number(waves_per_simd)


def _assumed(occupancy: Occupancy) -> str:
    """Where the block size comes from. Without a launch bound, compilers declare the hardware's
    maximum (LLVM AMDGPUUsage, `amdgpu-flat-work-group-size`)."""
    launch, waves = occupancy.launch, occupancy.placement.target.waves
    is_default = launch.workgroup_size == waves.max_workgroup_size
    if launch.assumption == "declared-max" and is_default:
        return "default max"
    return _ASSUMED[launch.assumption]


def _slack(limit: Limit, free: Headroom) -> str:
    """The free amount as text: `+14 free`; empty if it is unknown or 0."""
    amount = free.of(limit.resource) or 0
    return f"+{paint.bare(limit.resource, amount)} free" if amount > 0 else ""


_ASSUMED = {
    "option": "as given",
    "config": "as configured",
    "required": "required",
    "declared-max": "declared max",
    "hardware-max": "hardware max",
    "graphics-stage": "waves start one by one",
}


def _result(occupancy: Occupancy, printed: CompilerNumber | None) -> str:
    text, per = "" if occupancy.exact else "at most ", occupancy.per
    if occupancy.launch.assumption != "graphics-stage":
        text += f"{counted(occupancy.workgroups, 'workgroup')}/{per} · "
    text += f"{occupancy.waves} of {occupancy.wave_slots} waves/{per}"
    text += f" · {paint.percent(occupancy.percent)}"
    if printed is None or printed.agrees is None:
        return text
    if not printed.reason:
        return f"{text}   as the compiler said"
    said = f"the compiler said {paint.waves_per_simd(printed.waves_per_simd)}"
    return f"{text}   {said}: {printed.reason}"


def _steps(target: Target, occupancy: Occupancy) -> str:
    """The steps of VGPRs, each as its most VGPRs and its waves per SIMD. `◄` marks the step that
    the kernel's VGPRs fall in, `unpadded` the one that they would fall in without padding."""
    demand = occupancy.demand
    steps: list[str] = []
    passed = 0
    for step in vgpr_steps(target, occupancy):
        marks = ((demand.unpadded.vgprs, " unpadded"), (demand.vgprs, " ◄"))
        fitting = [mark for vgprs, mark in marks if vgprs and passed < vgprs <= step.vgprs]
        here = fitting[-1] if fitting else ""
        steps.append(f"{step.vgprs}:{paint.number(step.waves_per_simd)}{here}")
        passed = step.vgprs
    return "waves at VGPRs ≤ " + "  ".join(steps)


_IN_WORDS: dict[str, str] = {
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
    "revision": "gfx1250 revision {}",
    "asked_waves": "{} waves/SIMD asked for",
    "dynamic_vgprs": "dynamic VGPRs",
    "dynamic_vgpr_block": "blocks of {} VGPRs",
    "dynamic_lds": "LDS sized at launch",
}


def _sources(kernel: Kernel, width: int) -> Iterator[list[paint.Span]]:
    """Lines with the numbers of each source and their place, best source first."""
    label = "from"
    facts = {(fact.source, fact.name): fact for fact in kernel.traits.facts}
    for source in SOURCES:
        stated = [facts[source, name] for name in _IN_WORDS if (source, name) in facts]
        if parts := [_in_words(fact, kernel) for fact in stated]:
            yield from _listed(label, [f"{source}: {parts[0]}", *parts[1:]], ", ", width)
            label = ""


def _in_words(fact: Fact, kernel: Kernel) -> str:
    value = "×".join(map(str, fact.value)) if isinstance(fact.value, tuple) else fact.value
    text = _IN_WORDS[fact.name].format(value)
    if (line := kernel.line_of(fact)) is not None:
        return f"{text} (line {line})"
    offset = kernel.offset(fact)
    return text if offset is None else f"{text} (at 0x{offset:x})"


def _footnote(occupancy: Occupancy | None, *, whole: bool = True) -> list[list[paint.Span]]:
    trap = occupancy.allocated.trap_sgprs if occupancy else 0
    if not (occupancy and trap and any(limit.resource == "sgpr" for limit in occupancy.limits)):
        return []
    text = f"{trap} SGPRs for ROCm's trap handler; --no-trap-handler omits them"
    if not whole:
        text = "for ROCm's trap handler (--no-trap-handler)"
    return [[(" ¹ ", "dim"), (text, "dim")]]


def _noted(lines: notes.Notes) -> list[list[paint.Span]]:
    return [_labelled(*line) for line in lines]


def _labelled(label: str, text: str, style: str = "") -> list[paint.Span]:
    return [(f" {paint.left(label, _LABEL)} ", style), (text, style)]


def _listed(label: str, parts: list[str], separator: str, width: int) -> list[list[paint.Span]]:
    """Lines of a labelled list, wrapped between parts; no line for an empty list."""
    lines, end = [""] if parts else [], separator.rstrip()
    for part in parts:
        if lines[-1] and paint.cells(lines[-1] + separator + part + end) > width - _LABEL - 2:
            lines[-1] += end
            lines.append("")
        lines[-1] += (separator if lines[-1] else "") + part
    return [_labelled("" if index else label, text) for index, text in enumerate(lines)]
