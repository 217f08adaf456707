"""Columns of kernels, by the headings of the report's table or the names of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast

from kernelinfo.errors import OptionError, UnknownTargetError, did_you_mean
from kernelinfo.hardware.targets import find as find_target
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.library import library_of, member_file
from kernelinfo.kernel.messages import say
from kernelinfo.kernel.numbers import BY_FIELD
from kernelinfo.kernel.rows import COLUMNS, Value, row
from kernelinfo.model.limits import RESOURCES

SavedRow = Mapping[str, Any]
"""Column of `rows.COLUMNS` -> its value, as JSON lines and datasets hold it."""


class Column(NamedTuple):
    """One column: its value in a kernel's result and in a saved row."""

    name: str
    """Heading in lower case, or the name in rows."""
    kind: str
    """`number`, `kernel`, `target`, `member`, `text`, `constant` or `any` (the type of its values).
    """
    of_result: Callable[[Result], Value]
    reads: tuple[str, ...]
    """The columns of a row that `of` reads."""
    of_row: Callable[[SavedRow], Value] | None = None
    """None: the value in the first of `reads`."""
    largest_first: bool = False
    """True if a sort puts the largest first; the others begin with the least."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles the name, because functions without a name cannot be pickled."""
        return constant if self.kind == "constant" else find, (self.name,)

    def of(self, kernel: Result | SavedRow) -> Value:
        """The value of the column, of a result or of a row; None if it is unknown."""
        if isinstance(kernel, Result):
            return self.of_result(kernel)
        return self.of_row(kernel) if self.of_row else _value_in(kernel, self.reads[0])


def _value_in(row: SavedRow, name: str) -> Value:
    """A value of a row; lists become tuples."""
    found = row.get(name)  # older rows lack columns
    return tuple(found) if isinstance(found, list) else cast(Value, found)


def _spills(result: Result) -> int | None:
    """Spilled VGPRs + SGPRs; None if neither is known."""
    spills = result.kernel.spills
    return None if spills.vgprs is None and spills.sgprs is None else spills.registers


def _spills_of_row(row: SavedRow) -> int | None:
    known = [row[name] for name in ("VGPR_Spills", "SGPR_Spills") if row[name] is not None]
    return sum(known) if known else None


def _vgprs(row: SavedRow) -> int | None:
    """Allocated VGPRs: VGPRs + AGPRs of a unified file, of separate files (gfx908) the VGPRs."""
    vgprs, agprs = row["VGPR_Count"], row["Accum_VGPR_Count"]
    if vgprs is None or agprs is None:
        return None
    try:
        is_separate = find_target((row["Target"] or "").partition(":")[0]).agprs.file == "separate"
    except UnknownTargetError:
        return None
    return int(vgprs if is_separate else vgprs + agprs)


def _limiter(name: str) -> str:
    return next((heading for one, heading in RESOURCES.items() if one == name), name)


