"""KI204."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def workgroup_leaves_slots(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """Whole workgroups do not fill the wave slots that registers and LDS would leave.

    What it finds: a size that is required, configured or given and does not divide the slots, where
    these are the only limit, or scratch for as many waves with them. A note for a size that is
    given: it is asked about.
    Why it matters: 704 workitems are 11 waves; two such workgroups fill 22 of 32 slots.
    What to do: launch a size that divides the slots; `explain` lists the best.
    """
    unsure = occupancy.allocated.vgprs is None or occupancy.allocated.lds_bytes is None
    if set(occupancy.limiters) - {"scratch"} != {"slots"} or traits.target is None or unsure:
        return
    if occupancy.launchable and occupancy.range is None and occupancy.percent < 100:
        yield Remark(
            f"workgroups of {occupancy.launch.workgroup_size} fill {occupancy.waves} of "
            f"{occupancy.wave_slots} wave slots",
            "launch a size that divides the slots",
            "note" if occupancy.launch.assumption == "option" else "warning",
        )
