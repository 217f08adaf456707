"""A trend as text: builds, libraries and targets, then moved kernels, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo.fleet.history import BuildTotals, Trend
from kernelinfo.kernel import counted, grouped
from kernelinfo.render import View
from kernelinfo.render.diff.text import STYLES, row_name
from kernelinfo.render.names import folded, printable
from kernelinfo.render.paint import Span, aligned, cells, fitted, painted
from kernelinfo.render.records import render_table
from kernelinfo.render.table import hidden_kernels
from kernelinfo.render.trend.rows import (
    GROUPS,
    PLACES,
    TrendRow,
    groups,
    headline,
    places,
    recompiled,
    rows,
    sizes,
    sparkline,
    step_in_words,
    told_builds,
)

_HEADING = (
    *("build", "kernels", "waves/SIMD", "spilling", "scratch", "VGPRs", "code"),
    "since the build before",
)
_MOST_PLACES = 20
_INDENT = 10


def render(trend: Trend, view: View) -> Iterator[str]:
    found = rows(trend)
    yield from painted(fitted([(headline(trend, found), "bold")], view, 1), view)
    yield "\n"
    for build, words in recompiled(trend):
        line = [(f" compiler of {printable(build)}: {words}", "")]
        yield from painted(fitted(line, view, 3), view)
    if not view.quiet:
        yield from ["\n"] if recompiled(trend) else []
        yield from render_table(_HEADING, list(_builds(trend)), view)
        yield " sums over the kernels of a build; VGPRs as used\n\n"
    if trend.by:
        heading = (trend.by, *GROUPS)
        yield from render_table(heading, groups(trend), view)
        return
    yield from _places(found, view)
    yield from painted(_kernels(found, view), view)


def _builds(trend: Trend) -> Iterator[tuple[str, ...]]:
    steps = ["", *map(step_in_words, trend.steps)]
    scratch = sizes([build.scratch_bytes_per_lane for build in trend.builds])
    code = sizes([build.code_bytes for build in trend.builds])
    before = -1
    for index in told_builds(trend):
        if left_out := index - before - 1:
            more = f"{counted(left_out, 'build')} without a kernel affected"
            yield ("…", *("",) * (len(_HEADING) - 2), more)
        before, build = index, trend.builds[index]
        yield (
            printable(build.name),
            grouped(build.kernels),
            grouped(build.waves_per_simd),
            grouped(build.spilling),
            scratch[index],
            grouped(build.vgprs),
            code[index],
            " · ".join(filter(None, (steps[index], *_about(build)))),
        )


def _about(build: BuildTotals) -> Iterator[str]:
    """Problems and labels of a build."""
    if build.problems:
        yield counted(build.problems, "problem")
    if build.accepted_problems:
        yield counted(build.accepted_problems, "accepted problem")
    yield printable(", ".join(f"{name}={value}" for name, value in build.labels.items()))


def _places(found: Sequence[TrendRow], view: View) -> Iterator[str]:
    """The table of libraries and targets, or a line if there is only one of both."""
    among = places(found)
    if not among or view.quiet:
        return
    if len(among) == 1:
        library, target, *_ = among[0]
        yield f" in {library} on {target}:\n"
        return
    kept = [column for column in range(len(PLACES)) if any(row[column] for row in among)]
    shown = [tuple(row[column] for column in kept) for row in among[:_MOST_PLACES]]
    yield from render_table([PLACES[column] for column in kept], shown, view)
    if (more := len(among) - _MOST_PLACES) > 0:
        yield f" … {more} more; --by library and --by target sum them up\n"
    yield "\n"


def _kernels(found: Sequence[TrendRow], view: View) -> Iterator[list[Span]]:
    shown = found[: view.top or None]
    columns = [[sparkline(one.history), one.moved_in_words] for one in shown]
    for values in (
        [printable(one.history.library) for one in shown],
        [printable(one.history.latest.target) for one in shown],
    ):
        if len(set(values)) > 1:
            columns = [[*row, value] for row, value in zip(columns, values, strict=True)]
    statuses, places = aligned([(one.row.status,) for one in shown]), aligned(columns)
    for one, status, place in zip(shown, statuses, places, strict=True):
        head = (f" {status}", STYLES.get(one.row.status, ""))
        name = row_name(one.row, view, False)
        line = f"  {place}  {name}  {one.why}".rstrip()
        if not view.fold or cells(head[0] + line) <= view.width:
            yield [head, (line, "")]
            continue
        yield from fitted([head, (f"  {place}".rstrip(), "")], view, _INDENT)
        for part in folded(name, view.width - _INDENT, 2):
            yield [(" " * _INDENT + part, "")]
        yield from fitted([(" " * _INDENT + one.why, "")], view, _INDENT)
    yield from hidden_kernels(len(found) - len(shown))
