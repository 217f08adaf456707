"""A column of the record of a kernel, the columns that count instructions, and the guard of CSV
cells that a spreadsheet or a CI service would run."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import matrix_loop_copies

Value = str | int | float | tuple[str, ...] | None
Record = Mapping[str, Any]
"""Column → value of one kernel, as JSON lines, CSV and datasets hold it; None where the input does
not say."""

Type = Literal["string", "integer", "number", "boolean", "array"]
"""Type of a column's values in JSON; of an array, strings."""

Part = Literal["kernel", "code object", "statement"]
"""What the values of a column depend on: the kernel, its code object, or its statement. A statement
is what the compiler states of a kernel, its occupancy and its findings; many kernels share one."""


class Column(NamedTuple):
    """One fact of a kernel, with its name and unit in every place."""

    name: str
    """In rows. Columns of rocprofv3's kernel trace keep its names, so that tables join."""
    type: Type
    about: str
    """Description with unit."""
    value: Callable[[Result], Value]
    part: Part = "kernel"
    is_stated: bool = False
    """True if it is never None."""
    choices: tuple[str | int, ...] = ()
    """All values that it can have, if they are few."""
    heading: str = ""
    """In tables, `--columns`, `--sort` and `--where`; empty for a column without a short name."""
    field: str = ""
    """Field of `Numbers` and `KernelNumbers`; empty if the column is not compared."""
    document: str = ""
    """Path of keys in the JSON document from the kernel's object, joined by dots; `input` leads to
    its code object, a number into a list, and a key after a list to the key of each member."""
    topic: str = ""
    """Label of its line in a comparison."""
    unit: str = ""
    """Text after the value in a comparison."""
    key: str = ""
    """Key of budgets; empty if the gate cannot bound it."""
    noun: str = ""
    """Text after the value in a message."""
    better: Literal["less", "more", ""] = ""
    affects: bool = False
    """True if a kernel counts as affected when the number moves. Registers, LDS and code are not:
    their cost shows in the occupancy."""
    beside: str = ""
    """Column of the same registers, used or allocated: a message says both where they differ."""
    unless: str = ""
    """Column that is true where the value is only a part of the amount: it is not compared then."""

    @property
    def is_gain(self) -> bool:
        """True if more is better."""
        return self.better == "more"


def _count(place: int, name: str, unit: str, noun: str, about: str) -> Column:
    """The number of instructions of one class; `place` is its index in `InstructionCounts`."""
    field = name.lower()

    def value(result: Result) -> int | None:
        return result.kernel.instructions and result.kernel.instructions[place]

    better: Literal["less", "more"] = "more" if name == "Matrix" else "less"
    key = field.replace("_", "-")
    return Column(
        name, "integer", about, value,
        field=field, topic="instructions", unit=unit, key=key, noun=noun, better=better,
    )  # fmt: skip


def _matrix_loop_copies(result: Result) -> int | None:
    kernel = result.kernel
    if not kernel.instructions or kernel.loops is None:
        return None
    return matrix_loop_copies(kernel.loops)


def _of_loops(
    result: Result, field: Literal["in_flight", "wait_distance"], choose: Callable[..., int]
) -> int | None:
    """The largest or smallest of the loops' numbers; None if no loop has one."""
    kernel = result.kernel
    loops = (kernel.loops or ()) if kernel.instructions else ()
    numbers = [getattr(loop, field) for loop in loops]
    stated = [number for number in numbers if number is not None]
    return choose(stated) if stated else None


def _needs(result: Result) -> int | None:
    needs = result.kernel.needs
    return needs.vector if needs and needs.exact else None


_CLASSES = (
    (
        "Instructions", "in all", "instructions",
        "Instructions of the code, callees excluded. This and the next columns are there with "
        "--instructions; null if not all are known. The 14 classes from Vector to Other add up to "
        "it.",
    ),
    ("Vector", "vector", "vector instructions", "VALU, without matrix instructions and copies."),
    ("Matrix", "matrix", "matrix instructions", "MFMA, SMFMAC, WMMA and SWMMAC."),
    (
        "Scalar", "scalar", "scalar instructions",
        "SALU instructions, without branches, waits and barriers.",
    ),
    ("LDS_Instructions", "LDS", "LDS instructions", "LDS instructions (ds_*) and LDS-direct."),
    ("Loads", "loads", "loads", "Loads from global, flat, buffer, image and tensor memory."),
    ("Stores", "stores", "stores", "Stores to the same."),
    ("Atomics", "atomics", "atomics", "Atomics on global, flat, buffer and image memory."),
    ("Scalar_Loads", "scalar loads", "scalar loads", "Scalar loads, stores and atomics."),
    (
        "Scratch_Instructions", "scratch", "accesses of scratch",
        "Accesses of scratch, spills included.",
    ),
    ("Branches", "branches", "branches", "Branches and calls."),
    ("Waits", "waits", "waits", "Waits for counters and events."),
    ("Barriers", "barriers", "barriers", "Barriers of a workgroup or cluster."),
    ("Copies", "copies", "copies", "Moves between VGPRs and AGPRs, and from a VGPR to another."),
    (
        "Other", "other", "other instructions",
        "No operation, end, export, cache, message, delay and priority.",
    ),
    (
        "Load_Bytes", "B loaded", "B that a lane loads",
        "Bytes that one lane loads if every load runs once; null also if a load does not say its "
        "width.",
    ),
    (
        "Store_Bytes", "B stored", "B that a lane stores",
        "Bytes that one lane stores if every store runs once; null also if a store does not say "
        "its width.",
    ),
)  # fmt: skip
"""Name, unit, noun and description of the columns of `InstructionCounts`, in its order."""
INSTRUCTIONS = (
    *(_count(place, *texts) for place, texts in enumerate(_CLASSES)),
    Column(
        "Matrix_Loop_Copies", "integer",
        "Copies in the innermost loop with matrix instructions that has most; 0 without one.",
        _matrix_loop_copies, field="matrix_loop_copies", topic="instructions",
        unit="copies in a matrix loop", key="matrix-loop-copies", noun="copies in a matrix loop",
        better="less",
    ),
    Column(
        "Max_In_Flight", "integer",
        "Most loads from global or FLAT memory that a wave has in flight in a loop; null without "
        "such a loop, or if what its waits wait for is not known.",
        lambda result: _of_loops(result, "in_flight", max),
        field="max_in_flight", topic="instructions", unit="loads in flight", key="in-flight",
        noun="loads in flight", better="more",
    ),
    Column(
        "Min_Wait_Distance", "integer",
        "Fewest instructions between such a load and a wait for it, both in one loop; null also if "
        "no loop waits for one.",
        lambda result: _of_loops(result, "wait_distance", min),
        field="min_wait_distance", topic="instructions", unit="instructions before a wait",
        key="wait-distance", noun="instructions between load and wait", better="more",
    ),
    Column(
        "Needs", "integer",
        "Vector registers per lane that the code needs at once, spill slots included; null if they "
        "cannot be told, or only a lower bound.",
        _needs, field="needs", topic="VGPR", unit="needed", key="needs", noun="registers needed",
        better="less",
    ),
)  # fmt: skip
"""Columns after all others, only if asked for; None if not counted."""


_FORMULA = re.compile(r"'*\s*(?:[=+\-@＝＋－＠]|::)")
"""Start of a cell that a spreadsheet takes for a formula, or a CI service for a command.

The pattern skips the cell's own apostrophes, so that every cell reads back unchanged."""


def guarded(cell: str) -> str:
    """The cell, with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The cell as it was before `guarded`."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell, 1) else cell
