"""A trend in each format: builds, libraries and targets, then moved kernels, worst first."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from kernelinfo import __version__
from kernelinfo.fleet.acceptance import without_versions
from kernelinfo.fleet.history import Night, Trend
from kernelinfo.kernel import counted, record
from kernelinfo.kernel.columns import KernelSums
from kernelinfo.kernel.names import KernelName
from kernelinfo.render import NameStyle, View, diff, html, paint, tables
from kernelinfo.render import trend as trends
from kernelinfo.render.diff.data import compilers, side, summary_document
from kernelinfo.render.diff.text import COLUMNS, STYLES, cells_in_markdown
from kernelinfo.render.json import encoded
from kernelinfo.render.names import BETWEEN, member_path, name_of, printable, several, told_apart
from kernelinfo.render.rows import HEADINGS

_HEADING = (
    *("build", "kernels", "waves/SIMD", "spilling", "scratch", "VGPRs", "code"),
    "since the build before",
)
_NARROW = 72  # columns in which the builds take short headings
_MOST_PLACES = 20
_INDENT = 10


def render_text(trend: Trend, view: View) -> Iterator[str]:
    moved = trends.rows(trend)
    yield from paint.painted(paint.fitted([(trends.headline(trend, moved), "bold")], view, 1), view)
    yield "\n"
    for build, words in trends.recompiled(trend):
        line = [(f" compiler of {printable(build)}: {words}", "")]
        yield from paint.painted(paint.fitted(line, view, 3), view)
    if not view.quiet:
        yield from ["\n"] if trends.recompiled(trend) else []
        is_narrow = view.fold and view.width < _NARROW
        columns = [word.removesuffix("/SIMD") if is_narrow else word for word in _HEADING]
        lines = [columns, *_builds(trend)]
        yield from paint.painted(
            paint.table_lines(lines, "t" * (len(columns) - 1) + "d", view), view
        )
        yield " sums over the kernels of a build; VGPRs as used\n\n"
    if trend.by:
        sums = [(trend.by, *HEADINGS), *trends.groups(trend)]
        yield from paint.painted(paint.table_lines(sums, "tnnnnnn", view), view)
        return
    yield from _places(moved, view)
    yield from paint.painted(_kernel_lines(moved, view), view)


def _builds(trend: Trend) -> Iterator[tuple[str, ...]]:
    before = -1
    for index, (*numbers, step) in trends.told_builds(trend):
        if left_out := index - before - 1:
            note = f"{counted(left_out, 'build')} without a kernel affected"
            yield ("…", *("",) * (len(_HEADING) - 2), note)
        before, build = index, trend.builds[index]
        about = " · ".join(filter(None, (step, *_about(build))))
        yield printable(build.name), *numbers, about


def _about(build: Night) -> Iterator[str]:
    """Gaps, problems and labels of a build."""
    if build.gaps:
        yield printable(f"gap: {several(build.gaps)}")
    if build.problems:
        yield counted(build.problems, "problem")
    if build.accepted_problems:
        yield counted(build.accepted_problems, "accepted problem")
    yield printable(", ".join(f"{name}={value}" for name, value in build.labels.items()))


def _places(moved: Sequence[trends.TrendRow], view: View) -> Iterator[str]:
    """The table of libraries and targets; with only one of each, a line that names both."""
    among = trends.places(moved)
    if not among or view.quiet:
        return
    if len(among) == 1:
        library, target, *_ = among[0]
        yield f" in {library} on {target}:\n"
        return
    kept = [column for column in range(len(trends.PLACES)) if any(row[column] for row in among)]
    shown = [tuple(row[column] for column in kept) for row in among[:_MOST_PLACES]]
    lines = [[trends.PLACES[column] for column in kept], *shown]
    kinds = "".join("t" if column < 2 else "n" for column in kept)
    yield from paint.painted(paint.table_lines(lines, kinds, view), view)
    if (rest := len(among) - _MOST_PLACES) > 0:
        yield f" … {rest} more; --by library and --by target sum them up\n"
    yield "\n"


def _kernel_lines(moved: Sequence[trends.TrendRow], view: View) -> Iterator[list[paint.Span]]:
    names = diff.fitting_names([row.change for row in moved[: view.top or None]], view)
    equal_rows, libraries, called = _fold(moved, names, view.top or None)
    first = [equal[0] for equal in equal_rows]
    targets = [printable(row.history.latest.target) for row in first]
    columns = [
        [trends.sparkline(row.history) for row in first],
        [row.moved_in_words for row in first],
        *(values for values in (libraries, targets) if len({*values}) > 1),
    ]
    places = paint.aligned([*zip(*columns, strict=True)])
    statuses = paint.aligned([(row.change.status,) for row in first])
    for row, status, place, name in zip(first, statuses, places, called, strict=True):
        head = (f" {status}", STYLES.get(row.change.status, ""))
        yield from paint.entry_lines([head, (f"  {place}  ", "")], name, row.why, view, _INDENT)
    yield from paint.hidden(len(moved) - sum(map(len, equal_rows)))


def _fold(
    moved: Sequence[trends.TrendRow], names: NameStyle, top: int | None
) -> tuple[list[list[trends.TrendRow]], list[str], list[str]]:
    """(groups of rows, their libraries, their names), in the order of the rows. Rows that differ
    only in library form a group; at most `top` groups if that is set.

    Names of groups that share name, library and target are extended until they differ.
    """
    equal: dict[tuple[str, ...], list[trends.TrendRow]] = {}
    for row in moved:
        name = diff.arrow(*(name_of(kernel, names) for kernel in row.change.sides))
        if row.change.options:
            name += BETWEEN + row.change.options
        seen = (row.change.status, trends.sparkline(row.history), row.moved_in_words, row.why)
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
    moved = trends.rows(trend)
    yield f"**kernelinfo trend · {tables.plain(trends.headline(trend, moved))}**\n"
    for build, words in trends.recompiled(trend):
        yield f"\nCompiler of {tables.code(build)}: {tables.plain(words)}\n"
    if trend.by:
        yield from tables.markdown_table(
            (trend.by, *HEADINGS), [tuple(map(tables.plain, row)) for row in trends.groups(trend)]
        )
    else:
        yield from _moved_in_markdown(moved, view)
    builds = [
        (tables.code(trend.builds[index].name), *numbers, code_bytes, tables.plain(step))
        for index, (*numbers, _, code_bytes, step) in trends.told_builds(trend)
    ]
    yield from tables.folded("builds", _BUILDS, builds)


def _moved_in_markdown(moved: list[trends.TrendRow], view: View) -> Iterator[str]:
    among = [tuple(map(tables.plain, row)) for row in trends.places(moved)]
    yield from tables.markdown_table(trends.PLACES, among[:_MOST_PLACES])
    yield from tables.folded(
        f"{len(among) - _MOST_PLACES} more", trends.PLACES, among[_MOST_PLACES:]
    )

    def cells(statuses: Container[str]) -> list[tuple[str, ...]]:
        shown = (row for row in moved if row.change.status in statuses)
        return [_cells_in_markdown(row, view) for row in shown]

    yield from tables.kernel_table(_COLUMNS, cells(diff.AFFECTED))
    for title, statuses in _FOLDED.items():
        yield from tables.folded(title, _COLUMNS, cells(statuses))


def _cells_in_markdown(row: trends.TrendRow, view: View) -> tuple[str, ...]:
    status, name, target, _ = cells_in_markdown(row.change, view)
    name += tables.plain(BETWEEN + row.change.options) if row.change.options else ""
    return (
        status,
        tables.plain(row.moved_in_words),
        tables.code(row.library),
        name,
        target,
        tables.plain(row.why),
    )


# A trend for programs: JSON, of which trend-schema.json describes every key, and CSV.

SCHEMA = "kernelinfo/trend/1"
OF_BUILD = ("problems", "accepted_problems", "labels", "gaps")
"""Fields of a build that its document states besides its name and sums."""


def render_json(trend: Trend, view: View) -> Iterator[str]:
    moved = trends.rows(trend)
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "dataset": trend.dataset,
        "builds": list(map(build_document, trend.builds)),
        "steps": [
            {
                "old": old.name,
                "new": new.name,
                "counts": diff.counts(diff.rows(step.comparison), step.within_steps),
                "compilers": compilers(step.comparison),
                "libraries": step.libraries,
                "recompiled": [
                    {"old": gone, "new": added, "libraries": libraries}
                    for (gone, added), libraries in step.recompiled.items()
                ],
            }
            for (old, new), step in zip(pairwise(trend.builds), trend.steps, strict=True)
        ],
        "unfinished": trend.unfinished,
        "by": trend.by,
        "groups": [
            group._asdict() | {"old": _sums(group.old), "new": _sums(group.new)}
            for group in trend.groups
        ],
        "kernels": map(_kernel, moved),
    }
    yield from encoded(document)


def build_document(build: Night) -> dict[str, Any]:
    """A build and its sums, as `trend-schema.json` describes them."""
    about = {name: getattr(build, name) for name in OF_BUILD}
    return {"name": build.name, **_sums(build.sums), **about}


def _sums(sums: KernelSums) -> dict[str, Any]:
    """The sums by their names, without the waves lost, which belong to both builds of a group."""
    return dict(zip(_SUMS, sums, strict=False))


def _kernel(row: trends.TrendRow) -> dict[str, Any]:
    return {
        "status": row.change.status,
        "library": row.history.library,
        "match": row.change.match,
        "why": row.why,
        "moved_in": row.moved_in,
        "commits": row.commits,
        "history": [summary_document(kernel) for kernel in row.history.kernels],
        "steps": [
            {"build": build, "why": pair.why, "moves": [move._asdict() for move in pair.moves]}
            for build, pair in row.history.steps
        ],
    }


_CSV_HEADING = (
    *("Kernel", "Status", "Match", "Moved_In", "Commits", "Why", "Library", "Build"),
    *(
        "Kernel_Name",
        "Symbol",
        "Target",
        "Code_Object",
        *(number.name for number in record.NUMBERS),
    ),
)
_SUMS = {
    "kernels": "Kernels",
    "waves_per_simd": "Waves_Per_SIMD",
    "spilling": "Spilling",
    "worst_spills": "Worst_Spills",
    "scratch_bytes_per_lane": "Scratch_Size",
    "vgprs": "VGPR_Used",
    "code_bytes": "Code_Size",
}
"""Sum of a build -> its column."""


def render_csv(trend: Trend, view: View) -> Iterator[str]:
    """The CSV text, line by line. Column `Kernel` numbers the kernels: rows of one kernel share it,
    also across renames."""
    if trend.by:
        table = tables.Table((trend.by, "Waves_Lost", "Build", *_SUMS.values()), _groups(trend))
    else:
        table = tables.Table(_CSV_HEADING, _csv_rows(trend, view))
    return tables.WRITERS["csv"](table, view)


def _csv_rows(trend: Trend, view: View) -> Iterator[tables.Row]:
    for number, row in enumerate(trends.rows(trend), 1):
        commits = tuple(commits or "-" for commits in row.commits)
        about = (number, row.change.status, row.change.match, row.moved_in, commits, row.why)
        for build, kernel in zip(trend.builds, row.history.kernels, strict=True):
            yield *about, row.history.library, build.name, *side(kernel, view)


def _groups(trend: Trend) -> Iterator[tables.Row]:
    """One row per group in the first build and one in the last."""
    for group in trend.groups:
        for build, sums in ((trend.builds[0], group.old), (trend.builds[-1], group.new)):
            yield group.key, group.waves_lost, build.name, *_sums(sums).values()


# A trend as one HTML page: builds, and moved kernels with their curves.

SCRIPTS = (*html.TABLE_SCRIPTS, "status.js", "trend.js")
_MEASURES = (
    *("waves_per_simd", "exact", "vgprs", "vgpr_spills", "scratch_bytes_per_lane"),
    "code_bytes",
)
"""Fields of `KernelNumbers` that the page draws."""


def render_html(trend: Trend, view: View) -> Iterator[str]:
    yield from html.page(_pieces(trend, view), SCRIPTS)


def _pieces(trend: Trend, view: View) -> Iterator[str]:
    moved = trends.rows(trend)
    yield html.piece(
        {
            "headline": trends.headline(trend, moved),
            "builds": list(map(build_document, trend.builds)),
            "steps": ["", *map(trends.step_in_words, trend.steps)],
            "recompiled": trends.recompiled(trend),
            "moved_in": [trends.PLACES, *trends.places(moved)],
            "groups": [(trend.by, *HEADINGS), *trends.groups(trend)] if trend.by else [],
            "measures": _MEASURES,
        }
    )
    titles, origins = html.Shared[KernelName](), html.Shared[Hashable]()

    def cells(row: trends.TrendRow) -> list[Any]:
        texts = row.change.status, printable(row.why), row.moved_in_words, _also(row)
        curves = [
            [kernel and getattr(kernel.numbers, measure) for kernel in row.history.kernels]
            for measure in _MEASURES
        ]
        return [*texts, titles(html.title(row.history.latest)), origins(_origin(row)), curves]

    for batch in html.batches(moved):
        changed = [cells(row) for row in batch]
        yield html.piece(
            {
                "rows": changed,
                "titles": html.fresh_titles(titles, view.names),
                "origins": origins.fresh(),
            }
        )
    yield html.piece(
        {"rows": [], "titles": [], "origins": [], "briefs": html.brief_titles(titles, view.names)}
    )


def _origin(row: trends.TrendRow) -> tuple[str, str, str]:
    """(target, library and member file without versions, its short name) of the latest build."""
    target, location, name = html.place_of(row.history.latest)
    file = without_versions(location.partition(" › ")[2])
    return target, member_path(row.history.library, file), name


def _also(row: trends.TrendRow) -> str:
    """Triton's constants, and the old name of a renamed kernel."""
    old = row.change.old
    renamed = old and old.name != row.history.latest.name
    was = printable(f"was {old.name}") if old and renamed else ""
    return " · ".join(filter(None, (row.change.options, was)))
