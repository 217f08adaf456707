"""Compile LLVM IR with the compiler of Triton's wheel, which needs no GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kernelinfo import arch

from .compilers import Setting, known_targets, settings_of
from .shapes import Shape

_WORKER = Path(__file__).with_name("triton_worker.py")


class Triton:
    """The version that is installed.

    LLVM of Triton 3.9, main of 2026, is older than what September brought (LDS granule of RDNA,
    1024 VGPRs of gfx13: `model.compilers`), so that its formulas are those of 23.
    """

    llvm = 23

    @property
    def name(self) -> str:
        return f"Triton {_known()['version']}"

    @property
    def needed(self) -> tuple[str, ...]:
        return ("triton",)

    def settings(self) -> tuple[Setting, ...]:
        targets = map(arch, _known()["targets"])
        return tuple(each for known in targets for each in settings_of(known.target))

    def build(
        self, setting: Setting, shapes: Mapping[str, Shape], folder: Path
    ) -> tuple[Path, Path]:
        kernels = "".join(shape.ir(name) for name, shape in shapes.items())
        version = 600 if setting.target.members else 500
        unit = {
            "ir": _MODULE.format(kernels=kernels, version=version),
            "target": setting.target.name,
            "features": ",".join(_features(setting)),
            "folder": str(folder),
        }
        _ask(unit)
        return folder / "unit.s", folder / "unit.co"


_MODULE = """\
target triple = "TRIPLE"
{kernels}
!llvm.module.flags = !{{!0}}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 {version}}}
"""


def _features(setting: Setting) -> list[str]:
    features = []
    if setting.wave_size != setting.target.waves.default_size:
        features.append("+wavefrontsize64")
    if setting.wgp_mode is False:
        features.append("+cumode")
    return features


@cache
def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_ask([target.name for target in known_targets()]))
    return found


def _ask(asked: object) -> str:
    command = [sys.executable, str(_WORKER)]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, check=True, text=True
    )
    return done.stdout
