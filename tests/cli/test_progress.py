"""The progress of long work: for a person at a terminal, and for nobody else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from threading import Timer
from unittest.mock import patch

import pytest

from kernelinfo.__main__ import main

from ..conftest import FIXTURES
from ..messages import tells

LIBRARY = str(FIXTURES / "container" / "libtwo.so")
SOURCE = str(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class AtOnce(Timer):
    """A bar that comes at once."""

    def start(self) -> None:
        self.function()

    def join(self, timeout: float | None = None) -> None:
        """Nothing runs."""


class Never(AtOnce):
    """A command that ends before its bar comes."""

    def start(self) -> None:
        """Nothing comes."""


def seen(*arguments: str, timer: type[Timer] = AtOnce, out: io.StringIO | None = None) -> str:
    """What a terminal shows as standard error, while standard output is `out`."""
    terminal, out, now = Terminal(), out or io.StringIO(), time.monotonic
    with (
        patch("sys.argv", ["kernelinfo", *arguments]),
        patch("sys.stderr", terminal),
        patch("sys.stdout", out),
        patch("threading.Timer", timer),
        patch("time.monotonic", lambda: now() * 1000),  # numbers move each 0.1 ms
        patch.dict(os.environ, TERM="xterm"),
        suppress(SystemExit),
    ):
        main()
    assert out.isatty() or "\x1b" not in out.getvalue()
    return terminal.getvalue()


def test_bytes_and_kernels_after_a_while_and_no_thread_behind() -> None:
    threads = {*threading.enumerate()}
    rows = io.StringIO()
    shown = seen(LIBRARY, "--format", "csv", "--jobs", "1", out=rows)
    assert " kernels" in shown
    assert "48.4 kB" in shown
    assert rows.getvalue().count("\n") == 9
    for thread in {*threading.enumerate()} - threads:
        thread.join(60)
    assert {*threading.enumerate()} == threads
    assert seen(LIBRARY, timer=Never) == ""


def test_results_on_the_terminal_replace_the_bar() -> None:
    """`kernelinfo pressure large.so --format csv`: the first kernel may take a minute."""
    for command in (
        ("pressure", SOURCE, "--format", "csv", "--jobs", "1"),
        ("explain", SOURCE, "*"),
    ):
        shown = seen(*command, out=Terminal())
        assert "reading" in shown
        assert " kernel" not in shown


SOON = """
import threading, time
from kernelinfo.__main__ import main

class AtOnce(threading.Timer):
    def start(self):
        self.function()

    def join(self):
        pass

real = time.monotonic
threading.Timer, time.monotonic = AtOnce, lambda: real() * 1000
main()
"""
"""A bar comes at once, and its numbers move each 0.1 ms."""


def typed(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and what a terminal got as standard error, of a command whose bar comes at
    once."""
    ours, theirs = pty.openpty()
    with (folder / "output").open("w+b") as to:
        process = subprocess.Popen(
            [sys.executable, "-c", SOON, *arguments],
            cwd=folder,
            env={**os.environ, "TERM": "xterm"},
            stdin=theirs,
            stdout=to,
            stderr=theirs,
        )
        os.close(theirs)
        seen = b""
        while piece := _read(ours):
            seen += piece
        os.close(ours)
        code = process.wait()
        to.seek(0)
        return code, to.read().decode(), seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        return b""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report", LIBRARY, "--format", "csv", "--jobs", "2"), " kernels"),
        (("diff", LIBRARY, LIBRARY), "comparing"),
        (("check", LIBRARY, "--baseline", "b.json", "--update-baseline"), "writing the baseline"),
        *(
            pytest.param(words, told, marks=pytest.mark.nightly)
            for words, told in (
                (("report", LIBRARY), " kernels"),
                (("report", LIBRARY, "--format", "json"), " kernels"),
                (("report", LIBRARY, "--format", "html"), " kernels"),
                (("pressure", SOURCE, "--format", "csv"), " kernels"),
                (("pressure", SOURCE), " kernels"),
                (("pressure", SOURCE, "v*", "--format", "csv", "--jobs", "2"), " kernel"),
                (("pressure", SOURCE, "vgprbound", "--at", "511", "--jobs", "2"), " kernel"),
                (("explain", SOURCE), " kernels"),
                (("explain", SOURCE, "*", "--format", "json"), " kernels"),
                (("explain", SOURCE, "*"), " kernels"),
                (("diff", LIBRARY, LIBRARY, "--format", "json"), " kernels"),
                (("check", LIBRARY, "--exit-zero"), "checking"),
                (("extract", LIBRARY, "-o", "objects"), " kernels"),
            )
        ),
    ],
    ids=lambda words: None if isinstance(words, str) else " ".join(words[:1] + words[2:]),
)
def test_each_long_command_shows_what_it_does(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    """Typed at a terminal, with the output redirected to a file."""
    code, written, seen = typed(tmp_path, *arguments)
    assert (code, bool(written)) == (0, True), seen
    assert told in seen
    assert "Traceback" not in seen
    assert "\x1b" not in written


@pytest.mark.needs("duckdb")
def test_a_scan_shows_kernels_and_a_trend_that_it_compares(tmp_path: Path) -> None:
    for build in ("1", "2"):
        code, _, seen = typed(tmp_path, "scan", LIBRARY, "--to", "made", "--build", build)
        assert (code, " kernels" in seen) == (0, True), seen
    code, written, seen = typed(tmp_path, "trend", "made")
    assert (code, "comparing builds" in seen) == (0, True), seen
    assert written


def test_an_error_ends_the_bar_with_its_own_exit_code(tmp_path: Path) -> None:
    code, _, seen = typed(tmp_path, "report", LIBRARY, "--format", "html", "-o", "none/page.html")
    assert (code, tells(seen, "output-unwritable none/page.html")) == (2, True), seen
