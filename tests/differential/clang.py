"""Compile HIP with one version of clang, in one setting."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelinfo import Target

from .compilers import Setting, known_targets, settings_of
from .shapes import Shape

DEVICE = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-std=c++17", "-O1", "-w"),
)


@dataclass(frozen=True, slots=True)
class Clang:
    """Debian's clang and lld of one version."""

    llvm: int

    @property
    def name(self) -> str:
        return f"clang {self.llvm}"

    @property
    def needed(self) -> tuple[str, ...]:
        return (f"clang-{self.llvm}", f"lld-{self.llvm}")

    def settings(self) -> tuple[Setting, ...]:
        return _settings(self.llvm)

    def build(
        self, setting: Setting, shapes: Mapping[str, Shape], folder: Path
    ) -> tuple[Path, Path]:
        source = "".join(shape.source(name) for name, shape in shapes.items())
        text, relocatable, linked = (folder / f"unit.{suffix}" for suffix in ("s", "o", "co"))
        command = [f"clang-{self.llvm}", *DEVICE, *_flags(setting), "-", "-S", "-o"]
        _run([*command, str(text)], source)
        _run([*command, str(relocatable), "-Xclang", "-emit-obj"], source)
        _run([f"ld.lld-{self.llvm}", "-shared", str(relocatable), "-o", str(linked)], "")
        return text, linked


def _flags(setting: Setting) -> list[str]:
    flags = [f"--offload-arch={setting.target.name}"]
    if setting.wave_size != setting.target.waves.default_size:
        flags.append("-mwavefrontsize64")
    if setting.wgp_mode is False:
        flags.append("-mcumode")
    if setting.target.members:
        flags.append("-mcode-object-version=6")
    return flags


@cache
def _settings(llvm: int) -> tuple[Setting, ...]:
    return tuple(
        s for target in known_targets() if _accepts(llvm, target) for s in settings_of(target)
    )


def _accepts(llvm: int, target: Target) -> bool:
    """Whether the driver knows the target."""
    setting = Setting(target, target.waves.default_size, None)
    command = [f"clang-{llvm}", *DEVICE, *_flags(setting), "-###", "-S", "-"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(command: list[str], standard_input: str) -> None:
    subprocess.run(command, input=standard_input, capture_output=True, check=True, text=True)
