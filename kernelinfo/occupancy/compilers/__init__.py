"""What compilers and runtimes say of occupancy, and why the hardware does not always do so."""

from kernelinfo.occupancy.compilers.counting import CauseName
from kernelinfo.occupancy.compilers.hip import max_active_blocks
from kernelinfo.occupancy.compilers.llvm import FIRST, MAIN, Attributes, Printed, printed

__all__ = [
    "FIRST",
    "MAIN",
    "Attributes",
    "CauseName",
    "Printed",
    "max_active_blocks",
    "printed",
]
