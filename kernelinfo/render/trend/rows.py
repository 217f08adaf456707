"""Rows of a trend: one per moved kernel, worst first; headline and sparklines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kernelinfo.compare import Comparison
from kernelinfo.fleet.history import History, Trend
from kernelinfo.render.diff import rows as diff
from kernelinfo.rules.remark import counted

_MEASURES = ("percent", "vgpr_spills", "sgpr_spills", "scratch_bytes_per_lane")
"""Measures of sparklines; a kernel's sparkline shows the first one that moved."""
_BARS = "▁▂▃▄▅▆▇█"


class TrendRow(NamedTuple):
    """One moved kernel."""

    row: diff.ChangedKernel  # as `diff` compares the first build and the last
    history: History
    moved_in: tuple[str, ...]  # builds in which it differs from the build before

    @property
    def why(self) -> str:
        """The moves from the first build to the last; if they cancel out, those of each step."""
        if self.row.status != "same":
            return self.row.why
        return "; ".join(f"{build}: {pair.why}" for build, pair in self.history.steps)


def rows(trend: Trend) -> list[TrendRow]:
    """One row per moved kernel: affected ones first, worst first; those that came back last."""
    by_kernel = {id(one.latest): one for one in trend.histories}
    found = [(row, by_kernel.pop(id(row.kernel))) for row in diff.rows(trend.whole)]
    back = [one for one in by_kernel.values() if any(pair.affected for _, pair in one.steps)]
    back.sort(key=lambda one: (one.latest.name, one.latest.target))
    found += [(diff.ChangedKernel("same", one.first, one.last, one.match), one) for one in back]
    return [TrendRow(row, history, _moved_in(history, trend)) for row, history in found]


def _moved_in(history: History, trend: Trend) -> tuple[str, ...]:
    """Names of the builds in which the kernel moved, came or went."""
    steps = {build for build, _ in history.steps}
    kernels = history.kernels
    return tuple(
        build.name
        for build, before, now in zip(trend.builds[1:], kernels, kernels[1:], strict=False)
        if build.name in steps or (before is None) != (now is None)
    )


def headline(trend: Trend, found: Sequence[TrendRow]) -> str:
    """The headline: `5 builds, a → e · affected: 1 worse · 1 only renamed · clang 19.1.7 → clang
    22.1.8`."""
    first, last = trend.builds[0].name, trend.builds[-1].name
    moved = diff.headline([one.row for one in found if one.row.status != "same"])
    if back := sum(one.row.status == "same" for one in found):
        moved += f" · {back} as before again"
    parts = (f"{counted(len(trend.builds), 'build')}, {first} → {last}", moved)
    return " · ".join(filter(None, (*parts, diff.toolchain(trend.whole))))


def step_in_words(of: Comparison) -> str:
    """A step between two builds in words: `affected: 1 worse · clang 19.1.7 → clang 22.1.8`."""
    parts = (diff.headline(diff.rows(of)), diff.retargeted(of), diff.toolchain(of))
    return " · ".join(filter(None, parts))


def sparkline(history: History) -> str:
    """One bar per build: percent of the wave slots, or spills or scratch if no waves moved. The
    scale ends at 100 % or at the largest value. A blank is a build without the kernel."""
    field = _measure_of(history)
    values: list[float | None]
    values = [getattr(kernel, field) if kernel else None for kernel in history.kernels]
    most = 100 if field == "percent" else max(filter(None, values), default=1)
    return "".join(
        " " if value is None else _BARS[min(int(len(_BARS) * value / most), len(_BARS) - 1)]
        for value in values
    )


def _measure_of(history: History) -> str:
    """The field of `KernelSummary` for the sparkline of this kernel."""
    moved = {move.measure for _, pair in history.steps for move in pair.moves}
    if "waves_per_simd" in moved:
        return "percent"
    return next((name for name in _MEASURES if name in moved), "percent")
