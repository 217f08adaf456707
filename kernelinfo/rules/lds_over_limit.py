"""KI002."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel.traits import Traits
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def lds_over_limit(traits: Traits, occupancy: Occupancy) -> Iterator[Remark]:
    """A workgroup uses more LDS than one workgroup may have.

    What it finds: static and dynamic LDS together above the hardware's limit for a workgroup.
    Why it matters: the launch fails at run time; static LDS alone may still compile.
    What to do: use less, or run on a target with more (`kernelinfo arch` lists them).
    """
    for text in occupancy.obstacles:
        if "LDS" in text:
            yield Remark(text, "use less, or a target that has more")
