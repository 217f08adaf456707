"""KI401."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark


def code_exceeds_icache(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """A kernel's code is larger than the instruction cache.

    What it finds: more bytes of code than the first cache of instructions holds, on targets for
    which AMD has published its size. Functions that the kernel calls are not counted.
    Why it matters: a loop that does not fit fetches its instructions from L2 each time around,
    and so do the waves of the neighbouring CUs that share the cache.
    What to do: look whether a loop of this size is run often; less unrolling or inlining makes it
    smaller. Code that runs once may be as large as it likes, which is why the rule is off.
    """
    cache = kernel.target.icache if kernel.target else None
    if cache is not None and (kernel.code_bytes or 0) > cache.bytes:
        yield Remark(
            f"{kernel.code_bytes} bytes of code, where the instruction cache "
            f"of {cache.cus} CUs holds {cache.bytes}",
            "if a loop is as large, unroll or inline less",
        )
