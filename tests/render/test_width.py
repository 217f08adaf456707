"""Every text answer stays within a terminal of 80 columns, with colour where there is colour."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from kernelinfo.render.paint import cells, size, size_column

from ..conftest import FIXTURES
from ..test_golden import run

TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
VARIETY = "assembly/variety-clang22-gfx90a.s"
ANSWERS = (
    (TEXT,),
    (VARIETY,),
    ("explain", TEXT, "vgprbound"),
    ("diff", "assembly/variety-clang15-gfx90a.s", VARIETY),
    ("explain", "occupancy"),
    *(
        pytest.param(words, marks=pytest.mark.nightly)
        for words in (
            ("explain", "assembly/spills-clang22-gfx90a.s", "hint_too_high"),
            *(("arch",), ("arch", "MI300X"), ("limits", "gfx942"), ("rules",), ("explain",)),
            ("compare-profile", "profile/kernel_trace.csv", TEXT),
            *(("explain", "KI106"), ("explain", "gate")),
        )
    ),
)


def on_a_terminal(arguments: Sequence[str], **environment: str) -> list[str]:
    """The lines that a terminal of 80 columns is sent."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kernelinfo", *arguments]
    known = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    known |= {"PAGER": "cat"}
    process = subprocess.Popen(
        command,
        cwd=FIXTURES,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=known | {"COLUMNS": "80", "TERM": "xterm"} | environment,
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            more = os.read(ours, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not more:
            break
        sent += more
    os.close(ours)
    assert process.wait() == 0
    return sent.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX's")
@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
def test_80_columns_are_enough(arguments: tuple[str, ...]) -> None:
    lines = on_a_terminal(arguments, NO_COLOR="1")
    assert lines
    assert not [line for line in lines if cells(line) > 80]
    assert not [line for line in lines if "\x1b" in line]


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX's")
def test_bars_limiters_and_severities_are_set_off() -> None:
    painted = "\n".join(on_a_terminal((TEXT,), COLUMNS="120"))
    assert re.search(r"\x1b\[1m■+\x1b\[0m\x1b\[2m·+", painted)
    assert "\x1b[35mVGPR\x1b[0m" in painted
    assert re.search(r"\x1b\[1;35mwarning", painted)


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX's")
def test_an_explanation_is_in_colour() -> None:
    painted = on_a_terminal(("explain", "assembly/spills-clang22-gfx90a.s", "hint_reached"))
    limiting = next(line for line in painted if "waves/SIMD" in line and "◄" in line)
    assert limiting.startswith("\x1b[35m ")
    assert any("KI302" in line and "\x1b[1;35mwarning: \x1b[0m" in line for line in painted)


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is POSIX's")
def test_a_page_of_the_manual_is_drawn_and_paged_on_a_terminal() -> None:
    read = on_a_terminal(("explain", "occupancy"), PAGER="sed s/^/paged:/")
    assert all(line.startswith("paged:") for line in read)
    page = [line.removeprefix("paged:") for line in read]
    assert "\x1b[1;4mOccupancy from first principles\x1b[0m" in page[0]
    assert not [line for line in page if line.startswith(("#", "* ", "```"))]
    assert any("waves stay \x1b[1mresident\x1b[0m" in line for line in page)


def test_a_pipe_gets_the_markdown_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    page = run("explain", "occupancy")[0]
    assert page.startswith("# Occupancy from first principles\n")
    assert "```console\n" in page
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;4mOccupancy from first principles\x1b[0m" in run("explain", "occupancy")[0]


PIPED = (
    *ANSWERS,
    ("container/libtwo.so",),
    ("code_object",),
    (VARIETY, "--by", "limiter"),
    ("container", "--by", "member"),
    (TEXT, "--columns", "kernel,waves,VGPR_Used,lds,library"),
    ("diff", VARIETY, VARIETY, "--as", "gfx90a,gfx942"),
    ("diff", "assembly/variety-clang15-gfx90a.s", VARIETY, "--by", "limiter"),
    ("pressure", VARIETY),
    ("pressure", "container/libtwo.so"),
    ("pressure", TEXT, "vgprbound"),
    ("check", VARIETY, "--exit-zero"),
    ("calc", "gfx942", "--vgpr", "96", "--vary", "lds"),
    ("calc", "gfx942", "--vary", "vgpr,lds"),
)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("answer", PIPED, ids=" ".join)
def test_width_holds_in_a_pipe(answer: tuple[str, ...], width: int) -> None:
    out, _, code = run(*answer, "--width", str(width))
    assert (bool(out), code) == (True, 0)
    assert [line for line in out.splitlines() if cells(line) > width] == []


def test_a_pipe_without_width_has_whole_names_last() -> None:
    assert run(TEXT)[0].splitlines()[3].endswith("  empty(int, double*)")


def test_bytes_are_in_one_unit_where_quarters_are_exact() -> None:
    """A number that two decimals would round stays in bytes: 4100 B is above 4 KiB."""
    shown = {0: "0", 60: "60 B", 1024: "1 KiB", 16896: "16.5 KiB", 10496: "10.25 KiB"}
    shown |= {4100: "4100 B", 65536: "64 KiB", 1000: "1000 B", 768: "768 B"}
    assert {count: size(count) for count in shown} == shown


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        ([0, 16896, 512, None], ["0", "16.5 KiB", "0.5 KiB", "?"]),
        ([96, 40960, 0], ["96 B", "40960 B", "0"]),
        ([256, 512], ["256 B", "512 B"]),
        ([None, 0], ["?", "0"]),
        ([], []),
    ],
)
def test_a_column_of_bytes_has_one_unit(counts: list[int | None], shown: list[str]) -> None:
    assert size_column(counts) == shown


@pytest.mark.parametrize("command", [(), ("--columns", "lds,scratch,kernel"), ("--as", "gfx942")])
def test_a_report_has_one_unit_a_column(command: tuple[str, ...]) -> None:
    page, _, _ = run(VARIETY, *command)
    assert re.findall(r"\b(?:96|40960|65536) B\b", page)
    table = page.partition("registers =")[0]
    assert not re.search(r"\d KiB", table)
