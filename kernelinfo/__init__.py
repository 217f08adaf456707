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

__version__ = "0.3.0"

if TYPE_CHECKING:
    from kernelinfo.api.builds import *
    from kernelinfo.api.calculator import *
    from kernelinfo.api.code import *
    from kernelinfo.api.fleets import *
    from kernelinfo.api.reports import *
else:
    _API = ("reports", "calculator", "builds", "code", "fleets")
    """Modules of `api`. All take three times as long as the first, which a report needs."""

    def __getattr__(name: str) -> object:
        """A name of the public API, imported on first use and kept."""
        if name == "__all__":
            return [name for part in _API for name in _names(part)]
        if not name.startswith("_"):
            for part in _API:
                if name in (names := _names(part)):
                    globals()[name] = names[name]  # else each access takes 9 µs
                    return names[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """Names of the public API, imported or not."""
        return [*__getattr__("__all__"), "__version__"]

    def _names(part: str) -> dict[str, object]:
        """Name → what it stands for, of one module of `api`."""
        found = vars(import_module(f"{__name__}.api.{part}"))
        # pytest adds names such as `@py_builtins` to modules of its plugins.
        public = [name for name in found if name.isidentifier() and not name.startswith("_")]
        return {name: found[name] for name in public}
