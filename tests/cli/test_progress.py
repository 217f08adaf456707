"""The progress of long work: for a person at a terminal, and for nobody else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from threading import Semaphore, Timer

import pytest

from kernelinfo import Options, analyse
from kernelinfo.cli import bars, output
from kernelinfo.cli.output import shown, write
from kernelinfo.kernel import Item

from ..conftest import FIXTURES

LIBRARY = str(FIXTURES / "container" / "libtwo.so")
SOURCE = str(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s")


class Terminal(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.frames = Semaphore(0)
        """Counts frames of bars: a test waits for the next one."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "0:00:0" in text:
            self.frames.release()
        return super().write(text)


class AtOnce(Timer):
    """A bar that comes at once."""

    def start(self) -> None:
        self.function()

    def join(self, timeout: float | None = None) -> None:
        """Nothing runs."""


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error as a terminal, on which a bar comes at once."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(threading, "Timer", AtOnce)
    monkeypatch.setattr(output, "_EVERY", 0)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


@pytest.fixture
def items() -> list[Item]:
    return list(analyse([LIBRARY], Options()))


@pytest.mark.parametrize(("timer", "is_shown"), [(AtOnce, True), (Timer, False)])
def test_bytes_and_kernels_after_a_while(
    timer: type[Timer], is_shown: bool, items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = at_terminal(monkeypatch)
    monkeypatch.setattr(threading, "Timer", timer)
    monkeypatch.setattr(bars, "_AFTER", 3600)
    assert list(shown(iter(items), [LIBRARY])) == items
    assert ("8 kernels" in terminal.getvalue()) == is_shown
    assert ("kB" in terminal.getvalue()) == is_shown


def test_the_bar_comes_and_moves_while_no_item_does(
    items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One code object may take a minute."""
    terminal = at_terminal(monkeypatch)

    def slow() -> Iterator[Item]:
        for _ in range(3):
            terminal.frames.acquire()
        yield from items

    assert list(shown(slow(), [LIBRARY])) == items


def test_nothing_of_a_bar_outlives_it(items: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    at_terminal(monkeypatch)
    before = {*threading.enumerate()}
    reading = shown(iter(items), [LIBRARY])
    next(reading)
    new = {*threading.enumerate()} - before
    assert new
    reading.close()  # type: ignore[attr-defined]
    for thread in new:
        thread.join(10)
    assert {*threading.enumerate()} == before


def test_nothing_where_standard_error_is_no_terminal(
    items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_terminal(monkeypatch)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    assert list(shown(iter(items), [LIBRARY])) == items
    assert pipe.getvalue() == ""


def test_rows_go_to_standard_output_while_the_bar_is_shown(
    items: list[Item], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`kernelinfo large.so --format jsonl --jobs 1 > rows.jsonl`, typed at a terminal."""
    at_terminal(monkeypatch)
    row = "x" * (1 << 17) + "\n"  # more than is written at once
    write((row for _ in shown(iter(items), [LIBRARY])), None)
    assert capsys.readouterr().out == 8 * row


def test_results_on_the_terminal_replace_the_bar(
    items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kernelinfo pressure large.so --format csv`: the first kernel may take a minute."""
    terminal = at_terminal(monkeypatch)
    monkeypatch.setattr(sys, "stdout", Terminal())
    found = shown(iter(items), [LIBRARY], streams=True)
    first = next(found)
    before = terminal.getvalue()
    assert "reading" in before
    assert [first, *found] == items
    assert terminal.getvalue() == before


SOON = """
import threading
from kernelinfo.__main__ import main
from kernelinfo.cli import bars, output

class AtOnce(threading.Timer):
    def start(self):
        self.function()

    def join(self):
        pass

threading.Timer, output._EVERY = AtOnce, 0
main()
"""


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
    assert (code, "give another file" in seen) == (2, True), seen
