"""What limits each AMD GPU kernel's occupancy, from what the compiler left on disk.

>>> import kernelinfo
>>> report = kernelinfo.load("build/occupancy.s")
>>> [kernel.occupancy(workgroup_size=256).limiters for kernel in report.kernels]
>>> [pair.why for pair in kernelinfo.diff("build-a", "build-b").pairs if pair.affected]
>>> kernelinfo.arch("gfx942").occupancy(vgprs=128, lds_bytes=32768, workgroup_size=256).percent
"""

from kernelinfo.analysis import Options, analyse, load
from kernelinfo.arch import Arch, Rung, arch
from kernelinfo.compare import Comparison, Pair
from kernelinfo.diff import diff
from kernelinfo.errors import (
    KernelinfoError,
    LaunchError,
    OptionError,
    ReadError,
    TargetsError,
    UnknownTargetError,
)
from kernelinfo.footprint import Footprint
from kernelinfo.kernel import CodeObject, Finding, Kernel, Repeat, Report, Result
from kernelinfo.limits import Demand, Launch, Limit
from kernelinfo.model import Problem
from kernelinfo.occupancy import Allocated, Occupancy
from kernelinfo.rules import Selection
from kernelinfo.steps import Headroom, Range, Step
from kernelinfo.targets import Target

__version__ = "0.1.0"

__all__ = [
    "Allocated",
    "Arch",
    "CodeObject",
    "Comparison",
    "Demand",
    "Finding",
    "Footprint",
    "Headroom",
    "Kernel",
    "KernelinfoError",
    "Launch",
    "LaunchError",
    "Limit",
    "Occupancy",
    "OptionError",
    "Options",
    "Pair",
    "Problem",
    "Range",
    "ReadError",
    "Repeat",
    "Report",
    "Result",
    "Rung",
    "Selection",
    "Step",
    "Target",
    "TargetsError",
    "UnknownTargetError",
    "analyse",
    "arch",
    "diff",
    "load",
]
