"""The manual's recipes for build systems and editors, each run as it stands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ..conftest import FIXTURES
from ..test_golden import run
from .recipes import recipe

FAILS = FIXTURES / "container" / "occupancy"
PASSES = FIXTURES / "container" / "libtwo.so"
TOOLS = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def command(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = os.environ | {"PATH": TOOLS} | environment
    return subprocess.run(
        words, cwd=folder, env=known, capture_output=True, text=True, timeout=300, check=False
    )


TORCH = """
import os
import shutil
from setuptools import Extension
from setuptools.command.build_ext import build_ext
CUDAExtension = Extension
class BuildExtension(build_ext):
    def build_extension(self, extension):
        built = self.get_ext_fullpath(extension.name)
        self.mkpath(os.path.dirname(built))
        shutil.copy({built!r}, built)
"""
"""A stand-in for PyTorch, which is too large to install; it copies instead of building."""


@pytest.mark.needs("setuptools")
@pytest.mark.parametrize(("built", "passes"), [(PASSES, True), (FAILS, False)])
def test_pytorch(tmp_path: Path, built: Path, passes: bool) -> None:
    package = tmp_path / "fake" / "torch" / "utils"
    package.mkdir(parents=True)
    (package / "cpp_extension.py").write_text(TORCH.format(built=str(built)))
    (tmp_path / "setup.py").write_text(recipe("pytorch"))
    build = (sys.executable, "setup.py", "build_ext", "--inplace")
    done = command(*build, folder=tmp_path, PYTHONPATH=str(tmp_path / "fake"))
    assert (done.returncode == 0) == passes, done.stderr
    assert ("sgprbound(int, double*)" in done.stdout) != passes
    assert ("kernelinfo check passed" in done.stdout) == passes


@pytest.mark.needs("triton")
@pytest.mark.nightly
def test_triton_and_its_cache(tmp_path: Path) -> None:
    (tmp_path / "my_kernels.py").write_text(recipe("triton"))
    check = recipe("triton-cache").replace(
        "python my_kernels.py", f"{sys.executable} my_kernels.py"
    )
    root = str(FIXTURES.parent)
    packages = os.pathsep.join([root, *filter(None, map(str, sys.path))])
    done = command("bash", "-euc", check, folder=tmp_path, PYTHONPATH=packages)
    assert done.returncode == 0, done.stderr
    shown, gate = done.stdout.splitlines()[:4], done.stdout.splitlines()[-1]
    assert [line.split()[:2] for line in shown] == [
        ["gfx90a", "1024"], ["gfx90a", "4096"], ["gfx942", "1024"], ["gfx942", "4096"]
    ]  # fmt: skip
    assert gate.startswith("kernelinfo check passed: ")


@pytest.fixture
def bazel() -> str:
    found = shutil.which("bazel") or shutil.which("bazelisk")
    if found is None:
        pytest.skip("no bazel here (Debian's bazel-bootstrap)")
    return found


@pytest.mark.nightly
@pytest.mark.parametrize(("built", "passes"), [(PASSES, True), (FAILS, False)])
def test_bazel(tmp_path: Path, bazel: str, built: Path, passes: bool) -> None:
    target = f'filegroup(name = "my_kernels", srcs = ["{built.name}"])\n'
    (tmp_path / "BUILD").write_text(target + recipe("bazel"))
    (tmp_path / "WORKSPACE").touch()
    (tmp_path / ".bazelrc").write_text("build --action_env=PATH\n")
    (tmp_path / "kernelinfo.toml").write_text('fail-on = "warning"\n')
    shutil.copy(built, tmp_path / built.name)
    started = (bazel, f"--output_user_root={tmp_path / 'cache'}", "--max_idle_secs=5")
    done = command(*started, "build", "//:check_kernels", folder=tmp_path)
    assert (done.returncode == 0) == passes, done.stderr
    if passes:
        written = tmp_path / "bazel-bin" / "kernels.xml"
        assert ElementTree.parse(written).findall(".//testcase")
    else:
        assert "check_kernels" in done.stderr


def patterns() -> list[dict[str, Any]]:
    (task,) = json.loads(recipe("vscode"))["tasks"]
    return [matcher["pattern"] for matcher in task["problemMatcher"]]


@pytest.mark.parametrize(
    ("name", "lines"),
    [("assembly/spills-clang22-gfx90a.s", True), (f"container/{FAILS.name}", False)],
)
def test_vs_code_finds_what_check_finds(name: str, lines: bool) -> None:
    """Each line of a finding, with its file, line, severity and rule, and none else."""
    out, _, _ = run("check", name, "--top", "0", "--fail-on", "note", folder=FIXTURES)
    kernels = json.loads(run("check", name, "--format", "json", folder=FIXTURES)[0])["kernels"]
    expected = sorted((f["severity"], f["rule"]) for k in kernels for f in k["findings"])
    with_line, without = patterns()
    found = []
    for line in out.splitlines()[:-1]:
        pattern = with_line if re.search(with_line["regexp"], line) else without
        match = re.search(pattern["regexp"], line)
        assert match, line
        assert ("line" in pattern) == lines
        assert match[pattern["file"]].endswith(name)
        found.append((match[pattern["severity"]], match[pattern["code"]]))
        assert match[pattern["message"]] in line
    assert sorted(found) == expected
    assert not any(re.search(p["regexp"], out.splitlines()[-1]) for p in patterns())
    shown = r"`(\^\(\.\+\?\).*?\$)`"
    from kernelinfo import manual

    assert re.findall(shown, manual.page("build")) == [with_line["regexp"]]
