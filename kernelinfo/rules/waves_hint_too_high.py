"""KI304."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark, waves_per_simd


def waves_hint_too_high(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Spills, though more VGPRs would not cost a wave.

    What it finds: spilled VGPRs, while slots, LDS or whole workgroups hold the waves so low that
    the next step of the register file has room for all of them.
    Why it matters: `amdgpu_waves_per_eu` or the second argument of `__launch_bounds__` asks for
    waves that cannot be resident, and the spills buy nothing.
    What to do: lower that number to the waves that are resident.
    """
    spilled, room = traits.spills.vgprs, occupancy.headroom.vgprs
    used = traits.used.vgprs
    if not spilled or room is None or used is None or room < spilled or not occupancy.exact:
        return
    asked = next((limit.used for limit in occupancy.limits if limit.resource == "vgpr"), used)
    yield Remark(
        f"{spilled} VGPRs spilled, though {asked + room} VGPRs would keep the same "
        f"{waves_per_simd(occupancy.waves_per_simd)}",
        "lower the waves of amdgpu_waves_per_eu or __launch_bounds__ to these",
    )
