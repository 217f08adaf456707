"""What compilers and runtimes say of occupancy, and why the hardware does not always do so."""

from kernelinfo.compiler.causes import NOT_EXPLAINED, Cause, agrees, why
from kernelinfo.compiler.counting import CauseName
from kernelinfo.compiler.hip import max_active_blocks
from kernelinfo.compiler.llvm import FIRST, MAIN, Attributes, Printed, printed

__all__ = [
    "FIRST",
    "MAIN",
    "NOT_EXPLAINED",
    "Attributes",
    "Cause",
    "CauseName",
    "Printed",
    "agrees",
    "max_active_blocks",
    "printed",
    "why",
]
