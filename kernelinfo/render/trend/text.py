"""A trend for people: builds, libraries and targets, then moved kernels, worst first."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from kernelinfo.fleet.history import BuildTotals, Trend
from kernelinfo.kernel import counted
from kernelinfo.render import NameStyle, View
from kernelinfo.render.diff import rows as diff
from kernelinfo.render.diff.text import COLUMNS, STYLES, cells_in_markdown
from kernelinfo.render.names import BETWEEN, name_of, printable, several, told_apart
from kernelinfo.render.paint import (
    Span,
    aligned,
    entry_lines,
    fitted,
    hidden,
    painted,
    table_lines,
)
from kernelinfo.render.rows import HEADINGS
from kernelinfo.render.tables import code, folded, kernel_table, markdown_table, plain
from kernelinfo.render.trend.rows import (
    PLACES,
    TrendRow,
    groups,
    headline,
    places,
    recompiled,
    rows,
    sparkline,
    told_builds,
)

_HEADING = (
    *("build", "kernels", "waves/SIMD", "spilling", "scratch", "VGPRs", "code"),
    "since the build before",
)
_NARROW = 72  # columns in which the builds take short headings
_MOST_PLACES = 20
_INDENT = 10


def render(trend: Trend, view: View) -> Iterator[str]:
    moved = rows(trend)
    yield from painted(fitted([(headline(trend, moved), "bold")], view, 1), view)
    yield "\n"
    for build, words in recompiled(trend):
        line = [(f" compiler of {printable(build)}: {words}", "")]
        yield from painted(fitted(line, view, 3), view)
    if not view.quiet:
        yield from ["\n"] if recompiled(trend) else []
        is_narrow = view.fold and view.width < _NARROW
        columns = [word.removesuffix("/SIMD") if is_narrow else word for word in _HEADING]
        lines = [columns, *_builds(trend)]
        yield from painted(table_lines(lines, "t" * (len(columns) - 1) + "d", view), view)
        yield " sums over the kernels of a build; VGPRs as used\n\n"
    if trend.by:
        sums = [(trend.by, *HEADINGS), *groups(trend)]
        yield from painted(table_lines(sums, "tnnnnnn", view), view)
        return
    yield from _places(moved, view)
    yield from painted(_kernels(moved, view), view)


def _builds(trend: Trend) -> Iterator[tuple[str, ...]]:
    before = -1
    for index, (*numbers, step) in told_builds(trend):
        if left_out := index - before - 1:
            note = f"{counted(left_out, 'build')} without a kernel affected"
            yield ("…", *("",) * (len(_HEADING) - 2), note)
        before, build = index, trend.builds[index]
        about = " · ".join(filter(None, (step, *_about(build))))
        yield printable(build.name), *numbers, about


def _about(build: BuildTotals) -> Iterator[str]:
    """Gaps, problems and labels of a build."""
    if build.gaps:
        yield printable(f"gap: {several(build.gaps)}")
    if build.problems:
        yield counted(build.problems, "problem")
    if build.accepted_problems:
        yield counted(build.accepted_problems, "accepted problem")
    yield printable(", ".join(f"{name}={value}" for name, value in build.labels.items()))


def _places(moved: Sequence[TrendRow], view: View) -> Iterator[str]:
    """The table of libraries and targets, or a line if there is only one of both."""
    among = places(moved)
    if not among or view.quiet:
        return
    if len(among) == 1:
        library, target, *_ = among[0]
        yield f" in {library} on {target}:\n"
        return
    kept = [column for column in range(len(PLACES)) if any(row[column] for row in among)]
    shown = [tuple(row[column] for column in kept) for row in among[:_MOST_PLACES]]
    lines = [[PLACES[column] for column in kept], *shown]
    kinds = "".join("t" if column < 2 else "n" for column in kept)
    yield from painted(table_lines(lines, kinds, view), view)
    if (rest := len(among) - _MOST_PLACES) > 0:
        yield f" … {rest} more; --by library and --by target sum them up\n"
    yield "\n"


def _kernels(moved: Sequence[TrendRow], view: View) -> Iterator[list[Span]]:
    names = diff.fitting_names([row.change for row in moved[: view.top or None]], view)
    equal_rows, libraries, called = _fold(moved, names, view.top or None)
    first = [equal[0] for equal in equal_rows]
    targets = [printable(row.history.latest.target) for row in first]
    columns = [
        [sparkline(row.history) for row in first],
        [row.moved_in_words for row in first],
        *(values for values in (libraries, targets) if len({*values}) > 1),
    ]
    places = aligned([*zip(*columns, strict=True)])
    statuses = aligned([(row.change.status,) for row in first])
    for row, status, place, name in zip(first, statuses, places, called, strict=True):
        head = (f" {status}", STYLES.get(row.change.status, ""))
        yield from entry_lines([head, (f"  {place}  ", "")], name, row.why, view, _INDENT)
    yield from hidden(len(moved) - sum(map(len, equal_rows)))


def _fold(
    moved: Sequence[TrendRow], names: NameStyle, top: int | None
) -> tuple[list[list[TrendRow]], list[str], list[str]]:
    """Rows that are equal but for their library, in their order, `top` of them if it is set; their
    libraries; and their names, in which namesakes of one library and target are told apart."""
    equal: dict[tuple[str, ...], list[TrendRow]] = {}
    for row in moved:
        name = diff.arrow(*(name_of(kernel, names) for kernel in row.change.sides))
        if row.change.options:
            name += BETWEEN + row.change.options
        seen = (row.change.status, sparkline(row.history), row.moved_in_words, row.why)
        equal.setdefault((name, row.history.latest.target, *seen), []).append(row)
    groups = [*equal.values()][:top]
    libraries = [several(row.library for row in group) for group in groups]
    places = [" ".join((name, *key[1:2])) for name, key in zip(libraries, equal, strict=False)]
    texts = [f"{place} {name}" for place, (name, *_) in zip(places, equal, strict=False)]
    apart = told_apart([[row.change.kernel for row in group] for group in groups], texts)
    called = [
        text[len(place) + 1 :] + f" × {len(group)}" * (len(group) > 1)
        for group, place, text in zip(groups, places, apart, strict=True)
    ]
    return groups, libraries, called


_BUILDS = ("build", "kernels", "waves/SIMD summed", "spilling", "scratch", "code", "moved")
_COLUMNS = (COLUMNS[0], "in", "library", *COLUMNS[1:])
_FOLDED = {
    "gone and new": ("gone", "new"),
    "moved within their steps or only renamed": ("moved", "renamed"),
    "as before again": ("same",),
}
"""Title of a folded table -> status of its kernels."""


def render_markdown(trend: Trend, view: View) -> Iterator[str]:
    moved = rows(trend)
    yield f"**kernelinfo trend · {plain(headline(trend, moved))}**\n"
    for build, words in recompiled(trend):
        yield f"\nCompiler of {code(build)}: {plain(words)}\n"
    if trend.by:
        yield from markdown_table(
            (trend.by, *HEADINGS), [tuple(map(plain, row)) for row in groups(trend)]
        )
    else:
        yield from _moved_in_markdown(moved, view)
    builds = [
        (code(trend.builds[index].name), *numbers, code_bytes, plain(step))
        for index, (*numbers, _, code_bytes, step) in told_builds(trend)
    ]
    yield from folded("builds", _BUILDS, builds)


def _moved_in_markdown(moved: list[TrendRow], view: View) -> Iterator[str]:
    among = [tuple(map(plain, row)) for row in places(moved)]
    yield from markdown_table(PLACES, among[:_MOST_PLACES])
    yield from folded(f"{len(among) - _MOST_PLACES} more", PLACES, among[_MOST_PLACES:])

    def cells(statuses: Container[str]) -> list[tuple[str, ...]]:
        shown = (row for row in moved if row.change.status in statuses)
        return [_cells_in_markdown(row, view) for row in shown]

    yield from kernel_table(_COLUMNS, cells(diff.AFFECTED))
    for title, statuses in _FOLDED.items():
        yield from folded(title, _COLUMNS, cells(statuses))


def _cells_in_markdown(row: TrendRow, view: View) -> tuple[str, ...]:
    status, name, target, _ = cells_in_markdown(row.change, view)
    name += plain(BETWEEN + row.change.options) if row.change.options else ""
    return status, plain(row.moved_in_words), code(row.library), name, target, plain(row.why)
