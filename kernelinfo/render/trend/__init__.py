"""Rows of a trend: one per moved kernel, worst first; headline, compilers, places, sparklines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.fleet.acceptance import without_versions
from kernelinfo.fleet.history import History, Night, NightStep, Trend
from kernelinfo.kernel import counted, grouped
from kernelinfo.kernel.code_object import member_file
from kernelinfo.render import diff, paint
from kernelinfo.render.diff.text import in_both
from kernelinfo.render.rows import counted_sums

_MEASURES = ("percent", "vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")
"""Measures of sparklines; a kernel's sparkline shows the first one that moved."""
_BARS = "▁▂▃▄▅▆▇█"
_MOST_BARS = 16
_MOST_BUILDS = 12  # builds that are all listed; of more, only those in which something moved


class TrendRow(NamedTuple):
    """One moved kernel."""

    change: diff.ChangedKernel  # as `diff` compares the first build and the last
    history: History
    steps: tuple[tuple[str, str, tuple[str, str] | None], ...]
    """(build, moves in words or `new` or `gone`, first and last commit) of each build in which the
    kernel differs from the build before."""

    @property
    def moved_in(self) -> tuple[str, ...]:
        """Builds in which the kernel differs from the build before."""
        return tuple(build for build, *_ in self.steps)

    @property
    def commits(self) -> tuple[str | None, ...]:
        """For each build of `moved_in`, the commits that may have moved the kernel, as a git
        range: `c41a..c44f`; None where the builds have no label `commit`."""
        return tuple(commits and "..".join(commits) for *_, commits in self.steps)

    @property
    def why(self) -> str:
        """The moves from the first build to the last; if they cancel out, those of each step."""
        if self.change.status != "same":
            return self.change.why
        return "; ".join(": ".join(filter(None, step[:2])) for step in self.steps)

    @property
    def library(self) -> str:
        """The kernel's library; for a member of a package also its file: `torch › libfoo.so`."""
        file = without_versions(member_file(self.history.latest.place[1]).rpartition("/")[2])
        return paint.printable(" › ".join(filter(None, (self.history.library, file))))

    @property
    def moved_in_words(self) -> str:
        """The builds of `moved_in` with their commits: `night-10 c41a..c44f`. Of three or more
        builds only the first, the last and their number: `a … c (3 builds) c41a..c44f`."""
        if len(self.steps) < 3:
            each = (" ".join((build, *_brief(commits))) for build, _, commits in self.steps)
            return paint.printable(", ".join(each))
        (first, _, before), *_, (last, _, after) = self.steps
        whole = (before[0], after[1]) if before and after else None
        return paint.printable(
            " ".join((f"{first} … {last} ({len(self.steps)} builds)", *_brief(whole)))
        )


def rows(trend: Trend) -> list[TrendRow]:
    """One row per kernel that moved. Affected kernels come first, worst first; at the end are
    kernels that moved and moved back, and those that neither the first nor the last build has."""
    by_kernel = {id(history.latest): history for history in trend.histories}
    pairs = [(row, by_kernel.pop(id(row.kernel))) for row in diff.rows(trend.whole)]
    back = [
        history
        for history in by_kernel.values()
        if None in history.filled or any(pair.affected for _, pair in history.steps)
    ]
    back.sort(key=lambda history: (history.latest.name, history.latest.target))
    pairs += [(diff.ChangedKernel("same", h.first or h.latest, h.latest, h.match), h) for h in back]
    latest = [history.latest for history in trend.histories]
    with_options = diff.with_options([row for row, _ in pairs], latest)
    return [
        TrendRow(
            # All options if none tells it apart: kernels that did not move may have others.
            row._replace(options=row.options or diff.options_in_words(row.kernel)),
            history,
            tuple(_steps(history, trend)),
        )
        for row, (_, history) in zip(with_options, pairs, strict=True)
    ]


