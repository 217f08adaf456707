"""The manual's tables of four kernels. `pytest --regen` rewrites them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..messages import codes
from ..test_golden import run

pytestmark = pytest.mark.nightly

PAGE = Path(__file__).parent.parent.parent / "kernelinfo" / "manual" / "sweep.md"
VERSIONS = {"19": "19.1.7", "22": "22.1.8"}
_FLAGS = (
    *("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none"),
    *("-DFREESTANDING", "-O3", "-w", "--offload-arch=gfx90a"),
)


def has(version: str, exact: str) -> bool:
    """True if that clang is installed."""
    if shutil.which(f"clang-{version}") is None:
        return False
    stated = subprocess.run([f"clang-{version}", "--version"], capture_output=True, text=True)
    return f"version {exact}" in stated.stdout


@pytest.mark.parametrize("version", VERSIONS)
def test_the_four_kernels(version: str, tmp_path: Path, regenerate: bool) -> None:
    if not has(version, VERSIONS[version]):
        pytest.skip(f"clang {VERSIONS[version]} is not installed")
    source = str(FIXTURES / "src" / "occupancy.hip")
    compiler = [f"clang-{version}", *_FLAGS]
    bitcode = ["-emit-llvm", "-c", "-Xclang", "-disable-llvm-passes"]
    subprocess.run([*compiler, source, *bitcode, "-o", str(tmp_path / "four.bc")], check=True)
    subprocess.run([*compiler, source, "-S", "-o", str(tmp_path / "four.s")], check=True)
    out, err, code = run("sweep", "four.bc", "--compiler", f"clang-{version}", folder=tmp_path)
    assert ({*codes(err)}, code) == ({"sweep-progress"}, 0)
    assert "-O3 (reproduces four.s)" in out
    tables = out.partition("\n\n")[2].rpartition("\n\n")[0]
    shown = f"<!-- clang-{version} -->\n```text\n{tables}\n```\n<!-- /clang-{version} -->"
    text = PAGE.read_text("utf-8")
    if regenerate:
        before, _, rest = text.partition(f"<!-- clang-{version} -->")
        after = rest.partition(f"<!-- /clang-{version} -->")[2]
        text = f"{before}{shown}{after}"
        PAGE.write_text(text, "utf-8")
    assert shown in text
