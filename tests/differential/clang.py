"""Compile with one version of clang, in one setting; what it was asked for stays beside it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelinfo.occupancy.targets import Target, find, known

DEVICE = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-O1", "-w"),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One target as it is compiled for."""

    target: Target
    wave_size: int
    wgp_mode: bool | None
    """None where the target has no choice."""

    @property
    def flags(self) -> list[str]:
        flags = [f"--offload-arch={self.target.name}"]
        if self.wave_size != self.target.waves.default_size:
            flags.append("-mwavefrontsize64")
        if self.wgp_mode is False:
            flags.append("-mcumode")
        if self.target.members:
            flags.append("-mcode-object-version=6")
        return flags


def missing(version: int) -> list[str]:
    """The programs of that version that are not installed."""
    tools = (f"clang-{version}", f"ld.lld-{version}")
    return [tool for tool in tools if shutil.which(tool) is None]


@cache
def settings(version: int) -> tuple[Setting, ...]:
    """Every target that the driver accepts, in every wave size and mode it has."""
    targets = [find(name) for name in known()]
    return tuple(s for target in targets if _accepts(version, target) for s in _settings(target))


def _accepts(version: int, target: Target) -> bool:
    setting = Setting(target, target.waves.default_size, None)
    command = [f"clang-{version}", *DEVICE, *setting.flags, "-###", "-S", "-"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _settings(target: Target) -> Iterator[Setting]:
    for file in target.vgprs:
        for wgp_mode in (True, False) if len(target.domains) > 1 else (None,):
            yield Setting(target, file.wave_size, wgp_mode)


def build(version: int, setting: Setting, source: str, folder: Path) -> tuple[Path, Path]:
    """Assembly, and the linked object of the same compilation. Raises `CalledProcessError`."""
    text, relocatable, linked = (folder / f"unit.{suffix}" for suffix in ("s", "o", "co"))
    compiler = [f"clang-{version}", *DEVICE, *setting.flags, "-", "-S", "-o"]
    _run([*compiler, str(text)], source)
    _run([*compiler, str(relocatable), "-Xclang", "-emit-obj"], source)
    _run([f"ld.lld-{version}", "-shared", str(relocatable), "-o", str(linked)], "")
    return text, linked


def _run(command: list[str], standard_input: str) -> None:
    subprocess.run(command, input=standard_input, capture_output=True, check=True, text=True)
