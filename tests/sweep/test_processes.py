"""Compilers as child processes: errors, limits, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from ..compiling import bitcode, needs_clang
from ..lifeline import Lifeline
from ..messages import codes, says
from ..test_golden import run
from . import interrupts
from .compilers import IR, clang, script

pytestmark = pytest.mark.skipif(os.name != "posix", reason="compilers of these tests are scripts")


def swept(folder: Path, compiler: str, *options: str) -> str:
    """The one line of standard error of a sweep that fails."""
    (folder / "k.ll").write_text(IR)
    out, err, code = run(
        "sweep", "k.ll", "--compiler", compiler, "--jobs", "1", *options, folder=folder
    )
    assert (out.count("error:"), code, err.count("\n")) == (0, 2, 1), (out, err)
    return err


def test_a_failure_is_one_line(tmp_path: Path) -> None:
    for text, message in {
        "echo first error: a >&2; echo 'x.ll:1: error: b' >&2; echo 1 gone >&2; exit 1": "error: b",
        "echo 'LLVM ERROR: out of registers' >&2; exit 70": "LLVM ERROR: out of registers",
        f"echo 'error: {'x' * 310}' >&2; exit 1": f"{'x' * 293}…",
        "exit 3": "compiler-exit-code 3",
        "kill -9 $$": "compiler-killed 9",
        "yes >&2": "compiler-timeout 0.5 s",
        "sleep 60": "compiler-timeout --timeout",
        # Nobody waits for what a compiler left behind: it outlives --timeout and the test's limit.
        "sleep 200 & exit 4": "compiler-exit-code 4",
        "setsid sleep 200 & exit 5": "compiler-exit-code 5",
        f"{sys.executable} -c 'bytearray(5 << 30)' 2>&1 | tail -1 >&2; exit 1": "MemoryError",
    }.items():
        timeout = "0.5" if "0.5" in message or "--timeout" in message else "60"
        err = swept(tmp_path, clang(tmp_path / "clang", text), "--timeout", timeout)
        assert says(err, message), text


def test_a_program_that_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("no program")
    assert "clang-no-program" in codes(swept(tmp_path, str(tmp_path / "missing")))


def test_a_compiler_is_closed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CCC_OVERRIDE_OPTIONS", "LD_PRELOAD", "CPATH", "SECRET"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PATH", f"bin::{os.environ['PATH']}")
    tells = "pwd; ls -A; ulimit -t; ulimit -v; ulimit -c; env"
    swept(tmp_path, clang(tmp_path / "clang", f"({tells}) > {tmp_path}/told; exit 1"))
    where, *rest = (tmp_path / "told").read_text().splitlines()
    assert not os.path.exists(where)
    limits, environment = rest[:3], dict(line.split("=", 1) for line in rest[3:] if "=" in line)
    assert limits == ["61", str(4 << 20), "0"]
    assert environment.keys() <= {
        *("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "ROCM_PATH", "HIP_PATH", "TMPDIR"),
        *("LLVM_DISABLE_SYMBOLIZATION", "PWD", "OLDPWD", "SHLVL", "_"),
    }
    assert all(map(os.path.isabs, environment["PATH"].split(":")))


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
