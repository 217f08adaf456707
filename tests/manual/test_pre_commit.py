"""Both hooks in the real pre-commit, on git repositories made for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from . import user_repository
from .recipes import REPOSITORY, ROOT, recipe

GOOD = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"
SPILLS = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
HOST = FIXTURES / "broken" / "x86.s"


def run(*command: str, folder: Path, home: Path | None = None) -> tuple[int, str]:
    environment = os.environ | ({"PRE_COMMIT_HOME": str(home)} if home else {})
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def git(folder: Path, *words: str) -> str:
    code, printed = run("git", *words, folder=folder)
    assert code == 0, printed
    return printed.strip()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environment in which pre-commit installs this checkout from a package index."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, which pre-commit would clone")
    folder = tmp_path_factory.mktemp("reach")
    reach = ("-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "hatchling")
    code, _ = run(sys.executable, *reach, folder=folder)
    if code:
        pytest.skip("no package index within reach, and pre-commit installs hooks from one")
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty one that follows README's recipe, with what is committed here as the release."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    followed = recipe("pre-commit").replace(REPOSITORY, str(ROOT))
    followed = followed.replace("v0.4.0", git(ROOT, "rev-parse", "HEAD"))
    (folder / ".pre-commit-config.yaml").write_text(followed)
    return folder


def pre_commit(repository: Path, home: Path, *words: str) -> tuple[int, str]:
    """Exit code and output, on what is staged."""
    git(repository, "add", "-A")
    return run(sys.executable, "-m", "pre_commit", *words, folder=repository, home=home)


def test_the_manifest_is_valid() -> None:
    validate = ("-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml")
    code, printed = run(sys.executable, *validate, folder=ROOT)
    assert code == 0, printed


@pytest.mark.parametrize("suffix", [".s", ".o", ".co", ".hsaco", ".out"])
def test_outputs_of_a_build_are_checked(suffix: str) -> None:
    manifest = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (\S+)", manifest)
    assert pattern
    assert re.search(pattern[1], f"build/gemm{suffix}")


def test_this_checkout_as_it_is_checks_staged_kernels(home: Path, repository: Path) -> None:
    shutil.copy(GOOD, repository / "good.co")
    shutil.copy(SPILLS, repository / "spills.s")
    code, printed = pre_commit(repository, home, "try-repo", str(ROOT), "kernelinfo")
    assert code == 1
    assert "- exit code: 1" in printed
    assert "14 spill reloads" in printed
    assert "sgprbound" in printed


def test_host_assembly_is_passed_over_quietly(home: Path, repository: Path) -> None:
    shutil.copy(HOST, repository / "memcpy.s")
    code, printed = pre_commit(repository, home, "run", "kernelinfo", "--verbose")
    assert code == 0, printed
    assert "memcpy" not in printed
    shutil.copy(SPILLS, repository / "spills.s")
    code, printed = pre_commit(repository, home, "run", "kernelinfo")
    assert code == 1
    assert "- exit code: 1" in printed
    assert "14 spill reloads" in printed
    assert "memcpy" not in printed


def test_without_kernels_it_is_skipped(home: Path, repository: Path) -> None:
    code, printed = pre_commit(repository, home, "run", "kernelinfo")
    assert code == 0
    assert "(no files to check)Skipped" in printed


def test_a_build_is_checked_where_the_configuration_says(home: Path, repository: Path) -> None:
    (repository / "kernelinfo.toml").write_text('paths = ["build/*-hip-amdgcn-*.s"]\n')
    (repository / ".gitignore").write_text("build/\n")
    (repository / "build").mkdir()
    push = ("run", "kernelinfo-build", "--hook-stage", "pre-push", "--all-files")
    code, printed = pre_commit(repository, home, *push)
    assert code == 1
    assert "- exit code: 2" in printed, "nothing was built: that is no pass"
    assert "build/*-hip-amdgcn-*.s" in printed
    shutil.copy(SPILLS, repository / "build")
    code, printed = pre_commit(repository, home, *push)
    assert code == 1
    assert "- exit code: 1" in printed
    assert "14 spill reloads" in printed


def test_a_push_stops_at_a_regression(home: Path, repository: Path) -> None:
    user_repository.adopt(repository)
    push = ("run", "kernelinfo-build", "--hook-stage", "pre-push", "--all-files")
    code, printed = pre_commit(repository, home, *push)
    assert code == 0, printed
    user_repository.regress(repository)
    code, printed = pre_commit(repository, home, *push)
    assert code == 1
    assert "- exit code: 1" in printed
    assert user_repository.REGRESSION in printed