def _steps(history: History, trend: Trend) -> Iterator[tuple[str, str, tuple[str, str] | None]]:
    """(build, what became of the kernel, commits) of each build in which it moved, came or went."""
    moves = {build: pair.why for build, pair in history.steps}
    for number, (before, now) in enumerate(pairwise(history.filled), 1):
        name, is_same = trend.builds[number].name, (before is None) == (now is None)
        if name in moves or not is_same:
            words = moves.get(name) or ("gone" if now is None else "new")
            yield name, words, _commits(history, trend.builds, number)


def _commits(history: History, builds: Sequence[Night], number: int) -> tuple[str, str] | None:
    """(first, last) commit between which a kernel changed before build `number`; None if a label is
    missing.

    The first is the label `commit` of the nearest earlier build in which the kernel could be read.
    The last is that of the build itself. A build without a label is replaced by the next one with a
    label: an earlier one for the first, a later one for the last.
    """
    sides = zip(builds[:number], history.kernels, strict=False)
    read = (build for build, kernel in sides if kernel or history.library not in build.gaps)
    before = [commit for build in read if (commit := build.labels.get("commit"))]
    after = (commit for build in builds[number:] if (commit := build.labels.get("commit")))
    first, last = next(reversed(before), None), next(after, None)
    return (first, last) if first and last else None


def _brief(commits: tuple[str, str] | None) -> Iterator[str]:
    """The range of commits, if there is one, with hashes cut from 40 to 12 digits."""
    if commits:
        yield re.sub(r"\b([0-9a-f]{12})[0-9a-f]{28}\b", r"\1", "..".join(commits))


def headline(trend: Trend, rows: Sequence[TrendRow]) -> str:
    """The headline: `5 builds, a → e · affected: 1 worse · 1 only renamed`."""
    first, last = trend.builds[0].name, trend.builds[-1].name
    if first == last:
        return f"1 build, {first}: the first, nothing to compare it with yet"
    listed = [row.change for row in rows if row.change.status != "same"]
    moved = diff.headline(listed, trend.within_steps)
    if back := sum(row.change.status == "same" for row in rows):
        moved += f" · {back} as before again"
    return f"{counted(len(trend.builds), 'build')}, {first} → {last} · {moved}"


def step_in_words(step: NightStep) -> str:
    """A step between two builds in words: `affected: 1 worse · gfx90a:xnack+ → gfx90a`."""
    moved = diff.headline(diff.rows(step.comparison), step.within_steps)
    return " · ".join(filter(None, (moved, diff.retargeted(step.comparison))))


def recompiled(trend: Trend) -> list[tuple[str, str]]:
    """(build, changed compilers in words) of each build in which the compiler of a library
    changed."""
    return [
        (
            build.name,
            "; ".join(
                _recompiled_in_words(*stamps, libraries, step.libraries)
                for stamps, libraries in step.recompiled.items()
            ),
        )
        for build, step in zip(trend.builds[1:], trend.steps, strict=False)
        if step.recompiled
    ]


def _recompiled_in_words(
    gone: Sequence[str], added: Sequence[str], libraries: int, among: int
) -> str:
    """`clang 19.1.7 → clang 22.1.8 in 39 of 40 libraries`; `also clang 22.1.8` if no compiler is
    gone, `no longer clang 19.1.7` if none was added. A single library is not counted."""
    old, new = diff.compilers_in_words(gone, added)
    words = f"{old} → {new}" if old and new else f"also {new}" if new else f"no longer {old}"
    words = paint.printable(words)
    if among == 1:
        return words
    return f"{words} in {grouped(libraries)} of {grouped(among)} libraries"


