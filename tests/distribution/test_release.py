"""The release: its workflow gives each job what it needs and no more, and its notes are the
changelog's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import kernelinfo

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(path: Path) -> None:
    for used in re.findall(r"uses: (\S+)(?: # (\S+))?", path.read_text("utf-8")):
        assert used[0] == "./" or (re.search(r"@[0-9a-f]{40}$", used[0]) and used[1][:1] == "v")


def test_zizmor_finds_nothing() -> None:
    zizmor = shutil.which("zizmor", path=f"{Path(sys.executable).parent}")
    if zizmor is None:
        pytest.skip("zizmor is not installed; .ci/tools.txt has it")
    command = [zizmor, "--offline", "--no-progress", ".github/workflows", "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_only_the_last_two_jobs_may_write() -> None:
    """One may sign, and one may make the release. Each waits for the tests of all Pythons."""
    jobs = RELEASE["jobs"]
    assert RELEASE["permissions"] == {}
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "build": {"contents": "read"},
        "test": {"contents": "read"},
        "publish": {"id-token": "write"},
        "page": {"contents": "write"},
    }
    assert (jobs["publish"]["needs"], jobs["page"]["needs"]) == ("test", "publish")
    classifiers = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert jobs["test"]["strategy"]["matrix"]["python"] == classifiers


def notes(tag: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "release_notes"), tag]
    return subprocess.run(command, capture_output=True, text=True)


def test_another_tag_than_the_version_is_refused() -> None:
    done = notes("v9.9.9")
    assert done.returncode == 1
    assert done.stderr.startswith(f"v9.9.9: the package's version is {kernelinfo.__version__};")
