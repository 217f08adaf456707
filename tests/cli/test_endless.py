"""Files and pipes without an end, full of zeros or waiting for a writer: one line, exit code 2."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kernelinfo.reading.containers import bounds
from tests.conftest import FIXTURES
from tests.robustness.measure import cost
from tests.test_golden import run

OBJECT = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"
PAIRS = [("--config", "fifo"), ("--config", "folder"), ("--config", "dangling")]
PAIRS += [("--baseline", name) for _, name in PAIRS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.co").write_bytes(OBJECT.read_bytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 31)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        *(["check", "k.co", *pair] for pair in PAIRS),
        *(["check", "k.co", *pair, "--update-baseline"] for pair in PAIRS[3:5]),
        *(["compare-profile", name, "k.co"] for name in ("fifo", "folder", "dangling", "zeros")),
        *(["diff", name, "k.co"] for name in ("fifo", "dangling", "/dev/zero")),
        *([command, name] for command in ("report", "pressure") for name in ("fifo", "/dev/zero")),
        ["check", "k.co", "--config", "zeros"],
        ["check", "k.co", "--baseline", "zeros"],
    ],
    ids=" ".join,
)
def test_one_line(arguments: list[str], folder: Path) -> None:
    _, err, code = run(*arguments, folder=folder)
    assert code == 2
    assert err.count("\n") == 1
    assert any(err.startswith((name, f"kernelinfo: {name}")) for name in arguments)


def test_standard_input_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "STANDARD_INPUT_BYTES", 1000)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"yes\n" * 1000)))
    out, err, code = run("-")
    assert (out, code) == ("", 2)
    assert err == "<stdin>: gives more than 1000 bytes; give it as a file\n"


@pytest.mark.nightly
def test_a_large_file_of_zeros_takes_little_memory(folder: Path) -> None:
    took = cost([sys.executable, "-m", "kernelinfo", "zeros"], folder)
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
