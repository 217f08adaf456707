"""The release: its workflow gives each job what it needs and no more, and its notes are the
changelog's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

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


@pytest.mark.needs("zizmor")
def test_zizmor_finds_nothing() -> None:
    zizmor = shutil.which("zizmor", path=f"{Path(sys.executable).parent}")
    assert zizmor
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
    assert jobs["publish"]["needs"] == ["build", "test"]
    assert jobs["page"]["needs"] == ["build", "publish"]
    classifiers = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert jobs["test"]["strategy"]["matrix"]["python"] == classifiers


def shell(step: dict[str, Any], folder: Path, **values: str) -> int:
    """Exit code of the step's commands, as GitHub runs them below `folder`."""
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    place = folder / step["working-directory"]
    return subprocess.run(words, cwd=place, env=os.environ | values, check=False).returncode


def steps(job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = RELEASE["jobs"][job]["steps"]
    return found


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "dist" / "a.whl").write_bytes(b"other"),
    lambda folder: (folder / "dist" / "b.whl").write_bytes(b"more"),
    lambda folder: (folder / "dist" / "a.whl").unlink(),
    lambda folder: (folder / "dist" / "a.whl").rename(folder / "dist" / "c.whl"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("job", ["publish", "page"])
def test_only_what_was_built_is_published(
    tmp_path: Path, job: str, change: Callable[[Path], object]
) -> None:
    built, places = {}, {"publish": tmp_path, "page": tmp_path / "files"}
    for name in ("dist", "page"):
        (places[job] / name).mkdir(parents=True, exist_ok=True)
        (places[job] / name / "a.whl").write_bytes(b"wheel")
        (step,) = (one for one in steps("build") if one.get("id") == name)
        output = tmp_path / f"{name}.txt"
        assert shell(step, places[job], GITHUB_OUTPUT=str(output)) == 0
        built[name] = output.read_text().removeprefix("sha256<<END\n").removesuffix("\nEND\n")
        stated = f"${{{{ steps.{name}.outputs.sha256 }}}}"
        assert RELEASE["jobs"]["build"]["outputs"][name] == stated
    number, compare = next(
        (n, s) for n, s in enumerate(steps(job)) if "sha256sum" in s.get("run", "")
    )
    given = {
        variable: built[name]
        for variable, value in compare["env"].items()
        for name in built
        if value == f"${{{{ needs.build.outputs.{name} }}}}"
    }
    assert len(given) == len(compare["env"])
    assert shell(compare, tmp_path, **given) == 0
    change(places[job])
    assert shell(compare, tmp_path, **given) == 1
    before, *behind = steps(job)[number - 1 :]
    assert "download-artifact" in before["uses"]
    assert any("publish" in str(one) or "gh release" in str(one) for one in behind[1:])


@pytest.mark.nightly
def test_the_step_that_builds_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """In a clean checkout, which the second sdist must not find changed by the first build."""
    checkout = tmp_path / "checkout"
    make = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(checkout, filter="data")
    (step,) = (one for one in RELEASE["jobs"]["build"]["steps"] if "twice" in one.get("name", ""))
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        shell,
        cwd=next(checkout.iterdir()),
        env=os.environ | {"PATH": path, "RUNNER_TEMP": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def notes(tag: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "release_notes"), tag]
    return subprocess.run(command, capture_output=True, text=True)


def test_another_tag_than_the_version_is_refused() -> None:
    done = notes("v9.9.9")
    assert done.returncode == 1
    assert done.stderr.startswith(f"v9.9.9: the package's version is {kernelinfo.__version__};")


RECIPE = ROOT / ".ci" / "conda" / "recipe.yaml"
CONDA_NAMES = {"msgpack": "msgpack-python"}
"""Name on the package index → name of the conda package, where they differ."""


def test_the_conda_recipe_has_the_version_and_the_dependencies_of_the_project() -> None:
    recipe = yaml.safe_load(RECIPE.read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {}
    for line in project["dependencies"] + project["optional-dependencies"]["re"]:
        name, bounds = re.fullmatch(r"([\w.-]+)([^;]*)(?:;.*)?", line).groups()  # type: ignore[union-attr]
        needed[CONDA_NAMES.get(name, name)] = bounds.strip()
    asked = dict(line.split(" ", 1) for line in recipe["requirements"]["run"])
    python = asked.pop("python")
    del needed["pycxxfilt"]  # not on conda-forge; the description says it
    assert "pip install pycxxfilt" in recipe["about"]["description"]
    assert asked == needed
    assert python == ">=${{ python_min }}"
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    assert recipe["context"]["version"] == kernelinfo.__version__


@pytest.mark.needs("rattler-build")
@pytest.mark.nightly
def test_the_conda_recipe_renders() -> None:
    rattler = import_module("rattler_build")
    (variant,) = rattler.Stage0Recipe.from_file(RECIPE).render()
    package = variant.recipe.package
    assert (package.name, package.version) == ("kernelinfo", kernelinfo.__version__)


def test_each_version_of_the_changelog_is_a_section_of_the_notes() -> None:
    done = notes(f"v{kernelinfo.__version__}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("### ")
    assert "\n## " not in done.stdout
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    released = [version for version in headings if version != "Unreleased"]
    assert released == ["0.4.0", "0.3.0", "0.2.0", "0.1.0"]


def test_manual_and_readme_name_the_tag_that_the_workflow_makes() -> None:
    pages = [*(ROOT / "kernelinfo" / "manual").glob("*.md"), ROOT / "README.md"]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    named = re.findall(r"(?:kernelinfo@|rev: )(v[\d.]+\d)", text)
    assert len(named) >= 3
    assert set(named) == {f"v{kernelinfo.__version__}"}
