"""KI205."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def partial_wave(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """The last wave of each workgroup has lanes without a workitem.

    What it finds: a workgroup size that is required or given, and no multiple of the wave's
    lanes. One workitem alone is taken to be intended.
    Why it matters: the idle lanes take a slot, registers and cycles like busy ones.
    What to do: a multiple of the wave size; on gfx10 and later wave32 may waste less.
    """
    launch = occupancy.launch
    if traits.demand is None or launch.assumption in ("declared-max", "hardware-max"):
        return
    wave = traits.demand.wave_size
    busy = launch.workgroup_size % wave
    if busy and launch.workgroup_size > 1:
        yield Remark(
            f"workgroups of {launch.workgroup_size} leave {wave - busy} of {wave} lanes of their "
            "last wave idle",
            f"launch a multiple of {wave}",
        )
