"""KI207."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.kernel import Kernel
from kernelinfo.occupancy import Occupancy
from kernelinfo.rules.remark import Remark, waves_per_simd


def compiler_disagrees(kernel: Kernel, occupancy: Occupancy) -> Iterator[Remark]:
    """The compiler printed another occupancy than the hardware delivers.

    What it finds: an `; Occupancy:` in the assembly that is not this report's number, and which of
    the compiler's simplifications make the difference.
    Why it matters: register limits, launch bounds and other tools are chosen by that number.
    What to do: nothing about the kernel; trust the number that counts whole workgroups.
    """
    # Off unless asked for: imported here, as most reports do without.
    from kernelinfo.kernel.compiler_number import compiler_number

    number = compiler_number(kernel, occupancy)
    if number is not None and number.reason:
        yield Remark(
            f"the compiler printed {waves_per_simd(number.waves_per_simd)}, the hardware holds "
            f"{occupancy.waves_per_simd:.4g}: {number.reason}",
            "trust the latter, which counts whole workgroups",
        )
