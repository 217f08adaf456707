"""KI001."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def unlaunchable_workgroup(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """The waves of one workgroup do not fit on the hardware at once.

    What it finds: a workgroup that needs more registers, scratch or workitems than one CU (or WGP)
    has, so that not even one can start; or of another size than the code is compiled for.
    Why it matters: the launch fails at run time, or the runtime refuses it.
    What to do: launch smaller workgroups, or bound the registers with `__launch_bounds__`; compile
    for the size that is launched. Where
    only the largest size that the kernel declares is known and a smaller one can start, this is a
    warning: the host may launch less.
    """
    obstacles = [text for text in occupancy.obstacles if "LDS" not in text]
    if not obstacles:
        return
    launch = occupancy.launch
    message = f"a workgroup of {launch.workgroup_size} cannot start: {obstacles[0]}"
    if launch.assumption not in ("declared-max", "hardware-max"):
        yield Remark(message, "launch smaller ones, or bound the registers by __launch_bounds__")
    elif occupancy.range is None and not traits.flags.tg_split:
        yield Remark(message, "nor can one of any other size")
    else:
        hint = f"smaller ones to {_largest_that_can(traits, occupancy)} can"
        yield Remark(message, hint, "warning")


def _largest_that_can(traits: Traits, occupancy: Occupancy) -> int:
    """Workitems for whose waves registers, slots and scratch have room."""
    assert traits.target is not None
    assert traits.demand is not None
    by_wave = (b.waves for b in occupancy.limits if b.resource not in ("lds", "barriers"))
    room = min(waves for waves in by_wave if waves is not None)
    return min(room * traits.demand.wave_size, traits.target.waves.max_workgroup_size)
