"""The flat row of a kernel, for CSV, JSON lines and `Report.rows()`.

render/row-schema.json describes each column and its unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from itertools import chain

from kernelinfo.kernel import CodeObject, Finding, Item, Kernel, Result
from kernelinfo.kernel.library import library_of
from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.reading import stamps
from kernelinfo.reading.target_id import target_id

Value = str | int | float | tuple[str, ...] | None
Values = tuple[Value, ...]
Names = tuple[str, ...]
Spell = Callable[[Names, Values], str]
"""(names, values) of neighbouring columns → their text."""

FORMULA = re.compile(r"'*\s*(?:[=+\-@＝＋－＠]|::)")
"""Start of a CSV cell that a spreadsheet takes for a formula, or a CI service for a command.

The writer puts an apostrophe before such a cell. The pattern skips the cell's own apostrophes, so
that every cell reads back unchanged."""
_KERNEL = ("Kernel_Name", "Symbol")
_ORIGIN = ("Target", "Compiled_For", "Library", "Path", "Member", "Offset")
_RESOURCES = (
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
_SIZE = ("Code_Size",)
_OCCUPANCY = (
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
_BUILD = ("Compiler", "Code_Object_Kernels")
_SOURCE = ("Source_File", "Source_Line")
_FINDINGS = ("Findings",)
COLUMNS: Names = _KERNEL + _ORIGIN + _RESOURCES + _SIZE + _OCCUPANCY + _BUILD + _SOURCE + _FINDINGS
"""Names of the columns. Columns of rocprofv3's kernel trace keep its names, so that tables join."""

BETWEEN_COMPILERS = "; "


def row(result: Result) -> dict[str, Value]:
    """Column → value of one kernel; None if the input does not say."""
    kernel, occupancy = result.kernel, result.occupancy
    values = chain(
        (kernel.name, kernel.symbol),
        _origin(kernel),
        _resources(kernel.traits, occupancy),
        (kernel.code_bytes,),
        _reached(occupancy),
        _build(kernel.code_object),
        _source(kernel),
        _findings(result.findings),
    )
    return dict(zip(COLUMNS, values, strict=True))


def lines(items: Iterable[Item], name: Callable[[Kernel], str], spell: Spell) -> Iterator[str]:
    """One line of text per kernel: its columns spelled by `spell`, joined by commas.

    Equal values of neighbouring columns are spelled once. `name` returns the `Kernel_Name`.
    """
    code_object: CodeObject | None = None
    groups = (_KERNEL, _RESOURCES, _SIZE, _OCCUPANCY, _SOURCE, _FINDINGS)
    named, resources, size, reached, source, found = (_texts(spell, names) for names in groups)
    for kernel, occupancy, findings in (item for item in items if isinstance(item, Result)):
        if kernel.code_object is not code_object:
            code_object = kernel.code_object
            origin = spell(_ORIGIN, _origin(kernel))
            build = spell(_BUILD, _build(code_object))
        yield ",".join(
            (
                named((name(kernel), kernel.symbol)),
                origin,
                resources(_resources(kernel.traits, occupancy)),
                size((kernel.code_bytes,)),
                reached(_reached(occupancy)),
                build,
                source(_source(kernel)),
                found(_findings(findings)),
            )
        )


@cache
def _texts(spell: Spell, names: Names) -> Callable[[Values], str]:
    """A cached `spell` for these columns; the cache saves a third of a report's time."""
    return lru_cache(maxsize=1 << 14)(partial(spell, names))


def _origin(kernel: Kernel) -> Values:
    origin = kernel.code_object
    compiled_for = target = origin.target and target_id(origin.target, origin.features)
    if kernel.target and kernel.target.name != origin.target:
        target = kernel.target.name
    library = library_of(origin.path)
    return target, compiled_for, library, origin.path, origin.member, origin.offset


def _resources(traits: Traits, occupancy: Occupancy | None) -> Values:
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


def _reached(occupancy: Occupancy | None) -> Values:
    if occupancy is None:
        return (None,) * len(_OCCUPANCY)
    step = next(iter(occupancy.next), None)
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


def _build(code_object: CodeObject) -> Values:
    own = (code_object.compiler,) if code_object.compiler else ()
    compilers = dict.fromkeys((*own, *stamps.compilers(code_object.stamps)))
    return BETWEEN_COMPILERS.join(compilers) or None, code_object.kernel_count


def _source(kernel: Kernel) -> Values:
    return tuple(kernel.source) if kernel.source else (None, None)


def _findings(findings: tuple[Finding, ...]) -> Values:
    return (tuple([finding.rule for finding in findings]),)
