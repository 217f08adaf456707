"""A trend for people: the builds, then the kernels that moved, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.fleet.history import Trend
from kernelinfo.render import View
from kernelinfo.render.diff.rows import spaced
from kernelinfo.render.diff.text import STYLES, name_of
from kernelinfo.render.names import printable
from kernelinfo.render.paint import Span, cells, left, paint
from kernelinfo.render.records import render_table
from kernelinfo.render.trend.rows import TrendRow, headline, rows, sparkline, step_in_words
from kernelinfo.render.words import plural, size

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
    for line in _kernels(found, view):
        yield paint(line, view.color) + "\n"


def _builds(trend: Trend) -> list[tuple[str, ...]]:
    steps = ["", *map(step_in_words, trend.steps)]
    return [
        (
            build.name,
            spaced(build.kernels),
            spaced(build.waves_per_simd),
            spaced(build.spilling),
            size(build.scratch_bytes_per_lane),
            spaced(build.vgprs),
            size(build.code_bytes),
            step + (f" · {plural(build.problems, 'problem')}" if build.problems else ""),
        )
        for build, step in zip(trend.builds, steps, strict=True)
    ]


def _kernels(found: Sequence[TrendRow], view: View) -> Iterator[list[Span]]:
    shown = found[: view.top] if view.top else found
    several = len({one.history.latest.target for one in shown}) > 1
    lines = [
        (
            one.row.status,
            sparkline(one.history),
            printable(", ".join(one.moved_in)),
            name_of(one.row, view, several),
            one.why,
        )
        for one in shown
    ]
    widths = [max((cells(line[n]) for line in lines), default=0) for n in range(3)]
    for status, curve, builds, name, why in lines:
        rest = f"  {left(curve, widths[1])}  {left(builds, widths[2])}  {name}  {why}"
        yield [(f" {left(status, widths[0])}", STYLES.get(status, "")), (rest.rstrip(), "")]
    if hidden := len(found) - len(shown):
        yield [(f" … {plural(hidden, 'more kernel')}; --top 0 shows all", "dim")]
