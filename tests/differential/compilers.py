"""Compilers of a differential run, and the targets with their settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kernelinfo import Target, arch

from ..test_golden import run
from .shapes import Shape


@dataclass(frozen=True, slots=True)
class Setting:
    """One target as it is compiled for."""

    target: Target
    wave_size: int
    wgp_mode: bool | None
    """None where the target has no choice."""


def known_targets() -> list[Target]:
    """All targets, generic ones included."""
    listed = json.loads(run("arch", "--format", "json")[0])["targets"]
    return [arch(target["name"]).target for target in listed]


def settings_of(target: Target) -> Iterator[Setting]:
    """Every wave size and mode of a target."""
    for file in target.vgprs:
        for wgp_mode in (True, False) if len(target.domains) > 1 else (None,):
            yield Setting(target, file.wave_size, wgp_mode)


class Compiler(Protocol):
    """One release of a compiler."""

    @property
    def name(self) -> str: ...

    @property
    def llvm(self) -> int:
        """The version whose formulas its comments follow."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of its tools in tests/tools.toml."""

    def settings(self) -> tuple[Setting, ...]:
        """Every target that it accepts, in every wave size and mode."""

    def build(
        self, setting: Setting, shapes: Mapping[str, Shape], folder: Path
    ) -> tuple[Path, Path]:
        """Assembly, and the linked object of the same compilation.

        Raises `CalledProcessError`.
        """
