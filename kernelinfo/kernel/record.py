"""The record of a kernel: one table of columns, which all lists of a kernel's facts read.

Rows, `--columns`, `--sort`, `--where`, budgets, comparisons, baselines, saved files, datasets and
JSON Schemas (`pytest --regen tests/schemas`) are made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import library_of
from kernelinfo.kernel.column import INSTRUCTIONS as INSTRUCTIONS
from kernelinfo.kernel.column import Column as Column
from kernelinfo.kernel.column import Part as Part
from kernelinfo.kernel.column import Record as Record
from kernelinfo.kernel.column import Type as Type
from kernelinfo.kernel.column import Value as Value
from kernelinfo.model.limits import RESOURCES
from kernelinfo.reading.target_id import compilers


def _of_occupancy(path: str) -> Callable[[Result], Any]:
    read = attrgetter(path)
    return lambda result: result.occupancy and read(result.occupancy)


def _stated(field: str) -> Callable[[Result], Any]:
    return attrgetter(f"kernel.traits.numbers.{field}")


def _step(field: str) -> Callable[[Result], Any]:
    def read(result: Result) -> Any:
        occupancy = result.occupancy
        return getattr(occupancy.next[0], field) if occupancy and occupancy.next else None

    return read


def _target(result: Result) -> str | None:
    origin, target = result.kernel.code_object, result.kernel.target
    return target.name if target and target.name != origin.target else origin.target_id


def _lds_used(result: Result) -> int | None:
    """Static and dynamic LDS per workgroup."""
    static = result.kernel.numbers.lds_bytes
    dynamic = result.occupancy.launch.dynamic_lds_bytes if result.occupancy else 0
    return None if static is None else static + dynamic


def _compilers(result: Result) -> str | None:
    origin = result.kernel.code_object
    first = (origin.compiler,) if origin.compiler else ()
    return BETWEEN_COMPILERS.join(dict.fromkeys((*first, *compilers(origin.stamps)))) or None


BETWEEN_COMPILERS = "; "
_SIZES = ("option", "config", "required", "declared-max", "hardware-max", "graphics-stage")

COLUMNS = (
    Column(
        "Kernel_Name", "string", "Demangled name; as --names says.",
        attrgetter("kernel.name"), is_stated=True, heading="kernel", document="name",
    ),
    Column(
        "Symbol", "string", "Mangled name, without the descriptor's .kd.",
        attrgetter("kernel.symbol"), is_stated=True, document="symbol",
    ),
    Column(
        "Target", "string",
        "Target id that the occupancy is for, with the features that are on or off: "
        "gfx90a:sramecc+:xnack-. Differs from Compiled_For with --as.",
        _target, "code object",
    ),
    Column(
        "Compiled_For", "string", "Target id that the code was compiled for.",
        attrgetter("kernel.code_object.target_id"), "code object", heading="target",
    ),
    Column(
        "Library", "string",
        "Name of the file without folder and version: librocsparse.so; a wheel's or package's "
        "name.",
        lambda result: library_of(result.kernel.code_object.path), "code object",
        is_stated=True, heading="library",
    ),
    Column(
        "Path", "string", "File, as given or as found in a folder.",
        attrgetter("kernel.code_object.path"), "code object",
        is_stated=True, heading="file", document="input.path",
    ),
    Column(
        "Member", "string",
        "Member of the file that the code object is, where the file is a container.",
        attrgetter("kernel.code_object.member"), "code object", heading="member",
        document="input.member",
    ),
    Column(
        "Offset", "integer",
        "Bytes from the start of the file to the code object, or to the compressed part that holds "
        "it; null in assembly.",
        attrgetter("kernel.code_object.offset"), "code object", document="input.offset",
    ),
    Column(
        "Wave_Size", "integer", "Lanes in a wave.",
        _stated("wave_size"), "statement", choices=(32, 64),
        field="wave_size", document="wave_size", topic="launch", unit="lanes in a wave",
        affects=True,
    ),
    Column(
        "Workgroup_Size", "integer", "Work-items in the workgroup that the occupancy assumes.",
        _of_occupancy("launch.workgroup_size"), "statement",
        heading="block", field="workgroup_size", document="workgroup.assumed",
        topic="launch", unit="workitems in a workgroup", affects=True,
    ),
    Column(
        "Workgroup_Size_From", "string",
        "Where that size is from: an option, the configuration, the required size, the declared "
        "maximum, the hardware's maximum, one wave of a graphics stage.",
        _of_occupancy("launch.assumption"), "statement", choices=_SIZES,
        document="workgroup.assumption",
    ),
    Column(
        "VGPR_Count", "integer",
        "Architectural VGPRs allocated per lane, as in rocprofv3's kernel trace.",
        _of_occupancy("allocated.arch_vgprs"), "statement", document="allocated.arch_vgprs",
    ),
    Column(
        "VGPR_Allocated", "integer",
        "VGPRs allocated per lane, which limit the occupancy; AGPRs included where they share one "
        "file.",
        _of_occupancy("allocated.vgprs"), "statement",
        heading="vgpr", field="reserved_vgprs", document="allocated.vgprs", topic="VGPR",
        unit="allocated", key="vgpr", noun="VGPRs allocated", better="less", beside="VGPR_Used",
    ),
    Column(
        "Accum_VGPR_Count", "integer", "AGPRs allocated per lane, as in rocprofv3's kernel trace.",
        _of_occupancy("allocated.agprs"), "statement",
        heading="agpr", field="reserved_agprs", document="allocated.agprs", topic="VGPR",
        unit="AGPRs allocated", key="agpr", noun="AGPRs allocated", better="less",
        beside="AGPR_Used",
    ),
    Column(
        "SGPR_Count", "integer", "SGPRs allocated per wave, without the trap handler's.",
        _of_occupancy("allocated.sgprs"), "statement",
        heading="sgpr", field="reserved_sgprs", document="allocated.sgprs", topic="SGPR",
        unit="allocated", key="sgpr", noun="SGPRs allocated", better="less", beside="SGPR_Used",
    ),
    Column(
        "LDS_Block_Size", "integer", "Bytes of LDS allocated per workgroup, static and dynamic.",
        _of_occupancy("allocated.lds_bytes"), "statement", document="allocated.lds_bytes",
    ),
    Column(
        "LDS_Used", "integer", "Bytes of LDS that a workgroup uses, static and dynamic.",
        _lds_used, "statement",
        heading="lds", field="lds_bytes", document="used.lds_bytes", topic="LDS", unit="B",
        key="lds", noun="B of LDS per workgroup", better="less",
    ),
    Column(
        "Dynamic_LDS", "integer", "Bytes of LDS per workgroup that the launch adds; assumed.",
        _of_occupancy("launch.dynamic_lds_bytes"), "statement", document="used.dynamic_lds_bytes",
    ),
    Column(
        "Scratch_Size", "integer", "Bytes of scratch per lane that are known at compile time.",
        _stated("scratch_bytes_per_lane"), "statement",
        heading="scratch", field="scratch_bytes_per_lane",
        document="used.scratch_bytes_per_lane", topic="scratch", unit="B a lane", key="scratch",
        noun="B of scratch per lane", better="less", affects=True, unless="Dynamic_Stack",
    ),
    Column(
        "Dynamic_Stack", "boolean", "Scratch grows at run time beyond Scratch_Size.",
        _stated("dynamic_stack"), "statement", document="flags.dynamic_stack",
    ),
    Column(
        "VGPR_Used", "integer",
        "VGPRs that the code uses per lane; AGPRs included where they share one file.",
        _stated("vgprs"), "statement",
        heading="vgpr-used", field="vgprs", document="used.vgprs", topic="VGPR", unit="used",
        key="vgpr-used", noun="VGPRs used", better="less", beside="VGPR_Allocated",
    ),
    Column(
        "AGPR_Used", "integer", "AGPRs that the code uses per lane.",
        _stated("agprs"), "statement",
        heading="agpr-used", field="agprs", document="used.agprs", topic="VGPR",
        unit="AGPRs used", key="agpr-used", noun="AGPRs used", better="less",
        beside="Accum_VGPR_Count",
    ),
    Column(
        "SGPR_Used", "integer",
        "SGPRs that the code uses per wave; VCC, flat scratch and XNACK included.",
        _stated("sgprs"), "statement",
        heading="sgpr-used", field="sgprs", document="used.sgprs", topic="SGPR", unit="used",
        key="sgpr-used", noun="SGPRs used", better="less", beside="SGPR_Count",
    ),
    Column(
        "VGPR_Spills", "integer", "VGPRs spilled.",
        _stated("vgpr_spills"), "statement",
        field="vgpr_spills", document="spills.vgprs", topic="spills", unit="VGPRs",
        key="vgpr-spill", noun="VGPRs spilled", better="less", affects=True,
    ),
    Column(
        "SGPR_Spills", "integer", "SGPRs spilled.",
        _stated("sgpr_spills"), "statement",
        field="sgpr_spills", document="spills.sgprs", topic="spills", unit="SGPRs",
        key="sgpr-spill", noun="SGPRs spilled", better="less", affects=True,
    ),
    Column(
        "Code_Size", "integer", "Bytes of the kernel's code, callees excluded.",
        attrgetter("kernel.code_bytes"),
        heading="code", field="code_bytes", document="code_bytes", topic="code", unit="B",
        key="code-size", noun="B of code", better="less",
    ),
    Column(
        "Waves_Per_SIMD", "number", "Resident waves per SIMD; 0 where no workgroup can start.",
        _of_occupancy("waves_per_simd"), "statement",
        heading="waves", field="waves_per_simd", document="occupancy.waves_per_simd",
        topic="occupancy", unit="waves/SIMD", key="waves", noun="waves/SIMD", better="more",
        affects=True,
    ),
    Column(
        "Occupancy_Percent", "number", "Resident waves, in percent of the wave slots.",
        _of_occupancy("percent"), "statement",
        heading="occ", field="percent", document="occupancy.percent", topic="occupancy",
        unit="% of the wave slots", key="occupancy", noun="% occupancy", better="more",
        affects=True,
    ),
    Column(
        "Exact", "boolean", "False where the occupancy is an upper bound.",
        _of_occupancy("exact"), "statement", document="occupancy.exact",
    ),
    Column(
        "Bound_Reason", "string", "Why it is an upper bound; reasons are separated by semicolons.",
        lambda result: result.occupancy and ("; ".join(result.occupancy.at_most_because) or None),
        "statement", document="occupancy.at_most_because",
    ),
    Column(
        "Launchable", "boolean", "Whether one workgroup fits.",
        _of_occupancy("launchable"), "statement", document="occupancy.launchable",
    ),
    Column(
        "Limiters", "array", "Resources that bind, all of a tie; in CSV separated by spaces.",
        _of_occupancy("limiters"), "statement",
        choices=tuple(RESOURCES), heading="limiters", document="occupancy.limiters",
    ),
    Column(
        "Next_Resource", "string",
        "Resource that must shrink for more waves; where several Limiters bind, the first of those "
        "that must shrink together (--format json has each).",
        _step("resource"), "statement",
        choices=("vgpr", "sgpr", "lds", "scratch", "barriers", "slots"),
        document="occupancy.next.0.resource",
    ),
    Column(
        "Next_Change", "integer", "By how much, in registers or bytes; negative for less.",
        _step("change"), "statement", document="occupancy.next.0.change",
    ),
    Column(
        "Next_Waves_Per_SIMD", "number", "Waves per SIMD that this would give.",
        _step("waves_per_simd"), "statement", document="occupancy.next.0.waves_per_simd",
    ),
    Column(
        "Compiler", "string",
        "Stamps of the compilers, that of the kernel's own first, then those of linked libraries; "
        "separated by semicolons.",
        _compilers, "code object",
    ),
    Column(
        "Code_Object_Version", "integer",
        "Version of the code object's ABI, 2 to 6 as LLVM counts them; null in a text that does "
        "not say.",
        attrgetter("kernel.code_object.code_object_version"), "code object",
        document="input.code_object_version",
    ),
    Column(
        "Options", "array",
        "Constants and compile options that Triton's JSON next to the code states: BLOCK_M=128, "
        "num_warps=4; in CSV separated by spaces.",
        attrgetter("kernel.code_object.written_options"), "code object", is_stated=True,
        document="input.options",
    ),
    Column(
        "Code_Object_Kernels", "integer",
        "Kernels that the code object holds, whichever of them are rows.",
        attrgetter("kernel.code_object.kernel_count"), "code object", document="input.kernel_count",
    ),
    Column(
        "Source_File", "string",
        "File in which the kernel is written, from .loc or debug information (--source-lines).",
        lambda result: result.kernel.source and result.kernel.source.file, document="source.file",
    ),
    Column(
        "Source_Line", "integer", "Line of that file.",
        lambda result: result.kernel.source and result.kernel.source.line, document="source.line",
    ),
    Column(
        "Findings", "array", "Rules that found something, by number; in CSV separated by spaces.",
        lambda result: tuple([finding.rule for finding in result.findings]), "statement",
        is_stated=True, heading="findings", document="findings.rule",
    ),
)  # fmt: skip
"""All columns, in the order of rows."""


_TOPICS = ("launch", "occupancy", "VGPR", "SGPR", "LDS", "spills", "scratch", "code")
NUMBERS = tuple(
    sorted(
        (column for column in COLUMNS if column.field),
        key=lambda number: (*_TOPICS, number.topic).index(number.topic),
    )
)
"""Numbers that two builds are compared by, in the order of a comparison's lines."""

NAMES = tuple(column.name for column in COLUMNS)
BY_NAME = {column.name: column for column in (*COLUMNS, *INSTRUCTIONS)}
BY_FIELD = {column.field: column for column in (*NUMBERS, *INSTRUCTIONS)}


def record(result: Result) -> dict[str, Value]:
    """The value of each column for one kernel; None if the input does not say. The columns
    `INSTRUCTIONS` are included if its instructions were counted."""
    columns = (*COLUMNS, *INSTRUCTIONS) if result.kernel.instructions else COLUMNS
    return {column.name: column.value(result) for column in columns}


def compared_value(number: Column, kernel: Result | Record) -> Any:
    """The value of a number; None if it is only a part of the amount."""
    is_part = number.unless and _read(BY_NAME[number.unless], kernel)
    return None if is_part else _read(number, kernel)


def _read(column: Column, kernel: Result | Record) -> Any:
    return column.value(kernel) if isinstance(kernel, Result) else kernel[column.name]
