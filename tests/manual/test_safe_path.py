"""No module of the checked repository runs, in the action or in a Python of kernelinfo."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
import yaml

from kernelinfo.pytest_plugin import RunCheck

from ..conftest import FIXTURES
from ..fuzz.specimens import Specimen, code_object
from ..test_golden import run
from .recipes import ROOT, recipe
from .test_recipes import ACTION, SPILLS, run_action

MODULES = (
    *("kernelinfo", "pip", "msgpack", "typer", "yaml", "pycxxfilt", "llvmlite", "multiprocessing"),
    *("subprocess", "resource", "select", "json", "re", "site", "sitecustomize", "usercustomize"),
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checked-out folder, the current one, whose modules leave a mark and end Python with 0."""
    for name in MODULES:
        mark = tmp_path / "evil-mark"
        text = f"open({str(mark)!r}, 'a').write(__name__)\nimport os; os._exit(0)\n"
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runs_nothing(repository: Path) -> bool:
    return not (repository / "evil-mark").exists()


def test_the_modules_run_without_a_safe_path(repository: Path) -> None:
    """So that the other tests can fail."""
    for name in ("kernelinfo", "pip"):
        assert subprocess.run([sys.executable, "-m", name], check=False).returncode == 0
    assert (repository / "evil-mark").read_text()


def test_the_action_checks_and_runs_nothing(repository: Path) -> None:
    (repository / "spills.s").write_bytes(SPILLS.read_bytes())
    given = {"paths": "spills.s", "upload-sarif": "true"}
    log, outputs, code = run_action(repository, given)
    assert (outputs, code) == ("exit-code=1\n", 1), log
    assert runs_nothing(repository)


def test_each_step_has_a_safe_path() -> None:
    steps = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(steps) == 4
    assert {step["env"]["PYTHONSAFEPATH"] for step in steps} == {"1"}
    assert yaml.safe_load(recipe("gitlab"))["kernels"]["variables"]["PYTHONSAFEPATH"] == "1"
    assert "PYTHONSAFEPATH = '1'" in recipe("jenkins")
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    assert release["jobs"]["build"]["env"]["PYTHONSAFEPATH"] == "1"


@pytest.mark.skipif(os.name != "posix", reason="the processes are forked elsewhere")
def test_a_spawned_process_of_a_pool(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    paths = [str(FIXTURES / folder) for folder in ("code_object", "container")]
    alone = run(*paths, "--format", "jsonl", folder=repository)
    waiting = Event()
    Thread(target=waiting.wait).start()  # beside a thread, a process is spawned
    try:
        assert run(*paths, "--format", "jsonl", "--jobs", "2", folder=repository) == alone
    finally:
        waiting.set()
    assert runs_nothing(repository)
    assert "PYTHONSAFEPATH" not in os.environ


def test_the_child_that_demangles(repository: Path) -> None:
    """It is asked for names whose length may explode."""
    name = "_Z1f" + "".join(f"S{index}_" if index else "PiS_" for index in range(40)) * 60
    (repository / "k.co").write_bytes(code_object([Specimen(name, 8, 0, 8, 0, 0, 64)]))
    command = [sys.executable, "-P", "-m", "kernelinfo", "k.co", "--format", "jsonl"]
    done = subprocess.run(command, cwd=repository, capture_output=True, check=True)
    assert b'"Symbol"' in done.stdout
    assert runs_nothing(repository)


@pytest.mark.needs("llvmlite")
def test_the_child_with_llvmlite(repository: Path) -> None:
    (repository / "k.ll").write_bytes((FIXTURES / "src" / "required.ll").read_bytes())
    words = ("sweep", "k.ll", "--arch", "gfx90a", "--compiler", "llvmlite", "--waves", "8")
    out, err, code = run(*words, folder=repository)
    assert (code, "compiler  llvmlite" in out) == (0, True), err
    assert runs_nothing(repository)


def test_the_gate_in_pytest(repository: Path, kernelinfo_check: RunCheck) -> None:
    (repository / "spills.s").write_bytes(SPILLS.read_bytes())
    (repository / "own.toml").write_text('paths = ["spills.s"]\nfail-on = "warning"\n')
    with pytest.raises(pytest.fail.Exception, match="14 spill reloads"):
        kernelinfo_check("own.toml")
    assert runs_nothing(repository)


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("--show-config",)])
def test_a_gate_that_checks_nothing_is_no_pass(
    tmp_path: Path, kernelinfo_check: RunCheck, words: tuple[str, ...]
) -> None:
    (tmp_path / "own.toml").write_text(f'paths = ["{SPILLS}"]\n')
    with pytest.raises(pytest.fail.Exception, match=words[0]):
        kernelinfo_check(tmp_path / "own.toml", *words)
