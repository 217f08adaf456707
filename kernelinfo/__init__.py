"""Occupancy of AMD GPU kernels and its limits, from what the compiler left on disk.

>>> import kernelinfo
>>> report = kernelinfo.load("build/occupancy.s")
>>> [kernel.occupancy(workgroup_size=256).limiters for kernel in report]
>>> report.kernel("vgprbound").waves_per_simd, report.max("vgpr_spills")
>>> [pair.why for pair in kernelinfo.diff("build-a", "build-b").pairs if pair.affected]
>>> kernelinfo.check(report, kernelinfo.read_config("kernelinfo.toml")).failed
>>> kernelinfo.live_registers("build/occupancy.s", "vgprbound").peak
>>> [v.result for v in kernelinfo.sweep("build/occupancy.bc", "vgprbound").kernels[0].variants]
>>> kernelinfo.arch("gfx942").occupancy(vgprs=128, lds_bytes=32768, workgroup_size=256).percent
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelinfo.analysis import analyse, load
    from kernelinfo.analysis.options import Options
    from kernelinfo.compare import Comparison
    from kernelinfo.compare.builds import diff
    from kernelinfo.compare.changes import Pair
    from kernelinfo.compare.summary import KernelSummary
    from kernelinfo.config import Configuration, read_config
    from kernelinfo.errors import (
        BaselineError,
        CompilerError,
        ConfigError,
        KernelinfoError,
        LaunchError,
        OptionError,
        ReadError,
        TargetsError,
        UnknownKernelError,
        UnknownTargetError,
    )
    from kernelinfo.gate import check
    from kernelinfo.gate.outcome import Judged, Notice, Outcome, Suppressed
    from kernelinfo.hardware.targets import Target
    from kernelinfo.kernel import Finding, Kernel, Repeat, Result
    from kernelinfo.kernel.code_object import CodeObject
    from kernelinfo.kernel.report import Report
    from kernelinfo.occupancy import Allocated, Occupancy
    from kernelinfo.occupancy.calculator import Arch, Rung, arch
    from kernelinfo.occupancy.headroom import Headroom, Range, Step
    from kernelinfo.occupancy.limits import Limit
    from kernelinfo.occupancy.placement import Demand, Launch
    from kernelinfo.pressure.measure import live_registers
    from kernelinfo.pressure.nouns import Story
    from kernelinfo.reading.blob import Problem
    from kernelinfo.rules import Selection
    from kernelinfo.variants.nouns import Sweep
    from kernelinfo.variants.sweeping import sweep

__version__ = "0.2.0"

__all__ = [
    "Allocated", "Arch", "BaselineError", "CodeObject", "Comparison", "CompilerError",
    "ConfigError", "Configuration", "Demand", "Finding", "Headroom", "Judged", "Kernel",
    "KernelSummary", "KernelinfoError", "Launch", "LaunchError", "Limit", "Notice", "Occupancy",
    "OptionError", "Options", "Outcome", "Pair", "Problem", "Range", "ReadError", "Repeat",
    "Report", "Result", "Rung", "Selection", "Step", "Story", "Suppressed", "Sweep", "Target",
    "TargetsError", "UnknownKernelError", "UnknownTargetError", "analyse", "arch", "check", "diff",
    "live_registers", "load", "read_config", "sweep",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """A name of the public API, imported on first use: a report needs few of them."""
    for home, names in _HOMES.items():
        if name in names:
            noun: object = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = noun
            return noun
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names of the public API, imported or not."""
    return [*__all__, "__version__"]


_HOMES = {
    "analysis": ("Options", "analyse", "load"),
    "compare": ("Comparison", "Pair"),
    "compare.builds": ("diff",),
    "compare.summary": ("KernelSummary",),
    "errors": tuple(name for name in __all__ if name.endswith("Error")),
    "gate": ("check",),
    "config": ("Configuration", "read_config"),
    "gate.outcome": ("Judged", "Notice", "Suppressed", "Outcome"),
    "kernel.code_object": ("CodeObject",),
    "kernel": ("Finding", "Kernel", "Repeat", "Result"),
    "kernel.report": ("Report",),
    "occupancy": ("Allocated", "Occupancy"),
    "occupancy.calculator": ("Arch", "Rung", "arch"),
    "occupancy.headroom": ("Headroom", "Range", "Step"),
    "occupancy.limits": ("Demand", "Launch", "Limit"),
    "hardware.targets": ("Target",),
    "pressure.measure": ("live_registers",),
    "pressure.nouns": ("Story",),
    "reading.blob": ("Problem",),
    "rules": ("Selection",),
    "variants.nouns": ("Sweep",),
    "variants.sweeping": ("sweep",),
}
