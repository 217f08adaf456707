"""The manual's pipeline for build logs, run as it stands there on a build with CMake and clang."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import require
from .recipes import ROOT

CLANG = next((path for n in (22, 19, 15) if (path := shutil.which(f"clang-{n}"))), None)
INPUTS = (ROOT / "kernelinfo" / "manual" / "inputs.md").read_text("utf-8")
PIPELINE = re.findall(r"((?:^    .*\n)*^    cmake --build .*\n)", INPUTS, re.MULTILINE)
BUDGET = re.findall(r"((?:^    .*\n)*^    vgpr = .*\n(?:^    .*\n)*)", INPUTS, re.MULTILINE)
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(kernels LANGUAGES NONE)
add_custom_command(
  OUTPUT kernels.s
  COMMAND @CLANG@ -x hip --cuda-device-only -nogpuinc -nogpulib -O2 --offload-arch=gfx90a
          -Rpass-analysis=kernel-resource-usage -S ${CMAKE_SOURCE_DIR}/kernels.hip -o kernels.s
  DEPENDS kernels.hip)
add_custom_target(kernels ALL DEPENDS kernels.s)
"""
SOURCE = """
__attribute__((global)) void twice(float *p) {
  p[__builtin_amdgcn_workitem_id_x()] *= 2;
}
"""


def unindented(block: str) -> str:
    return "".join(line[4:] for line in block.splitlines(keepends=True))


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build folder with the manual's budget, nothing built yet."""
    require("cmake", "clang-22")
    assert CLANG
    cmake = shutil.which("cmake")
    assert cmake
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.replace("@CLANG@", CLANG))
    (tmp_path / "kernels.hip").write_text(SOURCE)
    folder = tmp_path / "build"
    subprocess.run([cmake, "-S", tmp_path, "-B", folder], check=True, capture_output=True)
    (folder / "kernelinfo.toml").write_text(unindented(BUDGET[0]))
    return folder


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """The manual's lines in bash."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", unindented(PIPELINE[0])],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )


def test_the_manual_has_one_pipeline_and_one_budget() -> None:
    assert len(PIPELINE) == len(BUDGET) == 1
    assert "set -o pipefail" in PIPELINE[0]


@pytest.mark.nightly
def test_a_build_within_its_budget_passes_again_and_again(build: Path) -> None:
    for _ in range(2):
        done = run(build)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 kernel" in done.stdout
    assert "Function Name: _Z5twicePf" in (build / "build.log").read_text()


@pytest.mark.nightly
def test_a_build_beyond_its_budget_fails(build: Path) -> None:
    configuration = build / "kernelinfo.toml"
    configuration.write_text(configuration.read_text().replace("128", "1"))
    done = run(build)
    assert done.returncode == 1, done.stderr
    assert "twice" in done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("wrong", ["#error no\n", 'static_assert(false, "x");\n'])
def test_a_build_that_fails_is_exit_2(wrong: str, build: Path) -> None:
    source = build.parent / "kernels.hip"
    source.write_text(wrong + source.read_text())
    done = run(build)
    assert done.returncode == 2
    assert "the build failed here" in done.stderr or "no resource usage" in done.stderr


@pytest.mark.nightly
def test_a_build_that_fails_without_a_word_is_not_passed(build: Path) -> None:
    """`pipefail` is needed for this."""
    lists = build.parent / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace("DEPENDS kernels.hip", "COMMAND false VERBATIM"))
    assert run(build).returncode != 0
