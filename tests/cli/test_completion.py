"""Completion as shells ask for it, and once by a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernelinfo.cli import COMMANDS, completion
from kernelinfo.hardware.targets import known
from kernelinfo.rules import RULES

from ..conftest import FIXTURES
from ..fleet.scans import scan
from ..test_golden import run

NAME = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
TEXT = f"assembly/{NAME}.s"


def bash(monkeypatch: pytest.MonkeyPatch, *words: str, folder: Path = FIXTURES) -> list[str]:
    """Completions of the last word, through the protocol of the bash script."""
    monkeypatch.setenv("_KERNELINFO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(["kernelinfo", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    monkeypatch.setattr(completion, "_PATIENCE", 60.0)  # a busy machine reads no file in a second
    out, err, code = run(folder=folder)
    assert (err, code) == ("", 0)
    return out.split()


def other(monkeypatch: pytest.MonkeyPatch, shell: str, line: str) -> str:
    monkeypatch.setenv("_KERNELINFO_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    out, err, code = run()
    assert (err, code) == ("", 0)
    return out


def test_the_first_word_is_a_command_or_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = bash(monkeypatch, "")
    assert set(COMMANDS) <= set(offered)
    assert {"assembly/", "make.sh"} <= set(offered)
    assert bash(monkeypatch, "ex") == ["explain", "extract", "expected/"]
    assert bash(monkeypatch, "no-such") == [], "which leaves the files to the shell"


def test_options_of_the_report_need_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--format" in bash(monkeypatch, "--f")
    assert "--version" in bash(monkeypatch, "--v")
    assert bash(monkeypatch, TEXT, "--sel") == ["--select"]
    assert bash(monkeypatch, TEXT, "--format", "js") == ["json", "jsonl"]
    assert bash(monkeypatch, "watch", TEXT, "--format", "") == ["text", "jsonl"]
    assert bash(monkeypatch, "watch", TEXT, "--on") == ["--once", "--only-below"]


@pytest.mark.parametrize("words", [["arch"], ["limits", "--arch"], [TEXT, "--as"]], ids=" ".join)
def test_targets(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert bash(monkeypatch, *words, "gfx9") == [name for name in known() if name[:4] == "gfx9"]


def test_values_of_other_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "MI300X" in bash(monkeypatch, "calc", "--device", "MI300")
    assert "MI250" in bash(monkeypatch, "calc", "--device", "MI2")
    assert bash(monkeypatch, "calc", "--vary", "vgpr,l") == ["vgpr,lds"]
    assert bash(monkeypatch, TEXT, "--color", "a") == ["auto", "always"]
    assert bash(monkeypatch, TEXT, "--names", "s") == ["short"]


def test_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [rule.number for rule in RULES]
    assert bash(monkeypatch, TEXT, "--select", "KI") == numbers
    assert bash(monkeypatch, TEXT, "--ignore", "KI101,vgpr") == ["KI101,vgpr-spill"]
    assert bash(monkeypatch, TEXT, "--severity", "KI302") == ["KI302="]
    assert bash(monkeypatch, TEXT, "--severity", "KI302=w") == ["KI302=warning"]
    assert bash(monkeypatch, "explain", "KI") == numbers
    assert bash(monkeypatch, "explain", "occ") == ["occupancy"]
    assert bash(monkeypatch, "explain", "") == [], "which leaves the files to the shell"


def test_kernels_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bash(monkeypatch, "explain", TEXT, "vg") == ["vgprbound"]
    assert bash(monkeypatch, "explain", TEXT, "_Z9") == ["_Z9vgprboundiPd", "_Z9sgprboundiPd"]
    assert set(bash(monkeypatch, "explain", TEXT, "")) == {
        "empty", "vgprbound", "ldsbound", "sgprbound",
    }  # fmt: skip


def test_kernels_and_members_in_any_order_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bash(monkeypatch, TEXT, "-k", "vg") == ["vgprbound"]
    assert bash(monkeypatch, "--target", "gfx90a", TEXT, "--exclude", "vg") == ["vgprbound"]
    assert bash(monkeypatch, "diff", TEXT, TEXT, "-k", "vg") == ["vgprbound"]
    assert bash(monkeypatch, "container/tiny.whl", "--member", "") == [
        *("tiny-fat-compressed.o", "tiny-v6-clang22-gfx1030.s", "tiny-v6-clang22-gfx90a.co")
    ]
    assert bash(monkeypatch, TEXT, "--sort", "waves,li") == ["waves,library", "waves,limiters"]
    assert bash(monkeypatch, "--columns", "wav") == ["waves"]
    monkeypatch.setenv("_KERNELINFO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"kernelinfo\n-k\nvg\n{TEXT}")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert run(folder=FIXTURES)[0].split() == ["vgprbound"]


def test_kernels_of_the_target_that_the_line_names(monkeypatch: pytest.MonkeyPatch) -> None:
    two = "container/libtwo.so"
    assert "first_add" in bash(monkeypatch, two, "--target", "gfx90a", "-k", "")
    assert "first_add" in bash(monkeypatch, "--target", "MI250X", two, "-k", "fi")
    assert bash(monkeypatch, "--target", "gfx942", two, "-k", "") == []
    assert bash(monkeypatch, two, "--target", "gfx9000", "-k", "") == []


@pytest.mark.needs("duckdb")
def test_kernels_of_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = str(tmp_path / "fleet")
    for build, path in (("7.9", "container/libtwo.so"), ("7.10", TEXT)):
        scan(FIXTURES / path, to=fleet, build=build)
    assert bash(monkeypatch, "trend", fleet, "-k", "vg") == ["vgprbound"], "of the last build"
    assert bash(monkeypatch, "trend", fleet, "--exclude", "_Z9v") == ["_Z9vgprboundiPd"]
    assert bash(monkeypatch, "trend", str(FIXTURES), "-k", "") == []


def test_kernels_of_ir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bitcode is known by the assembly that `--save-temps` leaves next to it."""
    assert bash(monkeypatch, "sweep", "src/required.ll", "-k", "r") == ["required"]
    shutil.copy(FIXTURES / TEXT, tmp_path / "saxpy.s")
    (tmp_path / "saxpy.bc").write_bytes(b"BC\xc0\xde")
    words = ("sweep", "saxpy.bc", "--exclude", "vg")
    assert bash(monkeypatch, *words, folder=tmp_path) == ["vgprbound"]
    assert bash(monkeypatch, "sweep", TEXT, "-k", "") == []