def told_builds(trend: Trend) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(index, cells) of the builds to list.

    Up to 12 builds are all listed; of more, the first, the last, and those in which a kernel is
    affected, came or went, a compiler changed or something could not be read. Cells are the
    number of kernels, the sum of waves per SIMD, the number of spilling kernels, the sums of
    scratch, VGPRs and code, and the step from the build before in words.
    """
    last = len(trend.builds) - 1
    changed = {name for name, _ in recompiled(trend)}
    scratch = paint.sizes([build.sums.scratch_bytes_per_lane for build in trend.builds])
    code = paint.sizes([build.sums.code_bytes for build in trend.builds])
    for index, build in enumerate(trend.builds):
        step = trend.steps[index - 1] if index else None
        moved = step and _has_moved(step.comparison)
        is_edge = index in (0, last) or last < _MOST_BUILDS
        if is_edge or moved or build.problems or build.name in changed:
            sums = build.sums
            counts = map(grouped, (sums.kernels, sums.waves_per_simd, sums.spilling))
            words = step_in_words(step) if step else ""
            yield index, (*counts, scratch[index], grouped(sums.vgprs), code[index], words)


def _has_moved(comparison: Comparison) -> bool:
    """True if a kernel is affected, came or went."""
    has_other = bool(comparison.gone or comparison.new)
    return has_other or any(pair.affected for pair in comparison.pairs)


STATUSES: tuple[diff.Status, ...] = ("worse", "mixed", "changed", "better", "gone", "new")
PLACES = ("library", "target", *STATUSES, "waves lost")
"""Heading of the table of places."""


def places(rows: Iterable[TrendRow]) -> list[tuple[str, ...]]:
    """One row per library and target in which a kernel is affected, gone or new: both names, the
    number of kernels of each of `STATUSES`, and the waves per SIMD lost. Rows with the most `worse`
    kernels come first."""
    counts = defaultdict[tuple[str, str], Counter[str]](Counter)
    lost = defaultdict[tuple[str, str], float](float)
    for row in rows:
        if (status := row.change.status) in STATUSES:
            place = (row.library, row.history.latest.target)
            counts[place][status] += 1
            lost[place] += _waves_lost(row)
    ordered = sorted(
        counts,
        key=lambda place: (-counts[place]["worse"], -lost[place], -counts[place].total(), place),
    )
    return [
        (
            *map(paint.printable, place),
            *(f"{counts[place][status] or ''}" for status in STATUSES),
            grouped(lost[place]) if lost[place] else "",
        )
        for place in ordered
    ]


def _waves_lost(row: TrendRow) -> float:
    moves = {move.measure: move for move in row.change.moves}
    waves = moves.get("waves_per_simd")
    return max(0, (waves.old or 0) - (waves.new or 0)) if waves else 0


def groups(trend: Trend) -> list[tuple[str, ...]]:
    """One row per group: its key, then `HEADINGS`, as `26 → 27` for the first and the last
    build."""
    return in_both(
        [
            (
                group.key.removesuffix(".0"),
                counted_sums(group.old._replace(waves_lost=group.waves_lost)),
                counted_sums(group.new._replace(waves_lost=group.waves_lost)),
            )
            for group in trend.groups
        ]
    )


def sparkline(history: History) -> str:
    """One bar per build, at most 16 bars; with more builds a bar stands for several, and shows the
    worst.

    A bar is the percent of the wave slots, or spills or scratch if no waves moved. The scale ends
    at 100 % or at the largest value. A blank is a build without the kernel.
    """
    field = _measure_of(history)
    values: list[float | None]
    values = [getattr(kernel.numbers, field) if kernel else None for kernel in history.kernels]
    top = 100 if field == "percent" else max(filter(None, values), default=1)
    worst = min if field == "percent" else max
    bars = min(len(values), _MOST_BARS)
    ends = [len(values) * bar // bars for bar in range(bars + 1)]
    shares = [
        [value for value in values[begin:end] if value is not None] for begin, end in pairwise(ends)
    ]
    return "".join(_bar(worst(share), top) if share else " " for share in shares)


def _bar(value: float, top: float) -> str:
    return _BARS[min(int(len(_BARS) * value / top), len(_BARS) - 1)]


def _measure_of(history: History) -> str:
    """The field of `KernelNumbers` that this kernel's sparkline shows."""
    moved = {move.measure for _, pair in history.steps for move in pair.moves}
    if moved & {"waves_per_simd", "percent"}:
        return "percent"
    return next((name for name in _MEASURES if name in moved), "percent")
