"""A trend as CSV: one row per moved kernel and build, with all numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.fleet.history import Trend
from kernelinfo.kernel.numbers import NUMBERS
from kernelinfo.render import View
from kernelinfo.render.csv import line
from kernelinfo.render.diff.csv import side
from kernelinfo.render.trend.rows import rows

_HEADING = (
    *("Kernel", "Status", "Match", "Moved_In", "Why", "Build"),
    *("Kernel_Name", "Symbol", "Target", "Code_Object", *(number.column for number in NUMBERS)),
)


def render(trend: Trend, view: View) -> Iterator[str]:
    """The CSV text, line by line. Column `Kernel` numbers the kernels: rows of one kernel share it,
    also across renames."""
    yield line(_HEADING)
    for number, one in enumerate(rows(trend), 1):
        about = (number, one.row.status, one.row.match, one.moved_in, one.why)
        for build, kernel in zip(trend.builds, one.history.kernels, strict=True):
            yield line([*about, build.name, *side(kernel, view)])
