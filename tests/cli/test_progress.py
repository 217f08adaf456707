"""The progress of long work: for a person at a terminal, and for nobody else."""

from __future__ import annotations

import io
import sys

import pytest

from kernelinfo import Options, analyse
from kernelinfo.cli import app, output
from kernelinfo.cli.output import shown, write

from ..conftest import FIXTURES

LIBRARY = str(FIXTURES / "container" / "libtwo.so")
SOURCE = str(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "is_shown"), [(-1.0, True), (60.0, False)])
def test_bytes_and_kernels_after_a_while(
    patience: float, is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "_BAR_AFTER", patience)
    monkeypatch.setattr(output, "_EVERY", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    items = list(analyse([LIBRARY], Options()))
    assert list(shown(items, [LIBRARY])) == items
    assert ("8 kernels" in terminal.getvalue()) == is_shown
    assert ("kB" in terminal.getvalue()) == is_shown


def test_nothing_where_standard_error_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(output, "_BAR_AFTER", -1.0)
    items = list(analyse([LIBRARY], Options()))
    assert list(shown(items, [LIBRARY])) == items
    assert pipe.getvalue() == ""


def test_rows_go_to_standard_output_while_the_bar_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`kernelinfo large.so --format jsonl --jobs 1 > rows.jsonl`, typed at a terminal."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(output, "_BAR_AFTER", -1.0)
    monkeypatch.setattr(output, "_EVERY", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    items = shown(analyse([LIBRARY], Options()), [LIBRARY])
    row = "x" * (1 << 17) + "\n"  # more than is written at once
    write((row for _ in items), None)
    assert capsys.readouterr().out == 8 * row


@pytest.mark.parametrize(
    "arguments",
    [
        ("pressure", SOURCE, "--format", "csv"),
        ("pressure", SOURCE),
        ("explain", SOURCE, "*", "--format", "json"),
        ("explain", SOURCE, "*"),
        ("diff", LIBRARY, LIBRARY, "--format", "json"),
    ],
    ids=" ".join,
)
def test_each_long_command_shows_what_it_has_read(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Typed at a terminal, with the output redirected to a file."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "_BAR_AFTER", -1.0)
    monkeypatch.setattr(output, "_EVERY", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "argv", ["kernelinfo", *arguments])
    with pytest.raises(SystemExit) as ended:
        app()
    assert ended.value.code in (0, None)
    assert " kernels" in terminal.getvalue()
    assert capsys.readouterr().out


def test_results_on_the_terminal_replace_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(output, "_BAR_AFTER", -1.0)
    items = list(analyse([LIBRARY], Options()))
    assert list(shown(items, [LIBRARY], streams=True)) == items
    assert terminal.getvalue() == ""
