"""Both hooks in the real pre-commit, on a git repository made for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import FIXTURES
from .recipes import ROOT, recipe

GOOD = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"
SPILLS = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
HOST = FIXTURES / "broken" / "x86.s"


def run(*command: str, folder: Path, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"PRE_COMMIT_HOME": str(home)} if home else {})
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pre-commit's own environments, made once; the first hook run installs this checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, which pre-commit would clone")
    reach = run(sys.executable, "-m", "pip", "download", "--no-deps", "-q", "lark", "-d",
                str(tmp_path_factory.mktemp("reach")), folder=ROOT)  # fmt: skip
    if reach.returncode:
        pytest.skip("no package index within reach, and pre-commit installs hooks from one")
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for command in (
        ("init", "-q"),
        ("config", "user.email", "kernels@example.org"),
        ("config", "user.name", "kernels"),
    ):
        assert run("git", *command, folder=folder).returncode == 0
    return folder


def try_hook(hook: str, repository: Path, home: Path, *options: str) -> tuple[int, str]:
    """The hook of this checkout as it is now, on what is staged."""
    assert run("git", "add", "-A", folder=repository).returncode == 0
    command = (sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), hook, *options)
    done = run(*command, folder=repository, home=home)
    return done.returncode, done.stdout + done.stderr


def test_the_manifest_is_valid() -> None:
    command = (sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml")
    done = run(*command, folder=ROOT)
    assert done.returncode == 0, done.stdout


def test_staged_kernels_are_checked(home: Path, repository: Path) -> None:
    shutil.copy(GOOD, repository / "good.co")
    shutil.copy(SPILLS, repository / "spills.s")
    code, told = try_hook("kernelinfo", repository, home)
    assert code == 1
    assert "KI106" in told
    assert "sgprbound" in told
    assert "14 spill reloads" in told


def test_host_assembly_is_passed_over_quietly(home: Path, repository: Path) -> None:
    shutil.copy(GOOD, repository / "good.co")
    shutil.copy(HOST, repository / "memcpy.s")
    code, told = try_hook("kernelinfo", repository, home, "--verbose")
    assert code == 0, told
    assert "memcpy" not in told


def test_host_assembly_alone_passes(home: Path, repository: Path) -> None:
    shutil.copy(HOST, repository / "memcpy.s")
    code, told = try_hook("kernelinfo", repository, home)
    assert code == 0, told


def test_nothing_staged_for_it_is_skipped(home: Path, repository: Path) -> None:
    (repository / "README").write_text("kernels\n")
    code, told = try_hook("kernelinfo", repository, home)
    assert code == 0
    assert "(no files to check)Skipped" in told


def test_a_build_is_checked_where_the_configuration_says(home: Path, repository: Path) -> None:
    (repository / "kernelinfo.toml").write_text('paths = ["build/*-hip-amdgcn-*.s"]\n')
    (repository / ".gitignore").write_text("build/\n")
    (repository / "build").mkdir()
    stage = ("--hook-stage", "pre-push", "--all-files")
    code, told = try_hook("kernelinfo-build", repository, home, *stage)
    assert code == 1
    assert "build/*-hip-amdgcn-*.s" in told
    shutil.copy(SPILLS, repository / "build")
    code, told = try_hook("kernelinfo-build", repository, home, *stage)
    assert code == 1
    assert "14 spill reloads" in told


def test_the_recipe_is_a_valid_configuration(tmp_path: Path) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text(recipe("pre-commit"))
    command = (sys.executable, "-m", "pre_commit", "validate-config")
    done = run(*command, str(tmp_path / ".pre-commit-config.yaml"), folder=tmp_path)
    assert done.returncode == 0, done.stdout