def test_topics_and_commands_behind_help(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bash(monkeypatch, "help", "occ") == ["occupancy"]
    assert bash(monkeypatch, "help", "d") == ["dynamic-stack", "diff"]
    assert bash(monkeypatch, "help", "KI10") == bash(monkeypatch, "explain", "KI10")


@pytest.mark.parametrize("name", ["broken/truncated.co", "broken/x86.o", "no-such-file", "-"])
def test_files_without_kernels_offer_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bash(monkeypatch, "explain", name, "") == []


def test_what_is_offered_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """A template's own name lists all that is made of it; a glob takes all."""
    path = "assembly/variety-clang22-gfx942.s"
    offered = bash(monkeypatch, "explain", path, "")
    assert {"stride", "each", "sort", "plain_c"} <= set(offered)
    monkeypatch.delenv("_KERNELINFO_COMPLETE")
    for name in offered:
        _, err, code = run("explain", path, name)
        assert code == 0 or f"kernels are named {name!r}; " in err
    _, err, code = run("explain", path, "stride")
    assert code == 2
    assert err.splitlines()[1:] == ["  stride<float, 4>", "  stride<unsigned long, -2>"]
    assert run("explain", path, "stride*")[0].count(" result ") == 2


def test_zsh_and_fish_are_told_what_words_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = next(rule for rule in RULES if rule.number == "KI101")
    assert f'"KI101":"{rule.summary}"' in other(monkeypatch, "zsh", "kernelinfo explain KI10")
    assert f"KI101\t{rule.summary}" in other(monkeypatch, "fish", "kernelinfo explain KI10")
    assert "_files" in other(monkeypatch, "zsh", "kernelinfo report ")
    assert "gfx942\tCDNA3" in other(monkeypatch, "fish", "kernelinfo limits --arch gfx94")


@pytest.mark.needs("bash")
def test_a_real_bash(tmp_path: Path) -> None:
    """Its script is sourced, and its function asked as bash asks it."""
    program = tmp_path / "kernelinfo"
    program.write_text(f"#!{sys.executable}\nfrom kernelinfo.__main__ import main\nmain()\n")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(FIXTURES.parent),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    script = f"""
        eval "$(_KERNELINFO_COMPLETE=source_bash kernelinfo)"
        complete -p kernelinfo
        COMP_WORDS=(kernelinfo explain {TEXT} ldsb) COMP_CWORD=3
        _kernelinfo_completion kernelinfo ldsb {TEXT}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    completed = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=FIXTURES, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert completed.stdout.splitlines()[-1] == "ldsbound"
    assert "-F _kernelinfo_completion kernelinfo" in completed.stdout
    assert completed.stderr == ""
