"""The table of a kernel's numbers that are saved, compared, gated and listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kernelinfo.kernel import Result


class Number(NamedTuple):
    """One number of a kernel, with its value, its names in each place and its unit."""

    field: str
    """Field of `KernelNumbers` and name of the `Fact`."""
    of: Callable[[Result], float | None]
    """Its value under the launch of the occupancy; None if the input does not say."""
    document: str
    """Path of keys in the JSON document, joined by dots; empty if it is not in there."""
    column: str
    """Column in CSV comparisons, and in rows that have it."""
    topic: str
    """Label of its line in a comparison."""
    unit: str
    """Text behind the value in a comparison."""
    key: str = ""
    """Key in the configuration; empty if the gate cannot bound it."""
    noun: str = ""
    """Text behind the value in a message."""
    about: str = ""
    """Description in the documentation of the configuration."""
    better: Literal["less", "more", ""] = ""
    affects: bool = False
    """True if a kernel counts as affected when the number moves. Registers, LDS and code are not:
    their cost shows in the occupancy."""

    @property
    def is_gain(self) -> bool:
        """True if more is better."""
        return self.better == "more"


def _lds_bytes(of: Result) -> int | None:
    """Static and dynamic LDS per workgroup."""
    known = of.kernel.traits.numbers.lds_bytes
    dynamic = of.occupancy.launch.dynamic_lds_bytes if of.occupancy else 0
    return known if known is None else known + dynamic


def _scratch(of: Result) -> int | None:
    """Bytes of scratch per lane; None if it grows at run time: its known part is no total."""
    numbers = of.kernel.traits.numbers
    return None if numbers.dynamic_stack else numbers.scratch_bytes_per_lane


NUMBERS = (
    Number(
        "workgroup_size", lambda of: of.occupancy and of.occupancy.launch.workgroup_size,
        "workgroup.assumed", "Workgroup_Size", "launch", "workitems in a workgroup", affects=True,
    ),
    Number(
        "wave_size", lambda of: of.kernel.traits.numbers.wave_size, "wave_size", "Wave_Size",
        "launch", "lanes in a wave", affects=True,
    ),
    Number(
        "waves_per_simd", lambda of: of.occupancy and of.occupancy.waves_per_simd,
        "occupancy.waves_per_simd", "Waves_Per_SIMD", "occupancy", "waves/SIMD",
        "waves", "waves/SIMD", "Resident waves per SIMD.", "more", affects=True,
    ),
    Number(
        "percent", lambda of: of.occupancy and of.occupancy.percent,
        "occupancy.percent", "Occupancy_Percent", "occupancy", "% of the wave slots",
        "occupancy", "% occupancy", "Resident waves, % of the slots.", "more", affects=True,
    ),
    Number(
        "vgprs", lambda of: of.kernel.traits.numbers.vgprs,
        "used.vgprs", "VGPR_Used", "VGPR", "used",
        "vgpr", "VGPRs used", "VGPRs used per lane; AGPRs included where they share one file.",
        "less",
    ),
    Number(
        "reserved_vgprs", lambda of: of.occupancy and of.occupancy.allocated.vgprs,
        "allocated.vgprs", "VGPR_Allocated", "VGPR", "allocated", noun="VGPRs allocated",
    ),
    Number(
        "agprs", lambda of: of.kernel.traits.numbers.agprs,
        "used.agprs", "AGPR_Used", "VGPR", "AGPRs",
        "agpr", "AGPRs used", "AGPRs used per lane.", "less",
    ),
    Number(
        "sgprs", lambda of: of.kernel.traits.numbers.sgprs,
        "used.sgprs", "SGPR_Used", "SGPR", "used",
        "sgpr", "SGPRs used", "SGPRs used per wave.", "less",
    ),
    Number(
        "reserved_sgprs", lambda of: of.occupancy and of.occupancy.allocated.sgprs,
        "allocated.sgprs", "SGPR_Count", "SGPR", "allocated", noun="SGPRs allocated",
    ),
    Number(
        "lds_bytes", _lds_bytes, "used.lds_bytes", "LDS_Used", "LDS", "B",
        "lds", "B of LDS per workgroup", "Bytes of LDS per workgroup.", "less",
    ),
    Number(
        "vgpr_spills", lambda of: of.kernel.traits.numbers.vgpr_spills,
        "spills.vgprs", "VGPR_Spills",
        "spills", "VGPRs", "vgpr-spill", "VGPRs spilled", "VGPRs spilled.", "less", affects=True,
    ),
    Number(
        "sgpr_spills", lambda of: of.kernel.traits.numbers.sgpr_spills,
        "spills.sgprs", "SGPR_Spills",
        "spills", "SGPRs", "sgpr-spill", "SGPRs spilled", "SGPRs spilled.", "less", affects=True,
    ),
    Number(
        "scratch_bytes_per_lane", _scratch, "used.scratch_bytes_per_lane", "Scratch_Size",
        "scratch", "B a lane",
        "scratch", "B of scratch per lane", "Bytes of scratch per lane.", "less", affects=True,
    ),
    Number(
        "code_bytes", lambda of: of.kernel.code_bytes, "code_bytes", "Code_Size", "code", "B",
        "code-size", "B of code", "Bytes of code, callees excluded.", "less",
    ),
)  # fmt: skip
"""All numbers, in the order of a comparison's lines."""


def _counted(place: int, column: str, unit: str, noun: str) -> Number:
    """The number of instructions of one class; `place` is its index in `InstructionCounts`."""
    field = column.lower()

    def value(of: Result) -> int | None:
        return of.kernel.instructions and of.kernel.instructions[place]

    key, about = field.replace("_", "-"), f"{noun[0].upper()}{noun[1:]} (`explain instructions`)."
    better: Literal["less", "more"] = "more" if column == "Matrix" else "less"
    return Number(field, value, "", column, "instructions", unit, key, noun, about, better)


INSTRUCTION_NUMBERS = tuple(
    _counted(place, *names)
    for place, names in enumerate(
        (
            ("Instructions", "in all", "instructions"),
            ("Vector", "vector", "vector instructions"),
            ("Matrix", "matrix", "matrix instructions"),
            ("Scalar", "scalar", "scalar instructions"),
            ("LDS_Instructions", "LDS", "LDS instructions"),
            ("Loads", "loads", "loads"),
            ("Stores", "stores", "stores"),
            ("Atomics", "atomics", "atomics"),
            ("Scalar_Loads", "scalar loads", "scalar loads"),
            ("Scratch_Instructions", "scratch", "accesses of scratch"),
            ("Branches", "branches", "branches"),
            ("Waits", "waits", "waits"),
            ("Barriers", "barriers", "barriers"),
            ("Copies", "copies", "copies"),
            ("Other", "other", "other instructions"),
            ("Load_Bytes", "B loaded", "B that a lane loads"),
            ("Store_Bytes", "B stored", "B that a lane stores"),
        )
    )
)
"""Numbers of instructions by class, in the order of `InstructionCounts`. None if not counted."""

BY_FIELD = {number.field: number for number in (*NUMBERS, *INSTRUCTION_NUMBERS)}