_HEADINGS = (
    Column("kernel", "kernel", lambda of: of.kernel.name, ("Kernel_Name", "Symbol")),
    Column("target", "target", lambda of: of.kernel.code_object.target_id, ("Compiled_For",)),
    Column("library", "text", lambda of: library_of(of.kernel.code_object.path), ("Library",)),
    Column(
        "member", "member", lambda of: member_file(of.kernel.code_object.member) or None,
        ("Member",), lambda row: member_file(row["Member"]) or None,
    ),
    Column("file", "text", lambda of: of.kernel.code_object.path, ("Path",)),
    Column(
        "block", "number", lambda of: of.occupancy and of.occupancy.launch.workgroup_size,
        ("Workgroup_Size",), largest_first=True,
    ),
    Column(
        "vgpr", "number", lambda of: of.occupancy and of.occupancy.allocated.vgprs,
        ("VGPR_Count", "Accum_VGPR_Count", "Target"), _vgprs, largest_first=True,
    ),
    Column(
        "agpr", "number", lambda of: of.occupancy and of.occupancy.allocated.agprs,
        ("Accum_VGPR_Count",), largest_first=True,
    ),
    Column(
        "sgpr", "number", lambda of: of.occupancy and of.occupancy.allocated.sgprs,
        ("SGPR_Count",), largest_first=True,
    ),
    # Rows have the allocated LDS, the table the used.
    Column("lds", "number", BY_FIELD["lds_bytes"].of, ("LDS_Block_Size",), largest_first=True),
    Column(
        "scratch", "number", lambda of: of.kernel.used.scratch_bytes_per_lane,
        ("Scratch_Size",), largest_first=True,
    ),
    Column(
        "spills", "number", _spills,
        ("VGPR_Spills", "SGPR_Spills"), _spills_of_row, largest_first=True,
    ),
    Column(
        "waves", "number", lambda of: of.occupancy and of.occupancy.waves_per_simd,
        ("Waves_Per_SIMD",),
    ),
    Column(
        "occ", "number", lambda of: of.occupancy and of.occupancy.percent, ("Occupancy_Percent",)
    ),
    Column(
        "limiters", "any",
        lambda of: of.occupancy and tuple(RESOURCES[one] for one in of.occupancy.limiters),
        ("Limiters",), lambda row: row["Limiters"] and tuple(map(_limiter, row["Limiters"])),
    ),
    Column("code", "number", lambda of: of.kernel.code_bytes, ("Code_Size",), largest_first=True),
    Column(
        "findings", "number", lambda of: len(of.findings), ("Findings",),
        lambda row: len(row["Findings"]) if isinstance(row["Findings"], list) else None,
        largest_first=True,
    ),
)  # fmt: skip
_OTHER_NAMES = {"wavessimd": "waves", "occupancy": "occ", "limitedby": "limiters"}
_OTHER_NAMES |= {"limiter": "limiters", "name": "kernel", "path": "file"}
HEADINGS = tuple(column.name for column in _HEADINGS)
"""Names of columns as the table's headings say them."""


def row_column(name: str) -> Column:
    """The column of `rows.COLUMNS` with this name."""
    return Column(name, "any", lambda result: row(result)[name], (name,))


def constant(name: str) -> Column:
    """The constant or compile option of Triton with this name, in any case of letters."""
    wanted = name.casefold()

    def of_options(options: Value) -> str | None:
        pairs = (one.partition("=") for one in options) if isinstance(options, tuple) else ()
        return {key.casefold(): value for key, _, value in pairs}.get(wanted)

    return Column(
        name,
        "constant",
        lambda result: of_options(result.kernel.code_object.written_options),
        ("Options",),
        lambda row: of_options(_value_in(row, "Options")),
    )


def _plain(name: str) -> str:
    """The name for a comparison: without case, blanks and punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_COLUMNS = {_plain(name): row_column(name) for name in COLUMNS}
_COLUMNS |= {_plain(column.name): column for column in _HEADINGS}
_COLUMNS |= {other: _COLUMNS[name] for other, name in _OTHER_NAMES.items()}


def find(name: str) -> Column | None:
    """The column of a heading or a row's name, in any case of letters; None without one."""
    return _COLUMNS.get(_plain(name))


def suggestion(name: str) -> str:
    """`did you mean waves?`, or the headings if no name is near."""
    near = did_you_mean(name, (*HEADINGS, *COLUMNS))
    return near or say("columns-listed", names=", ".join(HEADINGS))


def named_columns(option: str, text: str) -> tuple[Column, ...]:
    """The columns of a list with commas. Raises `OptionError` if no column has such a name."""
    found = [(name.strip(), find(name)) for name in text.split(",")]
    for name, column in found:
        if column is None:
            raise OptionError(
                say("column-unknown", option=option, text=text, name=name, hint=suggestion(name))
            )
    return tuple(column for _, column in found if column)


def sort(items: Iterable[Item], by: Iterable[Column]) -> list[Item]:
    """The items sorted by columns of their kernels: names and waves ascending, amounts descending.

    Items without a known value come last.
    """
    found = list(items)
    for column in reversed(tuple(by)):
        keyed = [(column.of(one) if isinstance(one, Result) else None, one) for one in found]
        known = [pair for pair in keyed if pair[0] is not None]
        known.sort(key=_value, reverse=column.largest_first)
        found = [one for _, one in (*known, *(pair for pair in keyed if pair[0] is None))]
    return found


def _value(pair: tuple[Any, Item]) -> Any:
    return pair[0]
