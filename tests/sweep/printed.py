"""Printed source lines compiled separately: each must give its row."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import kernelinfo
from kernelinfo import Options, Result, Sweep, analyse
from kernelinfo.variants import Asked, Line, by_symbol, choose_written, measures

from ..messages import says
from .alone import HELPERS, kernel_with_calls
from .kernels import PRELUDE, RandomKernel

HIPCC = "hipcc"
TARGETS = {
    "clang-19": ("gfx90a", "gfx942", "gfx1100", "gfx1201"),
    "clang-22": ("gfx90a", "gfx942", "gfx1100", "gfx1201"),
    HIPCC: ("gfx908", "gfx90a", "gfx1030"),  # targets of Debian's device libraries
}
KERNELS_OF_A_MODULE = 3
_FREESTANDING = """
#define select_impl_(_1, _2, impl_, ...) impl_
#define launch_bounds_impl0(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define launch_bounds_impl1(n, w) \\
  __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_waves_per_eu(w)))
#define __launch_bounds__(...) \\
  select_impl_(__VA_ARGS__, launch_bounds_impl1, launch_bounds_impl0, )(__VA_ARGS__)
"""
"""Macros of HIP (amd_hip_runtime.h)."""


@dataclass
class Printed:
    """Numbers of lines."""

    kernels: int = 0
    lines: int = 0
    with_bounds: int = 0  # lines with `__launch_bounds__`
    said: int = 0  # lines that a note says may give other numbers
    moved: int = 0  # of these, those that do
    differences: list[str] = field(default_factory=list)


def run(compiler: str, target: str, random: Random, folder: Path) -> Printed:
    """Result of one module of random kernels: every printed line, compiled in the source."""
    kernels = [kernel_with_calls(random, f"k{i}", target) for i in range(KERNELS_OF_A_MODULE)]
    found = Printed()
    try:
        bitcode = _compile(compiler, target, kernels, folder / "plain")
    except subprocess.CalledProcessError:
        return found  # the compiler refuses the unchanged kernels
    clang = "clang-15" if compiler == HIPCC else compiler
    waves, bounds = random.choice((([], []), ([], []), ([], [128]), ([4, 6], [])))
    strategies = ["default", "max-ilp"] if (waves or bounds) and random.random() < 0.4 else []
    name = random.choice((None, "k1", "k2"))  # without a name all, else without the others
    has_assembly = name is None or compiler == HIPCC or random.random() < 0.3
    if not has_assembly:
        bitcode.with_suffix(".s").unlink()
    sweep = kernelinfo.sweep(
        str(bitcode),
        name,
        compiler=clang,
        waves=waves,
        launch_bounds=bounds,
        strategies=strategies,
    )
    if has_assembly and sweep.level_from != "reproduced":
        found.differences.append(f"{compiler} {target}: {bitcode} is not reproduced")
    for number, (kernel, line, row) in enumerate(_printed(sweep, kernels, not (waves or bounds))):
        found.lines += 1
        found.with_bounds += "__launch_bounds__" in line.text
        others = [written(one, line) if one is kernel else one.source() for one in kernels]
        where = folder / str(number)
        by_hand = _read(_compile(compiler, target, others, where, line.options))[kernel.name]
        is_said = any(says(note, "sweep-alone") for note in sweep.notes)
        found.said += is_said
        if measures(by_hand) != measures(row) and is_said:
            found.moved += 1
        elif measures(by_hand) != measures(row):
            found.differences.append(
                f"{compiler} {target} {kernel.name}: {line.written} gives {measures(by_hand)}, "
                f"its row is {measures(row)}: {where}"
            )
    found.kernels = len(kernels)
    return found


def _printed(
    sweep: Sweep, kernels: Sequence[RandomKernel], takes_defaults: bool
) -> Iterator[tuple[RandomKernel, Line, Result]]:
    """Each kernel with a printed line, and the row of that line."""
    by_name = {kernel.name: kernel for kernel in kernels}
    for kernel in sweep.kernels:
        rows = choose_written(kernel, takes_defaults=takes_defaults)
        row = next((variant.result for variant in rows), None)
        for line in kernel.lines:
            assert row is not None
            yield by_name[kernel.symbol], line, row


def written(kernel: RandomKernel, line: Line) -> str:
    """The source with the line in place of the kernel's attributes of the same kinds."""
    own = kernel.asked._replace(waves=None) if line.text else kernel.asked
    if "__launch_bounds__" in line.text:
        own = Asked()
    source = replace(kernel, asked=own).source()
    return re.sub(r" void (?=k\d)", f" {line.text} void ", source, count=1)


def _compile(
    compiler: str,
    target: str,
    kernels: Sequence[RandomKernel | str],
    folder: Path,
    options: str = "",
) -> Path:
    """Path of the bitcode that `--save-temps` leaves next to the assembly."""
    folder.mkdir(parents=True)
    stem = folder / f"unit-hip-amdgcn-amd-amdhsa-{target}"
    head = "#include <hip/hip_runtime.h>\n" if compiler == HIPCC else _FREESTANDING
    sources = [one if isinstance(one, str) else one.source() for one in kernels]
    (folder / "unit.hip").write_text(head + PRELUDE + HELPERS + "".join(sources))
    command = [compiler, "-x", "hip", "--cuda-device-only", "-w", "-O3", "-fuse-cuid=none"]
    if compiler != HIPCC:
        command += ["-nogpuinc", "-nogpulib", "-std=c++17"]
    command += [f"--offload-arch={target}", "unit.hip", "-S", "--save-temps", *options.split()]
    environment = os.environ | {"HIP_PLATFORM": "amd"}
    subprocess.run(
        [*command, "-o", f"{stem}.s"], cwd=folder, env=environment, check=True, capture_output=True
    )
    return stem.with_suffix(".bc")


def _read(bitcode: Path) -> dict[str, Result]:
    return by_symbol(analyse([str(bitcode.with_suffix(".s"))], Options()))
