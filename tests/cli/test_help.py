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
    told = help_of(command).partition("\nExamples:\n")[2].replace("\n      ", " ")
    return re.findall(r"^  (kernelinfo .*)", told, re.M)


@pytest.mark.parametrize("command", ["", "calc", "report"])
def test_a_narrow_terminal_breaks_no_line_and_no_option(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = help_of(command)
    monkeypatch.setenv("COLUMNS", "60")
    lines = help_of(command).splitlines()
    assert max(map(len, lines)) <= 60
    options = set(re.findall(r"--[a-z-]+[a-z]", wide))
    assert options == set(re.findall(r"--[a-z-]+[a-z]", "\n".join(lines)))
    assert not [line for line in lines if line.endswith("-")]
    commands = re.findall(r"^  (kernelinfo .*?)(?:  +#.*)?$", wide, re.MULTILINE)
    assert commands == [line.strip() for line in lines if line.startswith("  kernelinfo ")]


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


ELSEWHERE = ("scan", "trend", "mcp", "sweep", "vectors")
"""Commands whose examples are run where their extras and answers are tested."""


def assert_runs(line: str, folder: Path) -> None:
    arguments = shlex.split(line, comments=True)[1:]
    if arguments[0] == "watch" and "--once" not in arguments:
        return  # it runs until Ctrl-C: tests/watch ends it
    if arguments[-1] == "--show-completion":
        arguments.append("bash")
    out, err, code = run(*arguments, folder=folder)
    assert err == "", line
    assert code == 0 or (code == 1 and ("--fail-on" in arguments or arguments[0] == "check")), line
    assert out or "-o" in arguments, line


def test_the_list_of_commands_says_the_first_line_of_each() -> None:
    for command, summary in COMMANDS.items():
        assert help_of(command).split("\n\n")[1].split("\n")[0].strip() == summary


def test_examples_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    for command in COMMAND_LINES:
        for line in examples(command) if command not in ELSEWHERE else ():
            assert_runs(line, folder)


@pytest.mark.needs("clang-22")
def test_examples_of_a_sweep_run(folder: Path) -> None:
    for line in examples("sweep"):
        assert_runs(line, folder)


def test_every_command_has_examples_and_sentences_in_80_columns() -> None:
    for command in COMMAND_LINES:
        lines = examples(command)
        own = [line for line in lines if line.startswith(f"kernelinfo {command}")]
        assert 3 <= len(lines) <= 5, command
        assert len(own) >= 2 or command == "report", command
        text = help_of(command)
        assert all(len(line) <= 80 for line in text.splitlines()), command
        assert not re.search(r"[a-z]\.\.\.", text), command


def test_options_stand_with_their_like_and_exit_codes_are_told() -> None:
    text = help_of("report")
    assert re.findall(r"^([A-Z].*):$", text, re.MULTILINE) == [
        *("Arguments", "Targets", "Kernels", "Hardware and launch", "Compiler", "Rules"),
        *("Output", "Options", "Examples"),
    ]
    targets = text.partition("\nTargets:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (--\S+)", targets, re.MULTILINE) == ["--arch", "--target", "--as"]
    codes = help_of("").partition("\nExit codes:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (\d)  ", codes, re.MULTILINE) == ["0", "1", "2"]


def test_every_command_stands_in_a_group_of_the_list() -> None:
    listed = re.findall(r"^  ([a-z-]+) {2,}[A-Z]", help_of("").partition("Look:")[2], re.MULTILINE)
    assert {*listed, "rules"} == {*COMMANDS}
