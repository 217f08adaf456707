"""Rows of register pressure, one per kernel; columns are named as in the report's rows."""

from __future__ import annotations

from collections.abc import Iterable

from kernelinfo.kernel.record import INSTRUCTIONS
from kernelinfo.pressure.measure import Measured, MeasureItem
from kernelinfo.render import View
from kernelinfo.render.names import name_of
from kernelinfo.render.tables import Table

COLUMNS = (
    *("Kernel_Name", "Symbol", "Target", "Path", "Member", "Instructions", "VGPR_Used"),
    *("AGPR_Used", "SGPR_Used", "Vector_Peak", "VGPR_Peak", "AGPR_Peak", "SGPR_Peak"),
    *("Peak_Line", "Peak_Address", "Peak_Source_File", "Peak_Source_Line", "Peak_Loop"),
    *("Next_At_Most", "Instructions_Above", "Exact", "Reasons"),
    *(column.name for column in INSTRUCTIONS[1:]),
)


def rows_table(items: Iterable[MeasureItem], view: View) -> Table:
    """The row of each kernel; pressure-row-schema.json has each column."""
    return Table(COLUMNS, (_row(item, view) for item in items if isinstance(item, Measured)))


def _row(one: Measured, view: View) -> list[object]:
    """The values of `COLUMNS` for one kernel; None if the input does not state it."""
    kernel, story = one.result.kernel, one.story
    peak, at = story.peak, story.peak.at
    advice = story.advice[0] if story.advice else None
    return [
        name_of(kernel, view.names),
        kernel.symbol,
        kernel.code_object.target,
        kernel.code_object.path,
        kernel.code_object.member,
        story.instructions,
        *story.used,
        *peak.pressure,
        at.line,
        at.address,
        *(at.source or (None, None)),
        peak.loop,
        *((advice.at_most, advice.above) if advice else (None, None)),
        story.exact,
        "; ".join(story.reasons),
        *story.code.counts[1:],
    ]
