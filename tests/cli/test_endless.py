"""Inputs without an end or full of zeros, and Ctrl-C at any moment."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ..conftest import FIXTURES
from ..messages import do_lines_match, says
from ..robustness.measure import cost
from ..test_golden import run

IO = Path("/proc/self/io")
OBJECT = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"


def test_standard_input_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=bytes)))
    out, err, code = run("-")
    assert (out, code) == ("", 2)
    assert do_lines_match(err, "stdin-too-large <stdin>: … 268435456")


@pytest.fixture
def zeros(tmp_path: Path) -> Path:
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 31)
    return tmp_path


def test_a_document_is_bounded(zeros: Path) -> None:
    (zeros / "k.co").write_bytes(OBJECT.read_bytes())
    for option in ("--config", "--baseline"):
        _, err, code = run("check", "k.co", option, "zeros", folder=zeros)
        assert (code, err.count("\n"), "zeros" in err) == (2, 1, True)


@pytest.mark.skipif(not IO.exists(), reason="the bytes that a process reads are counted by Linux")
def test_of_a_profile_that_is_too_large_nothing_is_read(zeros: Path) -> None:
    before = int(IO.read_text().split()[1])
    _, err, code = run("compare-profile", "zeros", "zeros", folder=zeros)
    assert says(err, "document-too-large")
    assert code == 2
    assert int(IO.read_text().split()[1]) - before < zeros.joinpath("zeros").stat().st_size // 4


@pytest.mark.nightly
def test_a_large_file_of_zeros_takes_little_memory(zeros: Path) -> None:
    for command in (["zeros"], ["compare-profile", "zeros", "zeros"]):
        took = cost([sys.executable, "-m", "kernelinfo", *command], zeros)
        assert (took.exit, took.output.count("\n")) == (2, 1)
        assert took.megabytes < 100


@pytest.mark.nightly
def test_ctrl_c_shows_no_traceback_from_the_entry_on() -> None:
    """At fifty moments, from before the first of our imports to the report."""
    script = "print(flush=True); from kernelinfo.__main__ import main; main()"
    for milliseconds in range(0, 150, 3):
        process = subprocess.Popen(
            [sys.executable, "-c", f"import sys\nsys.argv[1:] = [{str(OBJECT)!r}]\n{script}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert b", in main" not in err, err.decode()
