"""Curves of occupancy: all points for programs, only the steps for people."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from kernelinfo.hardware.targets import Target
from kernelinfo.model.curves import CurvePoint, CurveVariable, stretches
from kernelinfo.model.limits import RESOURCES, Demand, Launch, Resource
from kernelinfo.render import View
from kernelinfo.render.json import picked
from kernelinfo.render.paint import (
    amount,
    number,
    painted,
    percent,
    right,
    size,
    table_lines,
    within,
)

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
    stays = [amount(resource, value) for resource, value in used.items() if value]
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
    """Text of a curve: for one variable its steps and a plot; for two variables a table.

    The first variable goes down, the second across, in as many tables as the width needs."""
    at = {point.at: point for point in points}
    down = stretches(points)
    yield from painted([[(title, "bold")], []], view)
    if len(variables) == 1:
        heading = (_NAMES[variables[0]][0], "waves/SIMD", "occ", f"workgroups/{per}", "limited by")
        rows = [(_span(variables[0], span), *_cells(at[span[1],])) for span in down]
        yield from painted(table_lines([heading, *rows], "ttttd", view), view)
        steps = [(last, at[last,].waves_per_simd) for _, last in down]
        yield from render_steps(steps, variables[0], view)
        return
    across = stretches(points, 1)
    first, second = variables
    label = [_NAMES[first][0], *(_span(first, line) for line in down)]
    numbers = [
        (_span(second, span), *(number(at[line[1], span[1]].waves_per_simd) for line in down))
        for span in across
    ]
    for index, lines in enumerate(within(view.width, [label], numbers)):
        yield "\n" if index else ""
        yield from painted([[(line, "")] for line in lines], view)


def render_steps(
    steps: Sequence[tuple[int, float]], variable: CurveVariable, view: View
) -> Iterator[str]:
    """A plot of waves per SIMD against the variable, in plain characters.

    Each step has its last value and its waves. A `·` marks a fraction of a wave. A single step is
    not drawn."""
    if len(steps) < 2:
        return
    most, highest = max(last for last, _ in steps), ceil(max(waves for _, waves in steps))
    lasts, heights = zip(*sorted(steps), strict=True)
    room = view.width - _BESIDE if view.fold else _ACROSS
    width = min(_ACROSS, room // 4 * 4)
    across = [heights[bisect_left(lasts, most * (i + 1) / width)] for i in range(width)]
    yield "\n waves/SIMD\n"
    for wave in range(highest, 0, -1):
        row = ("■" if waves >= wave else "·" if waves > wave - 1 else " " for waves in across)
        yield f" {wave:>4} |{''.join(row)}".rstrip() + "\n"
    ticks = [most * quarter // 4 for quarter in range(5)]
    places = [size(tick) if variable == "lds" else str(tick) for tick in ticks]
    scale = "".join(right(place, width // 4) for place in places[1:])
    yield f"{0:>7}{scale}  {_NAMES[variable][0]}\n"


_ACROSS = 64  # most columns of a curve
_BESIDE = 24  # columns of the scale and of the variable's name


def render_sizes(title: str, points: Sequence[CurvePoint], per: str, view: View) -> Iterator[str]:
    """One line per workgroup size."""
    yield from painted([[(title, "bold")], []], view)
    heading = ("workgroup", "waves/SIMD", "occ", f"workgroups/{per}", "limited by")
    rows = [(str(point.at[0]), *_cells(point)) for point in points]
    yield from painted(table_lines([heading, *rows], "ttttd", view), view)


def _cells(point: CurvePoint) -> tuple[str, str, str, str]:
    limiters = " ".join(RESOURCES[name] for name in point.limiters)
    limited_by = limiters if point.workgroups else "cannot launch"
    return number(point.waves_per_simd), percent(point.percent), str(point.workgroups), limited_by


def _span(variable: CurveVariable, span: tuple[int, int]) -> str:
    first, last = span
    if variable == "workgroup-size":
        return f"{first}–{last}"
    return f"≤ {size(last) if variable == 'lds' else last}"
