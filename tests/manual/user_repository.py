"""A user's repository that adopted the gate with warnings in it, for the recipes of CI systems."""

from __future__ import annotations

from pathlib import Path

from ..contract.compiled import assembly
from ..test_golden import run

REGRESSION = "lost 4 waves (8 → 4): 80 VGPRs (≤ 64 for 8 waves/SIMD)"
"""Part of the finding after `regress`."""


def adopt(folder: Path) -> None:
    """Two kernels in `build/`, a configuration, and a baseline that accepts a warning."""
    (folder / "build").mkdir()
    (folder / "build" / "a.s").write_text(assembly("saxpy"))
    (folder / "build" / "b.s").write_text(assembly("scale,vgpr=50,spill=30,scratch=120"))
    (folder / "kernelinfo.toml").write_text('paths = ["build"]\nbaseline = "b.json"\n')
    out, err, code = run("check", "--update-baseline", folder=folder)
    assert (err, code) == ("", 0), out
    assert "1 finding accepted" in out


def regress(folder: Path) -> None:
    """Build the first kernel with more VGPRs."""
    (folder / "build" / "a.s").write_text(assembly("saxpy,vgpr=80"))
