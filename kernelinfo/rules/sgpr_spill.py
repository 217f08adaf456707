"""KI103."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark

_MANY = 64
"""Spilled SGPRs fill the lanes of one VGPR in wave64; more take further VGPRs."""


def sgpr_spill(traits: Traits, occupancy: Occupancy | None) -> Iterator[Remark]:
    """SGPRs did not fit and are kept in lanes of VGPRs.

    What it finds: a spill count above 0 in the metadata; a warning from 64 on.
    Why it matters: each costs a lane move, and every 64 (wave64) another VGPR.
    What to do: fewer kernel arguments or uniform values alive at once.
    """
    if spilled := traits.spills.sgprs:
        yield Remark(
            f"{spilled} {'SGPR' if spilled == 1 else 'SGPRs'} spilled to lanes of VGPRs",
            "keep fewer arguments and uniform values alive at once",
            severity="warning" if spilled >= _MANY else None,
        )
