"""KI305."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark

_FEATURES_LEFT_OPEN = 4
"""The first code object version whose target id may leave a feature open (AMDGPUUsage, "Target
ID"); before, one that is not named is off."""


def mixed_target_features(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """Of one processor, a file has code that sets XNACK or SRAM ECC and code that leaves it open.

    What it finds: a code object whose target id names a feature that the id of an earlier one of
    the same file and processor does not name, or the reverse. `xnack+` next to `xnack-` is normal.
    Why it matters: where both fit the device, it is up to the loader which one runs; where only
    one kernel of a library insists on a setting, that one is missing on the other devices. clang
    and newer bundlers refuse to put such code into one bundle.
    What to do: name the same features in every `--offload-arch` of the processor.
    """
    code_object = kernel.code_object
    entry, version = code_object.conflicting_entry, code_object.code_object_version or 0
    if entry and version >= _FEATURES_LEFT_OPEN:
        own, other = map(_target_id, (code_object.member or "", entry))
        yield Remark(
            f"built for {own}, next to code for {other} in the same file",
            "name the same features in every --offload-arch of the processor",
        )


def _target_id(entry: str) -> str:
    """`gfx90a:xnack+` of `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+`."""
    return entry.rpartition("--")[2]
