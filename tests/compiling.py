"""Small kernels through a real compiler, for what no fixture has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

_DEVICE = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-O3", "-w", "-S"),
)
_BEGIN = """
#define __global__ __attribute__((global))
#define CLAIM(...) asm volatile("" ::: __VA_ARGS__)
"""

needs_clang = pytest.mark.needs("clang-22")


def assembly(
    source: str, path: Path, target: str = "gfx90a", *flags: str, version: int = 22
) -> str:
    """The path of the assembly that clang makes of `source`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [f"clang-{version}", *_DEVICE, f"--offload-arch={target}", *flags]
    command += ["-", "-o", str(path)]
    subprocess.run(command, input=_BEGIN + source, text=True, check=True)
    return str(path)


def bitcode(source: str, path: Path, target: str = "gfx90a", version: int = 22) -> str:
    """The path of the bitcode of `source` as `--save-temps` leaves it, before optimisation."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = [word for word in _DEVICE if word != "-S"]
    command = [f"clang-{version}", *flags, f"--offload-arch={target}", "-emit-llvm", "-c"]
    command += ["-Xclang", "-disable-llvm-passes", "-", "-o", str(path)]
    subprocess.run(command, input=_BEGIN + source, text=True, check=True)
    return str(path)
