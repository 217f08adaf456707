"""KI302."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.occupancy.placement import align
from kernelinfo.rules.remark import Remark


def at_cap_and_spilling(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Register allocation stopped exactly at a step of the occupancy, and spilled.

    What it finds: spilled VGPRs, and as many in use as a number of waves per SIMD allows.
    Why it matters: a launch bound or `amdgpu_waves_per_eu` was the limit, not the code; the
    waves that it buys are paid for with spills.
    What to do: compile once with the next looser bound and measure both.
    """
    if not traits.spills.vgprs or (step := step_in_use(traits)) is None:
        return
    vgprs, waves = step
    yield Remark(
        f"allocation stopped exactly at the {vgprs}-VGPR step for {waves} "
        f"wave{'' if waves == 1 else 's'} and spilled",
        "compile with the next looser bound and measure both",
    )


def step_in_use(traits: Traits) -> tuple[int, int] | None:
    """VGPRs and waves per SIMD of the step whose last granule the code uses.

    None below the last granule, and where it is the last of all: no bound stops there.
    """
    target, demand, used = traits.target, traits.demand, traits.used.vgprs
    if target is None or demand is None or used is None:
        return None
    file = target.vgpr_file(demand.wave_size)
    allocated = align(max(1, used), file.granule)
    waves = min(file.per_simd // allocated, target.waves.slots_per_simd)
    most = file.per_simd // waves // file.granule * file.granule if waves else 0
    return (allocated, waves) if allocated == most < file.addressable else None
