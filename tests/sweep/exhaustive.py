"""The default rows of kernels that spill against every launch bound and number of waves."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import kernelinfo
from kernelinfo import Sweep, arch

from .kernels import RandomKernel, random_kernel
from .proof import compile_source

TARGETS = {
    15: ("gfx90a", "gfx1100"),  # clang 15 knows neither gfx942 nor gfx1201
    19: ("gfx90a", "gfx942", "gfx1100", "gfx1201"),
    22: ("gfx90a", "gfx942", "gfx1100", "gfx1201"),
}
_BOUNDS = (64, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024)


@dataclass
class Tried:
    """Numbers of kernels that spill as compiled."""

    kernels: int = 0
    ended: int = 0  # some bound or number of waves ends the spills
    halved: int = 0  # or halves them
    fewest: int = 0  # the default rows have the fewest spills of all
    missed: list[str] = field(default_factory=list)


def run(version: int, target: str, kernels: int, random: Random, folder: Path) -> Tried:
    """Result of `kernels` random kernels that spill."""
    tried, number = Tried(), 0
    slots = arch(target).target.waves.slots_per_simd
    while tried.kernels < kernels:
        number += 1
        kernel = random_kernel(random, "k", arch(target).target)
        path = _compiled(version, target, kernel, folder / f"{version}-{target}-{number}")
        if path is None:
            continue
        compiler = f"clang-{version}"
        default = kernelinfo.sweep(path, "k", compiler=compiler, jobs=1)
        if default.has_failed:
            continue
        base, least = _spills(default)
        if not base:
            continue
        every = kernelinfo.sweep(
            path,
            "k",
            compiler=compiler,
            jobs=1,
            waves=range(1, slots + 1),
            launch_bounds=_BOUNDS,
        )
        fewest = _spills(every)[1]
        tried.kernels += 1
        tried.ended += fewest == 0
        tried.halved += 0 < fewest <= base / 2
        tried.fewest += least <= fewest
        if (fewest == 0 < least) or fewest <= base / 2 < least:
            tried.missed.append(
                f"clang {version}, {target}: {path} spills {base}, at fewest {fewest}; "
                f"its default rows {least}"
            )
    return tried


def _spills(sweep: Sweep) -> tuple[int, int]:
    """Spilled registers of the one kernel as compiled, and the fewest of all its variants."""
    (kernel,) = sweep.kernels
    spills = [v.result.kernel.spilled_registers for v in kernel.variants if v.result]
    return spills[0], min(spills)


def _compiled(version: int, target: str, kernel: RandomKernel, folder: Path) -> Path | None:
    """The bitcode of a kernel; None if the compiler refuses it."""
    try:
        return compile_source(version, target, "3", [kernel], folder, to_assembly=False)
    except subprocess.CalledProcessError:
        return None
