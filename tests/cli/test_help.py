"""Help that a user can act on: sections, and examples that run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from kernelinfo.cli import COMMANDS

from ..compiling import bitcode
from ..conftest import FIXTURES
from ..test_golden import run

COMMAND_LINES = ("", *COMMANDS)
NAME = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
FILES = {
    "kernels.s": f"assembly/{NAME}.s",
    "build/kernels.s": f"assembly/{NAME}.s",
    "build/kernels.co": f"code_object/{NAME}.out",
    "libapp.so": "container/libtwo.so",
    "before.s": "assembly/occupancy-clang19-gfx90a.s",
    "after.s": "assembly/occupancy-clang22-gfx90a.s",
    "before/kernels.s": "assembly/occupancy-clang19-gfx90a.s",
    "after/kernels.s": "assembly/occupancy-clang22-gfx90a.s",
    "run.csv": "profile/kernel_trace.csv",
}
"""File name in an example → fixture used for it."""


def help_of(command: str) -> str:
    out, err, code = run(*command.split(), "--help")
    assert (err, code) == ("", 0)
    return out


def examples(command: str) -> list[str]:
    """The lines of a command's help that can be typed."""
    return re.findall(r"^  (kernelinfo .*)", help_of(command).partition("\nExamples:\n")[2], re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples name."""
    root = tmp_path_factory.mktemp("examples")
    for name, fixture in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(FIXTURES / fixture, root / name)
    run("before.s", "--format", "json", "-o", "saved.json", folder=root)
    run("check", "build/", "--baseline", "base.json", "--update-baseline", folder=root)
    if shutil.which("clang-22"):
        bitcode("__global__ void vgprbound(int n, int *out) { out[n] = n; }", root / "kernels.bc")
    return root


SWEEPS = [pytest.param(line, marks=pytest.mark.needs("clang-22")) for line in examples("sweep")]
ELSEWHERE = ("scan", "trend", "mcp", "sweep")
"""Commands whose examples tests/fleet and tests/agents run, with the extras that they need."""


@pytest.mark.parametrize(
    "line", [*SWEEPS, *(line for c in COMMAND_LINES if c not in ELSEWHERE for line in examples(c))]
)
def test_examples_run(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    arguments = shlex.split(line, comments=True)[1:]
    if arguments[0] == "watch" and "--once" not in arguments:
        pytest.skip("it runs until Ctrl-C: tests/watch ends it")
    if arguments[-1] == "--show-completion":
        arguments.append("bash")
    out, err, code = run(*arguments, folder=folder)
    assert err == ""
    assert code == 0 or (code == 1 and ("--fail-on" in arguments or arguments[0] == "check"))
    assert out or "-o" in arguments


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_every_command_shows_a_few_examples_of_its_own(command: str) -> None:
    lines = examples(command)
    assert 3 <= len(lines) <= 5
    if command != "report":
        own = [line for line in lines if line.startswith(f"kernelinfo {command}")]
        assert len(own) >= 2


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_help_fits_80_columns_and_cuts_no_sentence(command: str) -> None:
    text = help_of(command)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert not re.search(r"[a-z]\.\.\.", text)


def test_options_stand_with_their_like() -> None:
    text = help_of("report")
    sections = re.findall(r"^([A-Z].*):$", text, re.MULTILINE)
    assert sections == [
        "Arguments", "Kernels", "Hardware and launch", "Compiler", "Rules", "Output", "Options",
        "Examples",
    ]  # fmt: skip
    launch = text.partition("\nHardware and launch:\n")[2].partition("\n\n")[0]
    assert "--as GFX" in launch
    assert "--format" not in launch


def test_the_root_tells_the_exit_codes() -> None:
    codes = help_of("").partition("\nExit codes:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (\d)  ", codes, re.MULTILINE) == ["0", "1", "2"]
