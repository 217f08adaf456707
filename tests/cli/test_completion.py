"""Completion as shells ask for it, and once by a real bash."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelinfo.cli import COMMANDS

from ..conftest import FIXTURES
from ..fleet.scans import scan
from ..messages import tells
from ..test_golden import run

TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
VARIETY = "assembly/variety-clang22-gfx942.s"
Complete = Callable[..., list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> Complete:
    """Completions of the last word of a line, or of an earlier one, as the bash script asks."""
    monkeypatch.setattr("time.monotonic", lambda: 0.0)  # a busy machine reads nothing in a second

    def complete(line: str, *words: str, at: int = 0, folder: Path = FIXTURES) -> list[str]:
        every = [*line.split(), *words]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("_KERNELINFO_COMPLETE", "complete_bash")
            patch.setenv("COMP_WORDS", "\n".join(["kernelinfo", *every]))
            patch.setenv("COMP_CWORD", str(at or len(every)))
            out, err, code = run(folder=folder)
        assert (err, code) == ("", 0)
        return out.split()

    return complete


OFFERS: dict[str, list[str]] = {
    "ex": ["explain", "extract", "expected/"],
    "no-such": [],  # the shell offers files
    f"{TEXT} --sel": ["--select"],
    f"{TEXT} --format js": ["json", "jsonl"],
    f"watch {TEXT} --format ''": ["text", "jsonl"],
    f"watch {TEXT} --on": ["--once", "--only-below"],
    "calc --vary vgpr,l": ["vgpr,lds"],
    f"{TEXT} --color a": ["auto", "always"],
    f"{TEXT} --names s": ["short"],
    f"{TEXT} --ignore KI101,vgpr": ["KI101,vgpr-spill"],
    f"{TEXT} --severity KI302": ["KI302="],
    f"{TEXT} --severity KI302=w": ["KI302=warning"],
    "explain occ": ["occupancy"],
    "explain ''": [],
    "help occ": ["occupancy"],
    "help d": ["dynamic-stack", "diff"],
    f"explain {TEXT} vg": ["vgprbound"],
    f"explain {TEXT} _Z9": ["_Z9vgprboundiPd", "_Z9sgprboundiPd"],
    f"{TEXT} -k vg": ["vgprbound"],
    f"--target gfx90a {TEXT} --exclude vg": ["vgprbound"],
    f"diff {TEXT} {TEXT} -k vg": ["vgprbound"],
    "container/tiny.whl --member ''": [
        *("tiny-fat-compressed.o", "tiny-v6-clang22-gfx1030.s", "tiny-v6-clang22-gfx90a.co")
    ],
    f"{TEXT} --sort waves,li": ["waves,library", "waves,limiters"],
    "--columns wav": ["waves"],
    "--target MI250X container/libtwo.so -k first_a": ["first_add"],
    "--target gfx942 container/libtwo.so -k ''": [],
    "container/libtwo.so --target gfx9000 -k ''": [],
    "sweep src/required.ll -k r": ["required"],
    f"sweep {TEXT} -k ''": [],
    **{f"explain {name} ''": [] for name in ("broken/truncated.co", "broken/x86.o", "none", "-")},
}
"""Line → what its last word may be."""


def test_what_is_offered(complete: Complete) -> None:
    for line, offered in OFFERS.items():
        words = shlex.split(line)
        assert complete("", *words) == offered, line
    assert complete(f"-k vg {TEXT}", at=2) == ["vgprbound"]


def test_commands_files_options_targets_and_rules(complete: Complete) -> None:
    assert {*COMMANDS, "assembly/", "make.sh"} - {"rules"} <= set(complete("", ""))  # it is hidden
    assert "--format" in complete("--f")
    assert "--version" in complete("--v")
    assert "MI300X" in complete("calc --device MI300")
    targets = re.findall(r"^ (gfx9\S*)", run("arch")[0], re.MULTILINE)
    for line in ("arch", "limits --arch", f"{TEXT} --as"):
        assert complete(line, "gfx9") == targets, line
    rules = [rule["rule"] for rule in json.loads(run("rules", "--format", "json")[0])["rules"]]
    offered = complete("explain", "KI")
    assert {"KI001", "KI106", "KI302"} < set(offered) <= set(rules)
    assert complete(f"{TEXT} --select", "KI") == complete("help", "KI") == offered


def test_kernels_of_bitcode_are_those_of_the_assembly_beside_it(
    complete: Complete, tmp_path: Path
) -> None:
    shutil.copy(FIXTURES / TEXT, tmp_path / "saxpy.s")
    (tmp_path / "saxpy.bc").write_bytes(b"BC\xc0\xde")
    assert complete("sweep saxpy.bc --exclude vg", folder=tmp_path) == ["vgprbound"]


@pytest.mark.needs("duckdb")
def test_kernels_of_a_dataset(complete: Complete, tmp_path: Path) -> None:
    fleet = str(tmp_path / "fleet")
    for build, path in (("7.9", "container/libtwo.so"), ("7.10", TEXT)):
        scan(FIXTURES / path, to=fleet, build=build)
    assert complete(f"trend {fleet} -k vg") == ["vgprbound"], "of the last build"
    assert complete(f"trend {fleet} --exclude _Z9v") == ["_Z9vgprboundiPd"]
    assert complete(f"trend {FIXTURES} -k", "") == []


def test_what_is_offered_is_understood(complete: Complete) -> None:
    """A template's own name lists all that is made of it; a glob takes all."""
    offered = complete(f"explain {VARIETY}", "")
    assert {"stride", "each", "sort", "plain_c"} <= set(offered)
    for name in offered:
        _, err, code = run("explain", VARIETY, name)
        assert code == 0 or tells(err, f"kernels-named-alike {name!r}")
    assert run("explain", VARIETY, "stride*")[0].count(" result ") == 2


def test_zsh_and_fish_are_told_what_words_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = json.loads(run("rules", "--format", "json")[0])["rules"]
    (summary,) = (rule["summary"] for rule in rules if rule["rule"] == "KI101")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    for shell, line, told in (
        ("zsh", "explain KI10", f'"KI101":"{summary}"'),
        ("fish", "explain KI10", f"KI101\t{summary}"),
        ("zsh", "report ", "_files"),
        ("fish", "limits --arch gfx94", "gfx942\tCDNA3"),
    ):
        monkeypatch.setenv("_KERNELINFO_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"kernelinfo {line}")
        out, err, code = run()
        assert (err, code, told in out) == ("", 0, True)


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
