"""Compilers as child processes: errors, limits, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from kernelinfo.compile.processes import Processes
from kernelinfo.errors import CompilerError

from ..compiling import bitcode, needs_clang
from ..lifeline import Lifeline
from . import interrupts

pytestmark = pytest.mark.skipif(os.name != "posix", reason="compilers of these tests are scripts")


def script(path: Path, text: str) -> str:
    """Path of an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_standard_output_comes_back() -> None:
    with Processes(10) as processes:
        assert processes.run(["/bin/cat"], b"text" * 100_000) == b"text" * 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "echo first error: a >&2; echo 'x.ll:1: error: b' >&2; echo 1 gone >&2; exit 1",
            "error: b",
        ),
        ("echo 'LLVM ERROR: out of registers' >&2; exit 70", "LLVM ERROR: out of registers"),
        ("exit 3", "failed with exit code 3"),
        ("kill -9 $$", "killed by signal 9"),
        ("yes >&2", "no answer within 0.5 s"),
        ("sleep 60", "no answer within 0.5 s"),
    ],
)
def test_a_failure_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    began = time.monotonic()
    with Processes(0.5) as processes, pytest.raises(CompilerError, match=message) as raised:
        processes.run([script(tmp_path / "compiler", text)])
    assert "\n" not in str(raised.value)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("option", "mend"), [("--timeout", "see --timeout"), ("", "give a source with fewer kernels")]
)
def test_a_late_answer_names_an_option_only_if_there_is_one(
    tmp_path: Path, option: str, mend: str
) -> None:
    slow = script(tmp_path / "compiler", "sleep 60")
    with Processes(0.5, option=option) as processes, pytest.raises(CompilerError, match=mend):
        processes.run([slow])


def test_output_without_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelinfo.compile.processes._MOST_OUTPUT", 1 << 20)
    with Processes(60) as processes:
        most = script(tmp_path / "most", "head -c 1048576 /dev/zero")
        assert len(processes.run([most])) == 1 << 20
    with Processes(60) as processes, pytest.raises(CompilerError, match="more than 1048576 bytes"):
        processes.run([script(tmp_path / "compiler", "head -c 3000000 /dev/zero")])


@pytest.mark.parametrize("leaves", ["sleep 60 &", "setsid sleep 60 &"])
def test_a_child_left_behind_is_not_waited_for(tmp_path: Path, leaves: str) -> None:
    began = time.monotonic()
    with Processes(60) as processes:
        assert processes.run([script(tmp_path / "compiler", f"{leaves} echo done")]) == b"done\n"
    assert time.monotonic() - began < 30


def test_a_program_that_cannot_run(tmp_path: Path) -> None:
    with Processes(1) as processes:
        for name in ("missing", "plain.txt", "a\0b"):
            (tmp_path / "plain.txt").write_text("no program")
            with pytest.raises(CompilerError, match="give another --compiler"):
                processes.run([str(tmp_path / name)])


@needs_clang
@pytest.mark.parametrize("number", interrupts.ENDING)
def test_an_interrupted_sweep_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    inputs, temporary = tmp_path / "in", tmp_path / "tmp"
    temporary.mkdir()
    path = bitcode("__global__ void k(int *out) { *out = 1; }", inputs / "k.bc")
    # The real compiler, but assembly hangs.
    line = Lifeline(tmp_path / "line")
    slow = f'case "$*" in *-O3*) {line.shell}; sleep 1000 & wait;; *) exec clang-22 "$@";; esac'
    compiler = script(tmp_path / "clang", slow)
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelinfo", "sweep", path, "--compiler", compiler],
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    line.begun(process)
    process.send_signal(number)
    out, err = process.communicate()
    assert (out, err, process.returncode) == (b"", b"", 128 + number)
    line.ended()
    assert [path.name for path in inputs.iterdir()] == ["k.bc"]
    assert list(temporary.iterdir()) == []


@pytest.mark.nightly
@needs_clang
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="/proc is not here")
def test_signals_at_random_moments(tmp_path: Path) -> None:
    """A sample; `python -m tests.sweep --interrupts 100` tries more."""
    path = bitcode(interrupts.KERNEL, tmp_path / "in" / "k.bc")
    assert interrupts.run(path, "clang-22", 2, Random(), tmp_path) == []
    assert os.listdir(tmp_path / "in") == ["k.bc"]


@pytest.mark.nightly
@needs_clang
def test_a_compiler_that_hangs_ends_by_its_limit_after_sigkill(tmp_path: Path) -> None:
    path = bitcode(interrupts.KERNEL, tmp_path / "in" / "k.bc")
    line = Lifeline(tmp_path / "line")
    spins = f'case "$*" in *-O3*) {line.shell}; while :; do :; done;; *) exec clang-22 "$@";; esac'
    process = interrupts.start(path, script(tmp_path / "clang", spins), tmp_path / "run")
    line.begun(process)
    process.kill()
    process.communicate()
    line.ended()
