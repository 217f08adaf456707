"""Columns of kernels, by the headings of the report's table or the names of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast

from kernelinfo.errors import OptionError, UnknownTargetError, did_you_mean
from kernelinfo.hardware.targets import find as find_target
from kernelinfo.kernel import Item, Result
from kernelinfo.kernel.library import library_of, member_file
from kernelinfo.kernel.rows import COLUMNS, Value, row
from kernelinfo.model import Occupancy
from kernelinfo.model.limits import RESOURCES

Kind = str
SavedRow = Mapping[str, Any]
"""Column of `rows.COLUMNS` -> its value, as JSON lines and datasets hold it."""
"""`number`, `kernel`, `target`, `member`, `text` or `any` (the type of its values)."""


class Column(NamedTuple):
    """One column: a function from a kernel's result to its value."""

    name: str
    """Heading in lower case, or the name in rows."""
    kind: Kind
    largest_first: bool = False
    """True if a sort puts the largest first; the others begin with the least."""

    def of(self, kernel: Result | SavedRow) -> Value:
        """The value of the column, of a result or of a row; None if it is unknown."""
        if not isinstance(kernel, Result):
            of_row = _OF_ROW.get(self.name)
            return of_row(kernel) if of_row else _value_in(kernel, self.reads[0])
        of = _OF.get(self.name)
        return of(kernel) if of else row(kernel)[self.name]

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of a row that `of` reads."""
        return _READ.get(self.name, (self.name,))


def _value_in(row: SavedRow, name: str) -> Value:
    """A value of a row; lists become tuples."""
    found = row.get(name)  # older rows lack columns
    return tuple(found) if isinstance(found, list) else cast(Value, found)


def _of_occupancy(number: Callable[[Occupancy], Any]) -> Callable[[Result], Any]:
    return lambda result: None if result.occupancy is None else number(result.occupancy)


def _lds(result: Result) -> int | None:
    """Static and dynamic LDS in bytes per workgroup, as the table shows it."""
    used = result.kernel.used.lds_bytes
    dynamic = result.occupancy.launch.dynamic_lds_bytes if result.occupancy else 0
    return None if used is None else used + dynamic


def _spills(result: Result) -> int | None:
    """Spilled VGPRs + SGPRs; None if neither is known."""
    spills = result.kernel.spills
    return None if spills.vgprs is None and spills.sgprs is None else spills.registers


_OF: dict[str, Callable[[Result], Value]] = {
    "kernel": lambda result: result.kernel.name,
    "target": lambda result: result.kernel.code_object.target_id,
    "library": lambda result: library_of(result.kernel.code_object.path),
    "member": lambda result: member_file(result.kernel.code_object.member) or None,
    "file": lambda result: result.kernel.code_object.path,
    "block": _of_occupancy(lambda found: found.launch.workgroup_size),
    "vgpr": _of_occupancy(lambda found: found.allocated.vgprs),
    "agpr": _of_occupancy(lambda found: found.allocated.agprs),
    "sgpr": _of_occupancy(lambda found: found.allocated.sgprs),
    "lds": _lds,
    "scratch": lambda result: result.kernel.used.scratch_bytes_per_lane,
    "spills": _spills,
    "waves": _of_occupancy(lambda found: found.waves_per_simd),
    "occ": _of_occupancy(lambda found: found.percent),
    "limiters": _of_occupancy(lambda found: tuple(RESOURCES[one] for one in found.limiters)),
    "code": lambda result: result.kernel.code_bytes,
    "findings": lambda result: len(result.findings),
}


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


_READ: dict[str, tuple[str, ...]] = {
    "kernel": ("Kernel_Name", "Symbol"),
    "target": ("Compiled_For",),
    "library": ("Library",),
    "member": ("Member",),
    "file": ("Path",),
    "block": ("Workgroup_Size",),
    "vgpr": ("VGPR_Count", "Accum_VGPR_Count", "Target"),
    "agpr": ("Accum_VGPR_Count",),
    "sgpr": ("SGPR_Count",),
    "lds": ("LDS_Block_Size",),
    "scratch": ("Scratch_Size",),
    "spills": ("VGPR_Spills", "SGPR_Spills"),
    "waves": ("Waves_Per_SIMD",),
    "occ": ("Occupancy_Percent",),
    "limiters": ("Limiters",),
    "code": ("Code_Size",),
    "findings": ("Findings",),
}
"""Heading -> columns of a row with its value. Rows have the allocated LDS, the table the used."""
_OF_ROW: dict[str, Callable[[SavedRow], Value]] = {
    "member": lambda row: member_file(row["Member"]) or None,
    "vgpr": _vgprs,
    "spills": _spills_of_row,
    "limiters": lambda row: row["Limiters"] and tuple(map(_limiter, row["Limiters"])),
    "findings": lambda row: len(row["Findings"]) if isinstance(row["Findings"], list) else None,
}
_LARGEST_FIRST = (
    *("block", "vgpr", "agpr", "sgpr", "lds", "scratch", "spills", "code", "findings"),
)
_KINDS = {"kernel": "kernel", "target": "target", "member": "member", "limiters": "any"}
_TEXTS = ("library", "file")
_OTHER_NAMES = {"wavessimd": "waves", "occupancy": "occ", "limitedby": "limiters"}
_OTHER_NAMES |= {"limiter": "limiters", "name": "kernel", "path": "file"}
HEADINGS = tuple(_OF)
"""Names of columns as the table's headings say them."""


def _kind(name: str) -> Kind:
    return _KINDS.get(name, "text" if name in _TEXTS else "number")


def _plain(name: str) -> str:
    """The name for a comparison: without case, blanks and punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_COLUMNS = {_plain(name): Column(name, "any") for name in COLUMNS}
_COLUMNS |= {_plain(name): Column(name, _kind(name), name in _LARGEST_FIRST) for name in _OF}
_COLUMNS |= {other: _COLUMNS[name] for other, name in _OTHER_NAMES.items()}


def row_column(name: str) -> Column:
    """The column of `rows.COLUMNS` with this name."""
    return Column(name, "any")


def find(name: str) -> Column | None:
    """The column of a heading or a row's name, in any case of letters; None without one."""
    return _COLUMNS.get(_plain(name))


def suggestion(name: str) -> str:
    """`did you mean waves?`, or the headings if no name is near."""
    near = did_you_mean(name, (*HEADINGS, *COLUMNS))
    return near or f"give one of {', '.join(HEADINGS)}"


def named_columns(option: str, text: str) -> tuple[Column, ...]:
    """The columns of a list with commas. Raises `OptionError` if no column has such a name."""
    found = [(name.strip(), find(name)) for name in text.split(",")]
    for name, column in found:
        if column is None:
            raise OptionError(f"{option} {text}: no column {name!r}; {suggestion(name)}")
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
