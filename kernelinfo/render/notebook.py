"""The HTML table of a report in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kernelinfo.kernel import Result
from kernelinfo.kernel.record import record
from kernelinfo.render.paint import bound, cell, printable

_SHOWN = 60  # rows, as in pandas
_COLUMNS = {
    "Kernel_Name": "kernel",
    "Target": "target",
    "Workgroup_Size": "block",
    "VGPR_Count": "VGPR",
    "Accum_VGPR_Count": "AGPR",
    "SGPR_Count": "SGPR",
    "LDS_Block_Size": "LDS, B",
    "Scratch_Size": "scratch, B",
    "VGPR_Spills": "VGPRs spilled",
    "Waves_Per_SIMD": "waves/SIMD",
    "Occupancy_Percent": "occupancy, %",
    "Limiters": "limited by",
    "Findings": "findings",
}
"""Column of a row → heading of the table."""
_BOUNDED = ("Waves_Per_SIMD", "Occupancy_Percent")
"""Columns that are upper bounds if the row is not exact."""


def html_table(results: Sequence[Result]) -> str:
    """HTML table of the first 60 rows, and below it the number of the others."""
    heading = "".join(f"<th>{text}</th>" for text in _COLUMNS.values())
    rows = "\n".join(_row(result) for result in results[:_SHOWN])
    rest = f"<p>… {len(results) - _SHOWN} more kernels</p>" if len(results) > _SHOWN else ""
    return f"<table>\n<tr>{heading}</tr>\n{rows}\n</table>\n{rest}"


def _row(result: Result) -> str:
    values = record(result)
    at_most = bound(result.occupancy and result.occupancy.exact)
    texts = {name: escape(printable(cell(values[name]))) for name in _COLUMNS}
    cells = (at_most * (name in _BOUNDED) + text for name, text in texts.items())
    return f"<tr>{''.join(f'<td>{text}</td>' for text in cells)}</tr>"
