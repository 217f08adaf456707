"""Kernels compiled by an installed clang."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..conftest import require

_DEVICE = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-O3", "-w", "--offload-arch=gfx90a", "-S"),
)


def compiled(
    version: int, folder: Path, kernels: str, *options: str, link: tuple[str, ...] = ()
) -> tuple[Path, Path]:
    """Assembly and linked object of one compilation."""
    require(f"clang-{version}", f"lld-{version}")
    source, text, relocatable, linked = (folder / f"k.{end}" for end in ("hip", "s", "o", "co"))
    source.write_text(kernels)
    clang = [f"clang-{version}", *_DEVICE, *options, str(source), "-o"]
    subprocess.run([*clang, str(text)], check=True)
    subprocess.run([*clang, str(relocatable), "-Xclang", "-emit-obj"], check=True)
    linker = [f"ld.lld-{version}", "-shared", *link, str(relocatable), "-o", str(linked)]
    subprocess.run(linker, check=True)
    return text, linked
