"""What is known before any kernel is read: constants of targets, limits for each step, rules."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from math import ceil
from typing import Any

from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import Rule
from kernelinfo.model.calculator import Rung
from kernelinfo.model.curves import CurvePoint, CurveVariable, stretches
from kernelinfo.model.limits import RESOURCES, Demand, Launch, Resource
from kernelinfo.render import View, paint, tables
from kernelinfo.render.json import picked
from kernelinfo.rules import every_rule

_NAMES: dict[CurveVariable, tuple[str, str]] = {
    "vgpr": ("VGPRs", "vgprs"),
    "sgpr": ("SGPRs", "sgprs"),
    "lds": ("LDS/workgroup", "lds_bytes"),
    "workgroup-size": ("workgroup", "workgroup_size"),
}
"""Variable → its name in text and in records."""


def point_documents(
    target: str, variables: Sequence[CurveVariable], points: Sequence[CurvePoint]
) -> list[dict[str, Any]]:
    """One record per point."""
    return [
        {
            "target": target,
            **{_NAMES[name][1]: value for name, value in zip(variables, point.at, strict=True)},
            **picked(point, "workgroups", "waves_per_simd", "percent", "limiters"),
        }
        for point in points
    ]


def curve_title(
    target: Target, demand: Demand, launch: Launch, variables: Sequence[CurveVariable]
) -> str:
    """A title: the target and the numbers that stay fixed."""
    used: dict[Resource, int | None]
    used = {"vgpr": demand.vgprs, "sgpr": demand.sgprs, "lds": demand.lds_bytes}
    stays = [paint.amount(resource, value) for resource, value in used.items() if value]
    if "workgroup-size" not in variables:
        stays.append(f"workgroups of {launch.workgroup_size}")
    return ", ".join([f"{target.name} ({target.family})", *stays])


def render_curve(
    title: str,
    variables: Sequence[CurveVariable],
    points: Sequence[CurvePoint],
    per: str,
    view: View,
) -> Iterator[str]:
    """The text of a curve: steps and a plot for one variable, a table for two. The first variable
    runs down, the second across, in as many tables as the width requires."""
    point_at = {point.at: point for point in points}
    down = stretches(points)
    yield from paint.painted([[(title, "bold")], []], view)
    if len(variables) == 1:
        heading = (_NAMES[variables[0]][0], "waves/SIMD", "occ", f"workgroups/{per}", "limited by")
        rows = [(_span(variables[0], span), *_cells_of_point(point_at[span[1],])) for span in down]
        yield from paint.painted(paint.table_lines([heading, *rows], "ttttd", view), view)
        steps = [(last, point_at[last,].waves_per_simd) for _, last in down]
        yield from render_steps(steps, variables[0], view)
        return
    across = stretches(points, 1)
    first, second = variables
    label = [_NAMES[first][0], *(_span(first, line) for line in down)]
    numbers = [
        (
            _span(second, span),
            *(paint.number(point_at[line[1], span[1]].waves_per_simd) for line in down),
        )
        for span in across
    ]
    for index, lines in enumerate(paint.within(view.width, [label], numbers)):
        yield "\n" if index else ""
        yield from paint.painted([[(line, "")] for line in lines], view)


def render_steps(
    steps: Sequence[tuple[int, float]], variable: CurveVariable, view: View
) -> Iterator[str]:
    """A plot of waves per SIMD against the variable, in plain characters.

    `steps` are pairs of the variable's last value in a step and the step's waves per SIMD. A `·`
    marks a fraction of a wave. A single step is not drawn.
    """
    if len(steps) < 2:
        return
    end, highest = max(last for last, _ in steps), ceil(max(waves for _, waves in steps))
    lasts, heights = zip(*sorted(steps), strict=True)
    room = view.width - _BESIDE if view.fold else _ACROSS
    width = min(_ACROSS, room // 4 * 4)
    across = [heights[bisect_left(lasts, end * (i + 1) / width)] for i in range(width)]
    yield "\n waves/SIMD\n"
    for wave in range(highest, 0, -1):
        row = ("■" if waves >= wave else "·" if waves > wave - 1 else " " for waves in across)
        yield f" {wave:>4} |{''.join(row)}".rstrip() + "\n"
    ticks = [end * quarter // 4 for quarter in range(5)]
    places = [paint.size(tick) if variable == "lds" else str(tick) for tick in ticks]
    scale = "".join(paint.right(place, width // 4) for place in places[1:])
    yield f"{0:>7}{scale}  {_NAMES[variable][0]}\n"


_ACROSS = 64  # most columns of a curve
_BESIDE = 24  # columns of the scale and of the variable's name


def render_sizes(title: str, points: Sequence[CurvePoint], per: str, view: View) -> Iterator[str]:
    """One line per workgroup size."""
    yield from paint.painted([[(title, "bold")], []], view)
    heading = ("workgroup", "waves/SIMD", "occ", f"workgroups/{per}", "limited by")
    rows = [(str(point.at[0]), *_cells_of_point(point)) for point in points]
    yield from paint.painted(paint.table_lines([heading, *rows], "ttttd", view), view)


def _cells_of_point(point: CurvePoint) -> tuple[str, str, str, str]:
    limiters = " ".join(RESOURCES[name] for name in point.limiters)
    limited_by = limiters if point.workgroups else "cannot launch"
    return (
        paint.number(point.waves_per_simd),
        paint.percent(point.percent),
        str(point.workgroups),
        limited_by,
    )


def _span(variable: CurveVariable, span: tuple[int, int]) -> str:
    first, last = span
    if variable == "workgroup-size":
        return f"{first}–{last}"
    return f"≤ {paint.size(last) if variable == 'lds' else last}"


def render_targets(targets: list[Target], view: View) -> Iterator[str]:
    """One line per target."""
    rows = [
        (
            target.name,
            target.family,
            "/".join(str(file.wave_size) for file in target.vgprs),
            str(target.waves.slots_per_simd),
            "/".join(str(file.per_simd) for file in target.vgprs),
            paint.size(target.domains[0].lds_bytes) + f"/{target.domains[0].per}",
            target.products,
        )
        for target in targets
    ]
    heading = ("target", "family", "wave", "slots/SIMD", "VGPRs", "LDS", "products")
    yield from paint.painted(paint.table_lines([heading, *rows], "ttttttd", view), view)


def render_constants(target: Target, view: View) -> Iterator[str]:
    """Every constant of a target; each topic names its source."""
    heading: list[paint.Span] = [
        (f"{target.name} ({target.family})   ", "bold"),
        (target.products, ""),
    ]
    yield from paint.painted(paint.fitted(heading, view, 3), view)
    for name, value in target._asdict().items():
        topics = (value,) if hasattr(value, "_asdict") else value
        if topics and isinstance(topics, tuple) and hasattr(topics[0], "_asdict"):
            for topic in topics:
                yield from paint.painted(_topic(name, topic, view), view)
        elif name not in ("name", "family", "products") and value not in ("", (), None):
            text = f"0x{value:02x}" if name == "elf_mach" else str(value)
            yield from paint.painted(
                paint.fitted([(f" {paint.left(name, 12)} {text}", "")], view, 14), view
            )


def _topic(name: str, topic: Any, view: View) -> Iterator[list[paint.Span]]:
    yield from ([], [(f" {name}", "bold")])
    rows = [row for row in topic._asdict().items() if row[0] != "believed"]
    indent = min(30, view.width * 3 // 8)
    for belief in getattr(topic, "believed", ()):
        until = f" before {belief.before}" if belief.before else ""
        value = f"{belief.field} is {belief.value} ({belief.source})"
        rows.append((f"in {belief.by}{until}", value))
    for field, value in rows:
        yield from paint.fitted([(f"   {paint.left(field, 26)} {value}", "")], view, indent)


def render_limits(rungs: tuple[Rung, ...], title: str, view: View) -> Iterator[str]:
    """A table of the most registers and LDS that each step allows, and a plot of waves against
    VGPRs."""
    yield from paint.painted([[(title, "bold")], []], view)
    rows = [
        (
            paint.number(rung.waves_per_simd),
            paint.percent(rung.percent),
            str(rung.vgprs),
            "any" if rung.sgprs is None else str(rung.sgprs),
            lds,
        )
        for rung, lds in zip(
            rungs, paint.size_column([rung.lds_bytes for rung in rungs]), strict=True
        )
    ]
    heading = ("waves/SIMD", "occ", "VGPRs", "SGPRs", "LDS/workgroup")
    yield from paint.painted(paint.table_lines([heading, *rows], "", view), view)
    steps = {rung.vgprs: rung.waves_per_simd for rung in reversed(rungs)}
    yield from render_steps([*steps.items()], "vgpr", view)


# The list of rules: one line per rule, or JSON with documentation.

RULES_SCHEMA = "kernelinfo/rules/1"


def render_rules(view: View) -> Iterator[str]:
    """A line for each rule, with its severity."""
    rows = [(r.number, r.name, r.severity if r.on else "off", r.summary) for r in every_rule()]
    return paint.painted(paint.table_lines(rows, "tttd", view), view)


def rules_table(view: View) -> tables.Table:
    """Every rule with its documentation; one line per rule in text."""
    records = [*map(rule_document, every_rule())]
    return tables.of_records(records, RULES_SCHEMA, "rules", text=render_rules(view))


def rule_document(rule: Rule) -> dict[str, Any]:
    """JSON object of a rule with its documentation."""
    return {
        "rule": rule.number,
        **picked(rule, "name", "severity", "on", "summary"),
        "documentation": cleandoc(rule.documentation),
    }
