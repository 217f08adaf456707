"""The table of one kernel: a row for each group of variants with equal results."""

from __future__ import annotations

from typing import NamedTuple

from kernelinfo.kernel import Result
from kernelinfo.render.names import printable
from kernelinfo.render.paint import bound, column_cells, known, limiters, number
from kernelinfo.render.sweep.words import labels
from kernelinfo.variants.nouns import AS_COMPILED, SweptKernel, Variant, cost_of

HEADING = (
    *("VGPR", "alloc", "AGPR", "SGPR", "spills", "scratch", "reloads", "LDS", "code"),
    *("waves/SIMD", "occ", "limited by"),
)
LEGEND = (
    "alloc = VGPRs that the hardware allocates; spills = VGPRs, + SGPRs (S); scratch per lane; "
    "reloads = inside loops"
)

_Values = tuple[str | int | None, ...]


class SweepRow(NamedTuple):
    """Variants with equal cells."""

    variants: tuple[Variant, ...]
    cells: tuple[str, ...]  # in the order of HEADING; empty if the variants failed

    @property
    def label(self) -> str:
        """The requests of the variants."""
        return printable(labels(self.variants))

    @property
    def is_compiled(self) -> bool:
        """True if the row has the kernel as compiled."""
        return self.variants[0].asked == AS_COMPILED

    @property
    def error(self) -> str:
        """The error of variants that failed; empty if they did not."""
        return printable(self.variants[0].error or "")


def rows(kernel: SweptKernel) -> tuple[SweepRow, ...]:
    """The rows, in the order of their first variants."""
    found: dict[tuple[_Values, str | None], list[Variant]] = {}
    for variant in kernel.variants:
        values = _values(variant.result) if variant.result else ()
        found.setdefault((values, variant.error), []).append(variant)
    compiled = zip(*(values for values, _ in found if values), strict=True)
    cells = zip(*map(column_cells, HEADING, compiled), strict=True)
    return tuple(
        SweepRow(tuple(same), next(cells) if values else ()) for (values, _), same in found.items()
    )


def _values(result: Result) -> _Values:
    """The cells of a variant; sizes in bytes."""
    kernel, occupancy, used = result.kernel, result.occupancy, result.kernel.used
    allocated = occupancy.allocated if occupancy else None
    dynamic = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    at_most = bound(occupancy.exact) if occupancy else ""
    spills = kernel.spills
    return (
        known(used.vgprs),
        known(allocated.vgprs if allocated else None),
        known(used.agprs),
        known(allocated.sgprs if allocated else used.sgprs),
        known(spills.vgprs) + (f"+{spills.sgprs}S" if spills.sgprs else ""),
        used.scratch_bytes_per_lane,
        str(cost_of(result).reloads),
        None if used.lds_bytes is None else used.lds_bytes + dynamic,
        kernel.code_bytes,
        f"{at_most}{number(occupancy.waves_per_simd)}" if occupancy else "?",
        f"{at_most}{occupancy.percent:.1f}%" if occupancy else "?",
        limiters(occupancy) if occupancy else "unknown target",
    )
