"""Full disks, closed streams, readers that leave: one line, exit 2, and never half a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..messages import do_lines_match
from ..test_golden import run

SAMPLE = str(FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s")
LIBRARY = str(FIXTURES / "container" / "libtwo.so")
BROKEN = str(FIXTURES / "broken" / "x86.o")
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")


def shell(command: str, *arguments: str, unbuffered: str = "") -> tuple[int, str]:
    """Exit code and standard error of a shell's command, in which "$@" is kernelinfo."""
    ended = subprocess.run(
        ["bash", "-c", command, "-", sys.executable, "-m", "kernelinfo", *arguments],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return ended.returncode, ended.stderr


@FULL
def test_a_full_disk_is_one_line() -> None:
    for unbuffered, argument in (("", SAMPLE), ("1", "--help")):
        code, err = shell('"$@" > /dev/full', argument, unbuffered=unbuffered)
        assert (code, err) == (2, "kernelinfo: standard output: No space left on device\n")


@FULL
def test_problems_that_nobody_can_be_told_still_exit_2() -> None:
    for stream in ("2>/dev/full", "2>&-"):
        assert shell(f'"$@" {stream}', BROKEN)[0] == 2


def test_closed_streams_are_not_taken_for_files(tmp_path: Path) -> None:
    """The file would get the number of standard error, and all that is written there."""
    code, _ = shell(f'"$@" -o {tmp_path}/out >&- 2>&- <&-', SAMPLE, BROKEN)
    assert code == 2
    run(SAMPLE, BROKEN, "-o", f"{tmp_path}/expected")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


def test_a_reader_that_leaves_ends_it_quietly_with_its_answer(tmp_path: Path) -> None:
    for expected, *arguments in (
        (0, SAMPLE, "--format", "csv"),
        (0, "extract", LIBRARY, "-o", str(tmp_path)),
        (0, "check", "-h"),
        (1, "check", SAMPLE, "--fail-on", "note"),
        (1, "diff", SAMPLE, LIBRARY, "--fail-on", "change"),
        (2, "check", SAMPLE, BROKEN),
    ):
        code, err = shell('"$@" | head -c 0; exit ${PIPESTATUS[0]}', *map(str, arguments))
        assert (code, "Traceback" in err) == (expected, False)
        assert err == "" or expected


@FULL
def test_a_file_that_cannot_be_written_is_named() -> None:
    code, err = shell('"$@" -o /dev/full', SAMPLE)
    assert code == 2
    assert do_lines_match(err, "output-unwritable /dev/full: No space left on device")


def test_an_interrupted_answer_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    command = [sys.executable, "-m", "kernelinfo", SAMPLE, "-", "--format", "csv", "-o", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:  # and waits for its input
        while not list(tmp_path.glob(".out.csv.*.part")):
            time.sleep(0.01)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 128 + signal.SIGINT
    assert out.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_link_given_for_the_answer_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    assert run(SAMPLE, "-o", str(link))[2] == 0
    assert link.is_symlink()
    assert "vgprbound" in target.read_text()
