"""KI203."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark

_MANY = 4
"""Resident workgroups from which on one more hardly counts."""


def lds_rounding_costs_workgroup(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """One more workgroup would fit if LDS were not given out in granules.

    What it finds: LDS as the only limit, where the bytes asked for would let more workgroups in
    than the same bytes rounded up; a note where there are more than four anyway.
    Why it matters: a few bytes cost a whole workgroup, and no table of the source shows it.
    What to do: use no more than the multiple of the granule below.
    """
    lost = lost_to_rounding(occupancy)
    if not lost:
        return
    limit = next(limit for limit in occupancy.limits if limit.resource == "lds")
    fit = occupancy.workgroups + lost
    yield Remark(
        f"{limit.used} B of LDS are rounded to {limit.allocated}: {occupancy.workgroups} "
        f"workgroups per {occupancy.per} fit, by their bytes {fit} would",
        f"use at most {limit.used // limit.granule * limit.granule} B",
        "note" if occupancy.workgroups > _MANY else None,
    )


def lost_to_rounding(occupancy: Occupancy) -> int:
    """Workgroups that LDS lets in by its bytes and not by its granules; 0 where more limits."""
    limit = next((limit for limit in occupancy.limits if limit.resource == "lds"), None)
    if limit is None or occupancy.limiters != ("lds",) or not occupancy.workgroups:
        return 0
    others = [o.workgroups for o in occupancy.limits if o is not limit and o.workgroups is not None]
    return min(limit.available // limit.used, *others) - occupancy.workgroups
