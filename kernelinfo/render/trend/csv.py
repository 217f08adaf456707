"""A trend as CSV: one row per moved kernel and build, or per group and build, with all numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.fleet.history import Trend
from kernelinfo.kernel.record import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.csv import line
from kernelinfo.render.diff.csv import side
from kernelinfo.render.trend.rows import rows

_HEADING = (
    *("Kernel", "Status", "Match", "Moved_In", "Why", "Library", "Build"),
    *("Kernel_Name", "Symbol", "Target", "Code_Object", *(number.name for number in NUMBERS)),
)


def render(trend: Trend, view: View) -> Iterator[str]:
    """The CSV text, line by line. Column `Kernel` numbers the kernels: rows of one kernel share it,
    also across renames."""
    if trend.by:
        yield from _groups(trend)
        return
    yield line(_HEADING)
    for number, one in enumerate(rows(trend), 1):
        about = (number, one.row.status, one.row.match, one.moved_in, one.why, one.history.library)
        for build, kernel in zip(trend.builds, one.history.kernels, strict=True):
            yield line([*about, build.name, *side(kernel, view)])


def _groups(trend: Trend) -> Iterator[str]:
    """One row per group in the first build and one in the last."""
    sums = ("Kernels", "Waves_Per_SIMD", "Spilling", "Scratch_Size", "VGPR_Used", "Code_Size")
    yield line([trend.by, "Waves_Lost", "Build", *sums])
    for group in trend.groups:
        for build, of in ((trend.builds[0], group.old), (trend.builds[-1], group.new)):
            yield line([group.key, group.waves_lost, build.name, *of])
