"""KI208."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.limits import allocated_vgprs
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def padded_registers(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """The descriptor reserves more VGPRs than the code uses.

    What it finds: VGPRs encoded beyond the granule of those in use. The compiler pads them up to
    the occupancy that `amdgpu_waves_per_eu` asks for, or (LLVM 21 on) that LDS allows anyway.
    Why it matters: the kernel is then limited by registers that it does not use; kernels that run
    beside it get fewer.
    What to do: where LDS is the cause, less LDS also ends the padding; where the attribute is,
    raise its upper bound.
    """
    used, encoded = kernel.used.vgprs, kernel.encoded.vgprs
    if used is None or encoded is None or kernel.target is None or kernel.demand is None:
        return
    reserved = allocated_vgprs(kernel.target, kernel.demand)
    file = kernel.target.vgpr_file(kernel.demand.wave_size)
    if reserved is not None and reserved - max(1, used) >= file.granule:
        yield Remark(f"{reserved} VGPRs are reserved, {used} are used")
