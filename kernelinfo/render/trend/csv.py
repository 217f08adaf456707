"""A trend as CSV: one row per moved kernel and build, or per group and build, with all numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.fleet.history import Trend
from kernelinfo.kernel.record import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.diff.csv import side
from kernelinfo.render.tables import WRITERS, Row, Table
from kernelinfo.render.trend.rows import rows

_HEADING = (
    *("Kernel", "Status", "Match", "Moved_In", "Why", "Library", "Build"),
    *("Kernel_Name", "Symbol", "Target", "Code_Object", *(number.name for number in NUMBERS)),
)
_SUMS = ("Kernels", "Waves_Per_SIMD", "Spilling", "Scratch_Size", "VGPR_Used", "Code_Size")


def render(trend: Trend, view: View) -> Iterator[str]:
    """The CSV text, line by line. Column `Kernel` numbers the kernels: rows of one kernel share it,
    also across renames."""
    if trend.by:
        table = Table((trend.by, "Waves_Lost", "Build", *_SUMS), _groups(trend))
    else:
        table = Table(_HEADING, _kernels(trend, view))
    return WRITERS["csv"](table, view)


def _kernels(trend: Trend, view: View) -> Iterator[Row]:
    for number, one in enumerate(rows(trend), 1):
        about = (number, one.row.status, one.row.match, one.moved_in, one.why, one.history.library)
        for build, kernel in zip(trend.builds, one.history.kernels, strict=True):
            yield *about, build.name, *side(kernel, view)


def _groups(trend: Trend) -> Iterator[Row]:
    """One row per group in the first build and one in the last."""
    for group in trend.groups:
        for build, of in ((trend.builds[0], group.old), (trend.builds[-1], group.new)):
            yield group.key, group.waves_lost, build.name, *of
