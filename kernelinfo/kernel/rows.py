"""The flat row of a kernel, for CSV, JSON lines and `Report.rows()`: groups of columns.

render/row-schema.json describes each column and its unit.
"""

from __future__ import annotations

from itertools import chain

from kernelinfo.kernel import Finding, Kernel, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.library import library_of
from kernelinfo.kernel.numbers import INSTRUCTION_NUMBERS
from kernelinfo.kernel.traits import Traits
from kernelinfo.model import Occupancy
from kernelinfo.reading.target_id import compilers as compilers_of

Value = str | int | float | tuple[str, ...] | None
ColumnValues = tuple[Value, ...]
ColumnNames = tuple[str, ...]

KERNEL = ("Kernel_Name", "Symbol")
ORIGIN = ("Target", "Compiled_For", "Library", "Path", "Member", "Offset")
RESOURCES = (
    "Wave_Size",
    "Workgroup_Size",
    "Workgroup_Size_From",
    "VGPR_Count",
    "Accum_VGPR_Count",
    "SGPR_Count",
    "LDS_Block_Size",
    "Dynamic_LDS",
    "Scratch_Size",
    "Dynamic_Stack",
    "VGPR_Used",
    "AGPR_Used",
    "SGPR_Used",
    "VGPR_Spills",
    "SGPR_Spills",
)
SIZE = ("Code_Size",)
OCCUPANCY = (
    "Waves_Per_SIMD",
    "Occupancy_Percent",
    "Exact",
    "Bound_Reason",
    "Launchable",
    "Limiters",
    "Next_Resource",
    "Next_Change",
    "Next_Waves_Per_SIMD",
)
BUILD = ("Compiler", "Options", "Code_Object_Kernels")
SOURCE = ("Source_File", "Source_Line")
FINDINGS = ("Findings",)
INSTRUCTIONS = tuple(number.column for number in INSTRUCTION_NUMBERS)
"""Columns of `InstructionCounts`, behind all others and only if asked for."""
COLUMNS: ColumnNames = KERNEL + ORIGIN + RESOURCES + SIZE + OCCUPANCY + BUILD + SOURCE + FINDINGS
"""Names of the columns. Columns of rocprofv3's kernel trace keep its names, so that tables join."""

BETWEEN_COMPILERS = "; "


def row(result: Result) -> dict[str, Value]:
    """Column → value of one kernel; None if the input does not say.

    The columns `INSTRUCTIONS` are in it if its instructions are counted.
    """
    kernel, occupancy = result.kernel, result.occupancy
    values = chain(
        (kernel.name, kernel.symbol),
        origin_values(kernel),
        resource_values(kernel.traits, occupancy),
        (kernel.code_bytes,),
        occupancy_values(occupancy),
        build_values(kernel.code_object),
        source_values(kernel),
        finding_values(result.findings),
    )
    found = dict(zip(COLUMNS, values, strict=True))
    if kernel.instructions:
        found |= zip(INSTRUCTIONS, kernel.instructions, strict=True)
    return found


def origin_values(kernel: Kernel) -> ColumnValues:
    """Values of the columns `ORIGIN`."""
    origin = kernel.code_object
    compiled_for = target = origin.target_id
    if kernel.target and kernel.target.name != origin.target:
        target = kernel.target.name
    library = library_of(origin.path)
    return target, compiled_for, library, origin.path, origin.member, origin.offset


def resource_values(traits: Traits, occupancy: Occupancy | None) -> ColumnValues:
    """Values of the columns `RESOURCES`."""
    allocated = occupancy.allocated if occupancy else None
    launch = occupancy.launch if occupancy else None
    numbers = traits.numbers
    return (
        numbers.wave_size,
        launch and launch.workgroup_size,
        launch and launch.assumption,
        allocated and allocated.arch_vgprs,
        allocated and allocated.agprs,
        allocated and allocated.sgprs,
        allocated and allocated.lds_bytes,
        launch and launch.dynamic_lds_bytes,
        numbers.scratch_bytes_per_lane,
        numbers.dynamic_stack,
        numbers.vgprs,
        numbers.agprs,
        numbers.sgprs,
        numbers.vgpr_spills,
        numbers.sgpr_spills,
    )


def occupancy_values(occupancy: Occupancy | None) -> ColumnValues:
    """Values of the columns `OCCUPANCY`; None without an occupancy."""
    if occupancy is None:
        return (None,) * len(OCCUPANCY)
    step = occupancy.next[0] if occupancy.next else None
    return (
        occupancy.waves_per_simd,
        occupancy.percent,
        occupancy.exact,
        "; ".join(occupancy.at_most_because) or None,
        occupancy.launchable,
        occupancy.limiters,
        step and step.resource,
        step and step.change,
        step and step.waves_per_simd,
    )


def build_values(code_object: CodeObject) -> ColumnValues:
    """Values of the columns `BUILD`."""
    own = (code_object.compiler,) if code_object.compiler else ()
    compilers = dict.fromkeys((*own, *compilers_of(code_object.stamps)))
    stamps = BETWEEN_COMPILERS.join(compilers) or None
    return stamps, code_object.written_options, code_object.kernel_count


def source_values(kernel: Kernel) -> ColumnValues:
    """Values of the columns `SOURCE`; None without debug information."""
    return tuple(kernel.source) if kernel.source else (None, None)


def finding_values(findings: tuple[Finding, ...]) -> ColumnValues:
    """Value of the column `FINDINGS`: the numbers of the rules."""
    return (tuple([finding.rule for finding in findings]),)


def instruction_values(kernel: Kernel) -> ColumnValues:
    """Values of the columns `INSTRUCTIONS`."""
    return tuple(kernel.instructions or (None,) * len(INSTRUCTIONS))
