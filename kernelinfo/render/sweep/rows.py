"""The table of one kernel: a row for each group of variants that came out the same."""

from __future__ import annotations

from kernelinfo.kernel import Result
from kernelinfo.light_typing import NamedTuple
from kernelinfo.render.names import printable
from kernelinfo.render.sweep.words import labels
from kernelinfo.render.words import limiters, number, size
from kernelinfo.sweep.tradeoff import cost_of
from kernelinfo.sweep.variants import SweptKernel, Variant

HEADING = (
    *("VGPR", "alloc", "AGPR", "SGPR", "spills", "scratch", "reloads", "LDS", "code"),
    *("waves/SIMD", "occ", "limited by"),
)
LEGEND = (
    "alloc = VGPRs that the hardware allocates; spills = VGPRs, + SGPRs (S); scratch per lane; "
    "reloads = inside loops"
)


class Row(NamedTuple):
    """Variants with the same cells."""

    variants: tuple[Variant, ...]
    cells: tuple[str, ...]
    """In the order of HEADING; empty if the variants failed."""

    @property
    def label(self) -> str:
        """What was asked for."""
        return printable(labels(self.variants))

    @property
    def error(self) -> str:
        """Why the variants failed; empty if they did not."""
        return printable(self.variants[0].error or "")


def rows(kernel: SweptKernel) -> tuple[Row, ...]:
    """The rows, in the order in which their first variants were asked for."""
    found: dict[tuple[object, ...], list[Variant]] = {}
    for variant in kernel.variants:
        cells = _cells(variant.result) if variant.result else ()
        found.setdefault((cells, variant.error), []).append(variant)
    return tuple(Row(tuple(same), _cells_of(same[0])) for same in found.values())


def _cells_of(variant: Variant) -> tuple[str, ...]:
    return _cells(variant.result) if variant.result else ()


def _cells(result: Result) -> tuple[str, ...]:
    kernel, occupancy, used = result.kernel, result.occupancy, result.kernel.used
    allocated = occupancy.allocated if occupancy else None
    dynamic = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    bound = "≤" if occupancy and not occupancy.exact else ""
    return (
        _known(used.vgprs),
        _known(allocated.vgprs if allocated else None),
        _known(used.agprs),
        _known(allocated.sgprs if allocated else used.sgprs),
        _spills(result),
        _size(used.scratch_bytes_per_lane),
        str(cost_of(result).reloads),
        _size(None if used.lds_bytes is None else used.lds_bytes + dynamic),
        _size(kernel.code_bytes),
        f"{bound}{number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{bound}{occupancy.percent:.1f}%" if occupancy else "?",
        limiters(result.occupancy) if result.occupancy else "unknown target",
    )


def _known(count: int | None) -> str:
    return "?" if count is None else str(count)


def _size(count: int | None) -> str:
    return "?" if count is None else size(count)


def _spills(result: Result) -> str:
    vgprs, sgprs = result.kernel.spills
    return _known(vgprs) + (f"+{sgprs}S" if sgprs else "")
