"""The action with `baseline-artifact`, step by step as GitHub runs it, against a server that stands
for GitHub."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ..contract.compiled import assembly
from .github_server import FORK, TOKEN, GitHub, serve
from .recipes import ROOT, recipe

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
NAME = "kernelinfo-baseline"
MARK = f"<!-- kernelinfo: {NAME} -->\n"
FIRST, SECOND, THIRD = "1" * 40, "2" * 40, "3" * 40


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serve() as github:
        github.history = [FIRST, SECOND, THIRD]
        yield github


def build(folder: Path, *kernels: str) -> None:
    """The state of a checkout after its build; the baseline is not committed."""
    (folder / "build").mkdir(parents=True, exist_ok=True)
    (folder / "build" / "a.s").write_text(assembly(*kernels))
    (folder / "kernelinfo.toml").write_text('paths = ["build"]\nbaseline = "b.json"\n')
    (folder / "b.json").unlink(missing_ok=True)


def run_job(folder: Path, github: GitHub, event: str, commit: str) -> tuple[int, str]:
    """(exit code, log) of a job: all steps of the action that are of this repository."""
    outputs: dict[str, dict[str, str]] = {}
    inputs = {name: str(one["default"]) for name, one in ACTION["inputs"].items()}
    inputs |= yaml.safe_load(recipe("github-pull-requests"))["jobs"]["kernels"]["steps"][-1]["with"]
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    pull = {"number": 7, "base": {"ref": "main", "sha": THIRD}, "head": {"sha": commit}}
    (temporary / "event.json").write_text(
        json.dumps({"pull_request": pull, "repository": {"default_branch": "main"}})
    )
    fixed = {
        "inputs.upload-sarif == 'true' && 'kernelinfo.sarif' || ''": "",
        "steps.python.outputs.python-path": sys.executable,
        "github.action_path": str(ROOT),
        "github.event_name": event,
        "github.token": TOKEN,
        "github.sha": commit,
        **{f"inputs.{name}": value for name, value in inputs.items()},
    }

    def fill(text: str) -> str:
        def value(match: re.Match[str]) -> str:
            path = re.fullmatch(r"steps\.(\w+)\.outputs\.(\w+)", match[1])
            if path and path[1] in outputs:
                return outputs[path[1]].get(path[2], "")
            return fixed[match[1]]

        return re.sub(r"\$\{\{ (.*?) \}\}", value, str(text))

    code, log = 0, ""
    for step in ACTION["runs"]["steps"]:
        condition = step.get("if", "")
        if code and "always()" not in condition:
            continue
        if step.get("name") == "Upload the baseline":
            if outputs.get("check", {}).get("pinned") == "true":
                data = (folder / fill(step["with"]["path"])).read_bytes()
                github.upload(fill(step["with"]["name"]), commit, data)
        elif "pull_request" in step.get("run", ""):
            if step.get("name") == "Comment" and not outputs.get("baseline", {}).get("compared"):
                continue
            output = temporary / "output"
            output.write_text("")
            environment = os.environ | {name: fill(text) for name, text in step["env"].items()}
            environment |= {
                "RUNNER_TEMP": str(temporary),
                "GITHUB_ACTIONS": "true",
                "GITHUB_API_URL": github.url,
                "GITHUB_REPOSITORY": "user/kernels",
                "GITHUB_EVENT_PATH": str(temporary / "event.json"),
                "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
                "GITHUB_OUTPUT": str(output),
            }
            script = step["run"].replace('export PYTHONPATH="$RUNNER_TEMP/kernelinfo"\n', "")
            shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
            done = subprocess.run(
                shell, cwd=folder, env=environment, capture_output=True, text=True
            )
            code, log = code or done.returncode, log + done.stdout + done.stderr
            lines = (line.partition("=") for line in output.read_text().splitlines())
            outputs[step.get("id", "")] = {name: value for name, _, value in lines}
    return code, log


def test_a_pull_request_has_one_comment_on_its_merge_base(tmp_path: Path, github: GitHub) -> None:
    """Main got faster after the branch began: only the merge base says what the branch changed."""
    main, branch = tmp_path / "main", tmp_path / "branch"
    build(main, "saxpy,vgpr=70", "scale")
    assert run_job(main, github, "push", FIRST)[0] == 0
    build(main, "saxpy,vgpr=40", "scale")
    assert run_job(main, github, "push", THIRD)[0] == 0
    assert [one["name"] for one in github.artifacts] == [f"{NAME}-{THIRD}", f"{NAME}-{FIRST}"]

    github.merge_base = FIRST
    github.write("User", f"{MARK}not yours")
    for _ in range(120):
        github.write("User", "looks good")
    build(branch, "saxpy,vgpr=140", "scale")
    code, log = run_job(branch, github, "pull_request", "a" * 40)
    assert code == 1, log
    (comment,) = (one for one in github.comments if one["user"]["type"] == "Bot")
    assert comment["body"].startswith(f"{MARK}**kernelinfo failed: ")
    assert "Compared with the baseline of 111111111111, the merge base." in comment["body"]
    assert "`saxpy`" in comment["body"]

    build(branch, "saxpy,vgpr=70", "scale")
    code, log = run_job(branch, github, "pull_request", "b" * 40)
    assert code == 0, log
    (comment,) = (one for one in github.comments if one["user"]["type"] == "Bot")
    assert comment["body"].startswith(f"{MARK}**kernelinfo passed: ")
    assert github.comments[0]["body"] == f"{MARK}not yours"
    assert github.tokens == [None, None], "the store of artifacts gets no token"


def test_a_baseline_of_somebody_else_is_not_compared_with(tmp_path: Path, github: GitHub) -> None:
    """Runs of a fork and of a branch may upload what they want under any name."""
    build(tmp_path / "main", "saxpy")
    assert run_job(tmp_path / "main", github, "push", FIRST)[0] == 0
    build(tmp_path / "fork", "saxpy,vgpr=200")
    run_job(tmp_path / "fork", github, "push", SECOND)
    forged = (tmp_path / "fork" / "b.json").read_bytes()
    github.artifacts.pop(0)
    github.upload(f"{NAME}-{SECOND}", SECOND, forged, head=FORK)
    github.upload(f"{NAME}-{SECOND}", SECOND, forged, branch="feature")
    github.upload(f"{NAME}-{SECOND}", "a" * 40, forged)
    github.merge_base = SECOND
    build(tmp_path, "saxpy,vgpr=200")
    code, log = run_job(tmp_path, github, "pull_request", "a" * 40)
    assert code == 1, log
    assert "Compared with the baseline of 111111111111, 1 before the merge base." in log


def test_without_a_baseline_or_a_right_it_says_so(tmp_path: Path, github: GitHub) -> None:
    github.merge_base = SECOND
    build(tmp_path, "saxpy")
    code, log = run_job(tmp_path, github, "pull_request", "a" * 40)
    assert (code, github.comments) == (2, [])
    assert f"kernelinfo: no artifact {NAME}-{SECOND}" in log
    assert run_job(tmp_path, github, "push", SECOND)[0] == 0
    github.may_comment = False
    code, log = run_job(tmp_path, github, "pull_request", "a" * 40)
    assert code == 0, log
    assert "kernelinfo: the token may not comment" in log
    assert run_job(tmp_path, github, "pull_request_target", "a" * 40)[0] == 0
    assert len(github.artifacts) == 1, "a job with rights pins no code of others"


def test_a_long_comment_is_cut() -> None:
    names: dict[str, Any] = {"__name__": "script"}
    source = (ROOT / ".ci" / "pull_request").read_text("utf-8").removesuffix("main()\n")
    exec(source, names)
    rows = "".join(f"| kernel {number} |\n" for number in range(9_000))
    text = names["cut"](f"head\n\n<details>\n\n{rows}\n</details>\n")
    assert len(text) < 65_536
    assert text.count("<details>") == text.count("</details>") == 1
    assert names["cut"]("short\n") == "short\n"
