"""Numbers and hardware terms as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelinfo.model import Occupancy
from kernelinfo.model.limits import RESOURCES, Resource
from kernelinfo.model.placement import Launch
from kernelinfo.render.names import printable
from kernelinfo.rules.remark import waves_per_simd as waves_per_simd

if TYPE_CHECKING:
    from kernelinfo.kernel.columns import Column
    from kernelinfo.kernel.rows import Value


def number(value: float) -> str:
    """A number without trailing zeros: 8, 5.5, 0.25."""
    return f"{value:.4g}"


def percent(value: float) -> str:
    return f"{number(round(value, 1))} %"


def known(count: int | None) -> str:
    """The count; `?` if it is unknown."""
    return "?" if count is None else str(count)


def bound(exact: bool | None) -> str:
    """`≤` for an upper bound; empty for an exact number."""
    return "≤" if exact is False else ""


def size(count: int | None) -> str:
    """A number of bytes, in KiB if quarters are exact: `16.5 KiB`; `?` if it is unknown."""
    if count is None:
        return "?"
    if count >= 1024 and count % 256 == 0:
        return f"{count / 1024:.2f}".rstrip("0").rstrip(".") + " KiB"
    return f"{count} B" if count else "0"


def bare(resource: Resource, value: int) -> str:
    """The amount without the resource's name: `96`, `32 KiB`."""
    return size(value) if resource in ("lds", "scratch") else str(value)


def amount(resource: Resource, value: int) -> str:
    """The amount with the resource's name: `96 VGPRs`, `32 KiB LDS`."""
    many = "" if resource in ("lds", "scratch") else "s"
    return f"{bare(resource, value)} {RESOURCES[resource]}{many}"


def change(resource: Resource, value: int) -> str:
    """The amount with its sign: `+14`, `−32 KiB`."""
    return f"{'+' if value > 0 else '−'}{bare(resource, abs(value))}"


def block(launch: Launch) -> str:
    """Workitems of the workgroup; `–` for a graphics stage."""
    return "–" if launch.assumption == "graphics-stage" else str(launch.workgroup_size)


def limiters(occupancy: Occupancy) -> str:
    """All limiters (`VGPR LDS`), or a text that no workgroup can start."""
    if not occupancy.launchable:
        return "cannot launch"
    return " ".join(RESOURCES[limiter] for limiter in occupancy.limiters)


def compiler_name(stamp: str) -> str:
    """Name and version (`clang 19.1.7`) from a compiler's stamp; printable, empty for no stamp."""
    before, found, after = printable(stamp).partition("clang version ")
    if not found:
        return before
    vendor = "AMD " if before.startswith("AMD") else ""
    return f"{vendor}clang {after.split(' ')[0].split('-')[0]}"


def column_cell(column: Column, value: Value) -> str:
    """The text of a value in a table: sizes with their unit, `?` for an unknown value."""
    if value is None:
        return "?"
    if isinstance(value, tuple):
        return " ".join(value)
    if column.name in ("lds", "scratch", "code") and isinstance(value, int):
        return size(value)
    return number(value) if isinstance(value, float) else str(value)
