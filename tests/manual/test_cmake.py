"""The manual's lines for CMake, in a project that has a library with kernels in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from .recipes import recipe

CMAKE = shutil.which("cmake")
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(kernels LANGUAGES NONE)
add_library(my_kernels SHARED IMPORTED)
set_target_properties(my_kernels PROPERTIES IMPORTED_LOCATION "@LIBRARY@")
"""


@pytest.fixture
def build(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if CMAKE is None:
        pytest.skip("no cmake here")
    library = FIXTURES / request.param
    (tmp_path / "kernelinfo.toml").write_text('fail-on = "warning"\n')
    lines = PROJECT.replace("@LIBRARY@", library.as_posix()) + recipe("cmake")
    (tmp_path / "CMakeLists.txt").write_text(lines)
    folder = tmp_path / "build"
    found = Path(sys.executable).parent
    done = command(CMAKE, "-S", str(tmp_path), "-B", str(folder), f"-DCMAKE_PROGRAM_PATH={found}")
    assert done.returncode == 0, done.stderr
    return folder


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("build", ["container/libtwo.so"], indirect=True)
def test_a_library_that_passes(build: Path) -> None:
    assert CMAKE is not None
    tested = command("ctest", "--test-dir", str(build), "--output-on-failure")
    assert tested.returncode == 0, tested.stdout
    assert "100% tests passed, 0 tests failed out of 1" in tested.stdout
    built = command(CMAKE, "--build", str(build), "--target", "check-kernels")
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("build", ["container/occupancy"], indirect=True)
def test_a_program_that_fails(build: Path) -> None:
    assert CMAKE is not None
    tested = command("ctest", "--test-dir", str(build), "--output-on-failure")
    assert tested.returncode != 0
    assert "sgprbound(int, double*)" in tested.stdout
    built = command(CMAKE, "--build", str(build), "--target", "check-kernels")
    assert built.returncode != 0
    assert "sgprbound(int, double*)" in built.stdout
