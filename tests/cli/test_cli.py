"""The command line as a process: its streams, and the ways in which it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from kernelinfo.errors import did_you_mean

from ..conftest import FIXTURES
from ..messages import says

TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"


def test_output_that_cannot_show_a_character() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "kernelinfo", TEXT],
        cwd=FIXTURES,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert b"vgprbound" in ended.stdout


def test_ctrl_c_leaves_without_a_word(tmp_path: Path) -> None:
    text = (FIXTURES / "assembly" / "variety-clang22-gfx942.s").read_bytes()
    (tmp_path / "long.s").write_bytes(text * 400)
    command = [sys.executable, "-m", "kernelinfo", "long.s", "--format", "jsonl"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(FIXTURES.parent)},
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"Kernel_Name":'), "the first line is there early"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == b""


def test_the_current_folder_is_gone(tmp_path: Path) -> None:
    """Paths from the root can be read from a folder that was deleted."""
    path = str(FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co")
    command = [sys.executable, "-P", "-m", "kernelinfo", "report", "--arch", "gfx90a", path]
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    shell = ["sh", "-c", script, "-", *command]
    ended = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "kernel" in ended.stdout


def test_long_names_are_not_compared() -> None:
    """The comparison is quadratic, and names of kernels are whatever a file says."""
    assert did_you_mean("a" * 100_000, ["a" * 100_000]) == ""
    assert says(did_you_mean("gem", ["g" * 100_000, "gemm"]), "did-you-mean gemm")
