"""A trend as text: builds, then moved kernels, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.fleet.history import Trend
from kernelinfo.render import View
from kernelinfo.render.diff.text import STYLES, row_name
from kernelinfo.render.findings import hidden_kernels
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, aligned, paint, painted
from kernelinfo.render.records import render_table
from kernelinfo.render.trend.rows import TrendRow, headline, rows, sparkline, step_in_words
from kernelinfo.render.words import size
from kernelinfo.rules.remark import counted, grouped

_HEADING = (
    *("build", "kernels", "waves/SIMD", "spilling", "scratch", "VGPRs", "code"),
    "since the build before",
)


def render(trend: Trend, view: View) -> Iterator[str]:
    found = rows(trend)
    yield paint([(headline(trend, found), "bold")], view.color) + "\n\n"
    if not view.quiet:
        yield from render_table(_HEADING, _builds(trend))
        yield "\n"
    yield from painted(_kernels(found, view), view)


def _builds(trend: Trend) -> list[tuple[str, ...]]:
    steps = ["", *map(step_in_words, trend.steps)]
    return [
        (
            build.name,
            grouped(build.kernels),
            grouped(build.waves_per_simd),
            grouped(build.spilling),
            size(build.scratch_bytes_per_lane),
            grouped(build.vgprs),
            size(build.code_bytes),
            step + (f" · {counted(build.problems, 'problem')}" if build.problems else ""),
        )
        for build, step in zip(trend.builds, steps, strict=True)
    ]


def _kernels(found: Sequence[TrendRow], view: View) -> Iterator[list[Span]]:
    shown = found[: view.top or None]
    several = len({one.history.latest.target for one in shown}) > 1
    statuses = aligned([(one.row.status,) for one in shown])
    curves = aligned(
        [(sparkline(one.history), printable(", ".join(one.moved_in))) for one in shown]
    )
    for one, status, curve in zip(shown, statuses, curves, strict=True):
        rest = f"  {curve}  {row_name(one.row, view, several)}  {one.why}"
        yield [(f" {status}", STYLES.get(one.row.status, "")), (rest.rstrip(), "")]
    yield from hidden_kernels(len(found) - len(shown))
