"""What limits each AMD GPU kernel's occupancy, from what the compiler left on disk.

>>> import kernelinfo
>>> report = kernelinfo.load("build/occupancy.s")
>>> [kernel.occupancy(workgroup_size=256).limiters for kernel in report.kernels]
>>> [pair.why for pair in kernelinfo.diff("build-a", "build-b").pairs if pair.affected]
>>> kernelinfo.check(report, kernelinfo.read_config("kernelinfo.toml")).failed
>>> kernelinfo.arch("gfx942").occupancy(vgprs=128, lds_bytes=32768, workgroup_size=256).percent
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kernelinfo.analysis import Options, analyse, load
from kernelinfo.arch import Arch, Rung, arch
from kernelinfo.compare import Comparison, Pair
from kernelinfo.config import Configuration, read_config
from kernelinfo.diff import diff
from kernelinfo.errors import (
    BaselineError,
    ConfigError,
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

if TYPE_CHECKING:
    from kernelinfo.gate import check
    from kernelinfo.gate.verdict import Judged, Notice, Suppressed, Verdict

__version__ = "0.1.0"

__all__ = [
    "Allocated",
    "Arch",
    "BaselineError",
    "CodeObject",
    "Comparison",
    "ConfigError",
    "Configuration",
    "Demand",
    "Finding",
    "Footprint",
    "Headroom",
    "Judged",
    "Kernel",
    "KernelinfoError",
    "Launch",
    "LaunchError",
    "Limit",
    "Notice",
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
    "Suppressed",
    "Target",
    "TargetsError",
    "UnknownTargetError",
    "Verdict",
    "analyse",
    "arch",
    "check",
    "diff",
    "load",
    "read_config",
]


def __getattr__(name: str) -> object:
    """The gate, which most programs do not need, is imported when it is first asked for."""
    places = {"check": "gate", **dict.fromkeys(_OF_A_VERDICT, "gate.verdict")}
    if name not in places:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{places[name]}"), name)


_OF_A_VERDICT = ("Judged", "Notice", "Suppressed", "Verdict")
