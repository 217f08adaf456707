"""Dependencies: locked by hash, tried at their lowest versions, their licences listed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
_PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT, BUILD = _PYPROJECT["project"], _PYPROJECT["build-system"]["requires"]


def pinned(name: str) -> dict[str, str]:
    return dict(PINNED.findall((ROOT / ".ci" / name).read_text("utf-8")))


def required(*extras: str) -> dict[str, str]:
    """Each requirement with the rest of its line, by its name as package indices spell it."""
    lines = PROJECT["dependencies"] + [
        line for extra in extras for line in PROJECT["optional-dependencies"][extra]
    ]
    split = (re.match(r"([\w.-]+)(.*)", line) for line in lines)
    return {re.sub(r"[._-]+", "-", m[1]).lower(): m[2] for m in split if m}


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", one)[0] for one in requirements}  # type: ignore[index]


@pytest.mark.parametrize(
    ("lock", "needed"),
    [
        ("requirements.txt", set(required("re", "test", "lint")) - {"kernelinfo"}),
        ("extras.txt", set(required("compile", "fleet", "cluster", "mcp"))),
        ("runtime.txt", set(required("re"))),
        ("build.txt", names(BUILD)),
        ("tools.txt", {"pip-audit", "uv", "zizmor"}),
    ],
)
def test_what_ci_installs_is_locked_by_hash(lock: str, needed: set[str]) -> None:
    text = (ROOT / ".ci" / lock).read_text("utf-8")
    assert needed <= pinned(lock).keys()
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\w)", text))
    assert "://" not in text


def test_the_locks_agree() -> None:
    """The tests use the versions that the action installs, and one version of what extras share."""
    tried, extras = pinned("requirements.txt"), pinned("extras.txt")
    assert {name: tried[name] for name in pinned("runtime.txt")} == pinned("runtime.txt")
    shared = tried.keys() & extras.keys()
    assert {name: tried[name] for name in shared} == {name: extras[name] for name in shared}


@pytest.mark.nightly
def test_the_action_installs_by_its_locks(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (step,) = (one for one in action["runs"]["steps"] if one.get("name") == "Install kernelinfo")
    given = {"PYTHON": sys.executable, "SOURCE": str(ROOT), "VERSION": ""}
    environment = os.environ | given | {"RUNNER_TEMP": str(tmp_path)}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    subprocess.run(shell, env=environment, check=True, capture_output=True)
    installed = {path.name for path in (tmp_path / "kernelinfo").glob("*.dist-info")}
    assert {name.partition("-")[0].replace("_", "-").lower() for name in installed} <= {
        "kernelinfo",
        *pinned("runtime.txt"),
    }
    command = [sys.executable, "-S", "-m", "kernelinfo", "arch", "gfx942"]
    found = {"PYTHONPATH": str(tmp_path / "kernelinfo")}
    done = subprocess.run(command, env=found, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gfx942" in done.stdout


def test_the_lowest_versions_are_the_ones_allowed() -> None:
    lowest = pinned("lowest.txt")
    for name, rest in required("re").items():
        bound = re.match(r">=([\d.]+)", rest)
        assert bound, name
        allowed = tuple(map(int, bound[1].split(".")))
        tried = tuple(map(int, lowest[name].split(".")))
        # A lowest version may have been withdrawn; then it is the next.
        assert allowed <= tried
        assert allowed[0] == tried[0]


def test_licences_are_listed() -> None:
    rows = re.findall(r"^\| ([\w-]+) \|", (ROOT / ".ci" / "licences.md").read_text("utf-8"), re.M)
    assert rows[2:] == sorted(pinned("lowest.txt"))
