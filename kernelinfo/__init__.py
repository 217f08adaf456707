"""Occupancy of AMD GPU kernels and its limits, from what the compiler left on disk.

>>> import kernelinfo
>>> report = kernelinfo.load("build/occupancy.s")
>>> [kernel.occupancy(workgroup_size=256).limiters for kernel in report]
>>> report.kernel("vgprbound").waves_per_simd, report.max("vgpr_spills")
>>> [pair.why for pair in kernelinfo.diff("build-a", "build-b").pairs if pair.affected]
>>> kernelinfo.check(report, kernelinfo.read_config("kernelinfo.toml")).failed
>>> kernelinfo.live_registers("build/occupancy.s", "vgprbound").peak
>>> [v.result for v in kernelinfo.sweep("build/occupancy.bc", "vgprbound").kernels[0].variants]
>>> kernelinfo.occupancy("gfx942", vgprs=128, lds_bytes=32768, workgroup_size=256).percent
>>> kernelinfo.scan("build/", to="fleet", build="2026-11-22", labels={"commit": "1a2b3c"})
>>> [pair.why for pair in kernelinfo.trend("fleet").whole.pairs if pair.regressed]
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.4.0"

if TYPE_CHECKING:
    from kernelinfo.analysis.options import Options as Options
    from kernelinfo.compare import Comparison as Comparison
    from kernelinfo.compare.changes import Pair as Pair
    from kernelinfo.compare.saved import diff as diff
    from kernelinfo.compare.summary import KernelNumbers as KernelNumbers
    from kernelinfo.compare.summary import KernelSummary as KernelSummary
    from kernelinfo.config import Configuration as Configuration
    from kernelinfo.config import read_config as read_config
    from kernelinfo.errors import BaselineError as BaselineError
    from kernelinfo.errors import CompilerError as CompilerError
    from kernelinfo.errors import ConfigError as ConfigError
    from kernelinfo.errors import KernelinfoError as KernelinfoError
    from kernelinfo.errors import LaunchError as LaunchError
    from kernelinfo.errors import OptionError as OptionError
    from kernelinfo.errors import ReadError as ReadError
    from kernelinfo.errors import UnknownKernelError as UnknownKernelError
    from kernelinfo.errors import UnknownTargetError as UnknownTargetError
    from kernelinfo.fleet import scan as scan
    from kernelinfo.fleet import trend as trend
    from kernelinfo.fleet.history import Trend as Trend
    from kernelinfo.gate import check as check
    from kernelinfo.gate.outcome import Judged as Judged
    from kernelinfo.gate.outcome import Notice as Notice
    from kernelinfo.gate.outcome import Outcome as Outcome
    from kernelinfo.gate.outcome import Suppressed as Suppressed
    from kernelinfo.hardware.targets import Target as Target
    from kernelinfo.kernel import Finding as Finding
    from kernelinfo.kernel import Kernel as Kernel
    from kernelinfo.kernel import Repeat as Repeat
    from kernelinfo.kernel import Result as Result
    from kernelinfo.kernel.code_object import CodeObject as CodeObject
    from kernelinfo.kernel.columns import condition as condition
    from kernelinfo.kernel.report import Report as Report
    from kernelinfo.model import Allocated as Allocated
    from kernelinfo.model import Headroom as Headroom
    from kernelinfo.model import Occupancy as Occupancy
    from kernelinfo.model import Range as Range
    from kernelinfo.model import Step as Step
    from kernelinfo.model.calculator import Arch as Arch
    from kernelinfo.model.calculator import Rung as Rung
    from kernelinfo.model.calculator import arch as arch
    from kernelinfo.model.calculator import occupancy as occupancy
    from kernelinfo.model.limits import Demand as Demand
    from kernelinfo.model.limits import Launch as Launch
    from kernelinfo.model.limits import Limit as Limit
    from kernelinfo.pressure import analyse as analyse
    from kernelinfo.pressure import load as load
    from kernelinfo.pressure.measure import live_registers as live_registers
    from kernelinfo.pressure.nouns import Story as Story
    from kernelinfo.reading.blob import Problem as Problem
    from kernelinfo.rules import Selection as Selection
    from kernelinfo.variants.nouns import Sweep as Sweep
    from kernelinfo.variants.sweeping import sweep as sweep
else:
    _NAMES = {
        "analysis.options": ("Options",),
        "errors": (
            "BaselineError",
            "CompilerError",
            "ConfigError",
            "KernelinfoError",
            "LaunchError",
            "OptionError",
            "ReadError",
            "UnknownKernelError",
            "UnknownTargetError",
        ),
        "hardware.targets": ("Target",),
        "kernel": ("Finding", "Kernel", "Repeat", "Result"),
        "kernel.code_object": ("CodeObject",),
        "kernel.columns": ("condition",),
        "kernel.report": ("Report",),
        "model": ("Allocated", "Headroom", "Occupancy", "Range", "Step"),
        "model.limits": ("Demand", "Launch", "Limit"),
        "pressure": ("analyse", "load"),
        "reading.blob": ("Problem",),
        "rules": ("Selection",),
        "model.calculator": ("Arch", "Rung", "arch", "occupancy"),
        "compare": ("Comparison",),
        "compare.changes": ("Pair",),
        "compare.saved": ("diff",),
        "compare.summary": ("KernelNumbers", "KernelSummary"),
        "config": ("Configuration", "read_config"),
        "gate": ("check",),
        "gate.outcome": ("Judged", "Notice", "Outcome", "Suppressed"),
        "pressure.measure": ("live_registers",),
        "pressure.nouns": ("Story",),
        "variants.nouns": ("Sweep",),
        "variants.sweeping": ("sweep",),
        "fleet": ("scan", "trend"),
        "fleet.history": ("Trend",),
    }
    """Module → its names of the public API; a name is imported when it is first used."""
    _HOMES = {name: module for module, names in _NAMES.items() for name in names}

    def __getattr__(name: str) -> object:
        """A name of the public API, imported on first use and kept."""
        if name == "__all__":
            return [*_HOMES]
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value  # else each access takes 9 µs
        return value

    def __dir__() -> list[str]:
        """Names of the public API, imported or not."""
        return [*_HOMES, "__version__"]
