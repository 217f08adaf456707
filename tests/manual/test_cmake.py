"""The manual's lines for CMake, in a project that has a library with kernels in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernelinfo import __version__

from ..compiling import needs_clang
from ..conftest import FIXTURES, require
from ..messages import says
from .recipes import recipe

CMAKE = shutil.which("cmake")
needs_cmake = pytest.mark.needs("cmake")
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(kernels LANGUAGES NONE)
add_library(my_kernels SHARED IMPORTED)
set_target_properties(my_kernels PROPERTIES IMPORTED_LOCATION "@LIBRARY@")
"""


@pytest.fixture
def build(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    require("cmake")
    assert CMAKE
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


PACKAGE = """
cmake_minimum_required(VERSION 3.20)
project(kernels LANGUAGES NONE)
"""
IMPORTED = """
add_library(my_kernels SHARED IMPORTED)
set_target_properties(my_kernels PROPERTIES IMPORTED_LOCATION "@LIBRARY@")
"""
KERNELINFO = str(Path(sys.executable).with_name("kernelinfo"))
SAXPY = """
__attribute__((global)) void saxpy(float *y, const float *x) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
#ifdef SPILL
  asm volatile("" ::: "v200");
#endif
  y[i] += 2 * x[i];
}
"""


def configured(folder: Path, lines: str) -> Path:
    """The build folder of a project with these lines that finds the package."""
    assert CMAKE is not None
    (folder / "CMakeLists.txt").write_text(PACKAGE + lines)
    there = command(KERNELINFO, "cmake-dir")
    assert there.returncode == 0, there.stderr
    where = f"-Dkernelinfo_DIR={there.stdout.strip()}"
    found = f"-DCMAKE_PROGRAM_PATH={Path(sys.executable).parent}"
    done = command(CMAKE, "-S", str(folder), "-B", str(folder / "build"), where, found)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return folder / "build"


@needs_cmake
@pytest.mark.parametrize(
    ("library", "passes"), [("container/libtwo.so", True), ("container/occupancy", False)]
)
def test_the_package_checks_a_library(tmp_path: Path, library: str, passes: bool) -> None:
    assert CMAKE is not None
    (tmp_path / "kernelinfo.toml").write_text('fail-on = "warning"\n')
    lines = IMPORTED.replace("@LIBRARY@", (FIXTURES / library).as_posix())
    build = configured(tmp_path, lines + recipe("cmake-package"))
    tested = command("ctest", "--test-dir", str(build), "--output-on-failure")
    assert (tested.returncode == 0) == passes, tested.stdout
    assert "kernels-my_kernels" in tested.stdout
    built = command(CMAKE, "--build", str(build), "--target", "check-my_kernels")
    assert (built.returncode == 0) == passes, built.stderr
    assert ("sgprbound(int, double*)" in built.stdout) != passes


@needs_cmake
def test_the_assembly_of_a_target_names_lines(tmp_path: Path) -> None:
    lines = recipe("cmake-assembly").partition("\n")[2]  # no compiler here that would take the flag
    start = "find_package(kernelinfo REQUIRED)\nenable_testing()\nadd_custom_target(my_kernels)\n"
    build = configured(tmp_path, start + lines)
    objects = build / "CMakeFiles" / "my_kernels.dir" / "src"
    objects.mkdir(parents=True)
    shutil.copy(FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s", objects)
    tested = command("ctest", "--test-dir", str(build), "--output-on-failure")
    assert "gfx90a.s:1965: warning KI106 sgprbound(int, double*)" in tested.stdout


@needs_cmake
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("kernelinfo_check(TARGET nothing)", "nothing is no target"),
        ("kernelinfo_check()", "give TARGET and a target"),
        ("kernelinfo_check(TARGET a FILE b)", "not known: FILE;b"),
        ("add_custom_target(a)\nkernelinfo_check(TARGET a)", "a has no file of its own; give"),
        ("find_package(kernelinfo 99 REQUIRED)", "99"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        configured(tmp_path, f"find_package(kernelinfo REQUIRED)\n{lines}\n")
    assert message in " ".join(str(raised.value).split())


@needs_cmake
def test_the_package_has_the_version_of_the_wheel(tmp_path: Path) -> None:
    lines = f"find_package(kernelinfo {__version__} EXACT REQUIRED)\n"
    configured(tmp_path, lines + 'file(WRITE seen.txt "${kernelinfo_VERSION}")\n')
    assert (tmp_path / "seen.txt").read_text() == __version__


@pytest.mark.nightly
@needs_clang
@needs_cmake
def test_a_custom_command_is_checked_when_it_is_built(tmp_path: Path) -> None:
    """A kernel compiled by clang passes; the build stops when an edit makes it lose waves."""
    assert CMAKE is not None
    source = tmp_path / "saxpy.hip"
    source.write_text(SAXPY)
    (tmp_path / "kernelinfo.toml").write_text('[[budget]]\nkernel = "saxpy*"\nwaves = 4\n')
    lines = recipe("cmake-command").replace("clang++", "clang-22 -nogpuinc -nogpulib")
    build = configured(tmp_path, f"find_package(kernelinfo REQUIRED)\nenable_testing()\n{lines}")
    check = (CMAKE, "--build", str(build), "--target", "check-saxpy")
    done = command(*check)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kernelinfo check passed" in done.stdout
    source.write_text("#define SPILL\n" + SAXPY)
    done = command(*check)
    assert done.returncode != 0
    assert says(done.stdout, "budget-exceeded error KI206 saxpy( … waves ≥ 4")
    tested = command("ctest", "--test-dir", str(build), "--output-on-failure")
    assert tested.returncode != 0
    assert "KI206" in tested.stdout
