"""KI001."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def unlaunchable_workgroup(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """The waves of one workgroup do not fit on the hardware at once.

    What it finds: a workgroup that needs more registers, scratch or workitems than one CU (or WGP)
    has, so that not even one can start.
    Why it matters: the launch fails at run time, or the runtime refuses it.
    What to do: launch smaller workgroups, or bound the registers with `__launch_bounds__`. Where
    only the largest size that the kernel declares is known, this is a warning: the host may
    launch less.
    """
    obstacles = [text for text in occupancy.obstacles if "LDS" not in text]
    if not obstacles:
        return
    launch = occupancy.launch
    largest_only = launch.assumption in ("declared-max", "hardware-max")
    hint = ""
    if largest_only and occupancy.range and occupancy.range.max_percent:
        size = occupancy.range.best_workgroup_size
        hint = f"smaller ones to {size} can"
    yield Remark(
        f"a workgroup of {launch.workgroup_size} cannot start: {obstacles[0]}",
        hint,
        "warning" if largest_only else None,
    )
