"""Curves of occupancy: all their points for programs, only their steps for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernelinfo.curves import Point, Variable, stretches
from kernelinfo.render.paint import paint
from kernelinfo.render.records import render_table
from kernelinfo.render.words import RESOURCES, number, percent, size

_WORDS: dict[Variable, str] = {
    "vgpr": "VGPRs",
    "sgpr": "SGPRs",
    "lds": "LDS/workgroup",
    "workgroup-size": "workgroup",
}
_KEYS: dict[Variable, str] = {
    "vgpr": "vgprs",
    "sgpr": "sgprs",
    "lds": "lds_bytes",
    "workgroup-size": "workgroup_size",
}


def point_documents(
    target: str, variables: Sequence[Variable], points: Sequence[Point]
) -> list[dict[str, Any]]:
    """One record a point."""
    return [
        {
            "target": target,
            **{_KEYS[name]: value for name, value in zip(variables, point.at, strict=True)},
            "workgroups": point.workgroups,
            "waves_per_simd": point.waves_per_simd,
            "percent": point.percent,
            "limiters": list(point.limiters),
        }
        for point in points
    ]


def render_curve(
    title: str,
    variables: Sequence[Variable],
    points: Sequence[Point],
    per: str,
    color: bool,
) -> Iterator[str]:
    """The steps of one variable, one a line; of two, the first down and the second across."""
    at = {point.at: point for point in points}
    down = stretches(points)
    yield paint([(title, "bold")], color) + "\n\n"
    if len(variables) == 1:
        heading = (_WORDS[variables[0]], "waves/SIMD", "occ", f"workgroups/{per}", "limited by")
        rows = [(_span(variables[0], span), *_cells(at[span[1],])) for span in down]
        yield from render_table(heading, rows)
        return
    across = stretches(points, 1)
    yield from render_table(
        (_WORDS[variables[0]], *(_span(variables[1], span) for span in across)),
        [
            (
                _span(variables[0], line),
                *(number(at[line[1], span[1]].waves_per_simd) for span in across),
            )
            for line in down
        ],
    )


def render_sizes(title: str, points: Sequence[Point], per: str, color: bool) -> Iterator[str]:
    """Workgroup sizes, one a line."""
    yield paint([(title, "bold")], color) + "\n\n"
    heading = ("workgroup", "waves/SIMD", "occ", f"workgroups/{per}", "limited by")
    yield from render_table(heading, [(str(point.at[0]), *_cells(point)) for point in points])


def _cells(point: Point) -> tuple[str, str, str, str]:
    if not point.workgroups:
        return "0", "0 %", "0", "cannot launch"
    limiters = " ".join(RESOURCES[name] for name in point.limiters)
    return number(point.waves_per_simd), percent(point.percent), str(point.workgroups), limiters


def _span(variable: Variable, span: tuple[int, int]) -> str:
    first, last = span
    if variable == "workgroup-size":
        return f"{first}–{last}"
    return f"≤ {size(last) if variable == 'lds' else last}"
