"""One row a kernel; columns that rocprofv3's kernel trace also has bear its names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from kernelinfo.kernel import Item, Result
from kernelinfo.render import View
from kernelinfo.render.names import name_of, printable

COLUMNS = (
    "Kernel_Name",
    "Symbol",
    "Target",
    "Compiled_For",
    "Path",
    "Member",
    "Wave_Size",
    "Workgroup_Size",
    "Workgroup_Size_From",
    "VGPR_Count",
    "Accum_VGPR_Count",
    "SGPR_Count",
    "LDS_Block_Size",
    "Scratch_Size",
    "VGPR_Used",
    "AGPR_Used",
    "SGPR_Used",
    "VGPR_Spills",
    "SGPR_Spills",
    "Waves_Per_SIMD",
    "Occupancy_Percent",
    "Exact",
    "Launchable",
    "Limiters",
    "Findings",
)


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    """Empty cells are what the input does not say."""
    yield line(COLUMNS)
    for item in items:
        if isinstance(item, Result):
            yield line(row(item, view))


def row(result: Result, view: View) -> tuple[object, ...]:
    kernel, occupancy = result.kernel, result.occupancy
    allocated = occupancy.allocated if occupancy else None
    launch = occupancy.launch if occupancy else None
    return (
        name_of(kernel, view.names),
        name_of(kernel, "mangled"),
        kernel.target.name if kernel.target else kernel.code_object.target,
        kernel.code_object.target,
        kernel.code_object.path,
        kernel.code_object.member,
        kernel.wave_size,
        launch and launch.workgroup_size,
        launch and launch.assumption,
        allocated and allocated.arch_vgprs,
        allocated and allocated.agprs,
        allocated and allocated.sgprs,
        allocated and allocated.lds_bytes,
        kernel.used.scratch_bytes_per_lane,
        kernel.used.vgprs,
        kernel.used.agprs,
        kernel.used.sgprs,
        kernel.spills.vgprs,
        kernel.spills.sgprs,
        occupancy and occupancy.waves_per_simd,
        occupancy and round(occupancy.percent, 4),
        occupancy and occupancy.exact,
        occupancy and occupancy.launchable,
        occupancy and " ".join(occupancy.limiters),
        " ".join(finding.rule for finding in result.findings),
    )


def line(row: Iterable[object]) -> str:
    """One row of CSV with its newline; names cannot act on a spreadsheet."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: object) -> object:
    """Nothing may act on a terminal; and a spreadsheet must not take a name for a formula."""
    if not isinstance(value, str):
        return value
    shown = printable(value)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown
