"""Formats: `--help` offers what a command writes, and what it offers is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from kernelinfo.cli import COMMANDS

from ..conftest import FIXTURES
from ..fleet.nights import add, kernels
from ..messages import do_lines_match
from ..sweep.compilers import IR, recorder
from ..test_golden import run

OLD, NEW = (
    str(FIXTURES / "assembly" / f"occupancy-clang{version}-gfx90a.s") for version in (19, 22)
)
RUN = str(FIXTURES / "profile" / "kernel_trace.csv")
HAS_DATASETS = find_spec("duckdb") is not None
Run = Callable[..., tuple[str, str, int]]
"""Words of a command line → standard output, standard error, exit code."""


def lines_with_formats(folder: Path) -> list[list[str]]:
    """A line for each command that has `--format`. Their inputs are in the folder."""
    (folder / "sweep").mkdir()
    (folder / "sweep" / "k.ll").write_text(IR)
    compiler = recorder(folder / "sweep", "first", "bare")
    for build in ("night-1", "night-2") if HAS_DATASETS else ():
        add(folder / "fleet", build, kernels())
    return [
        ["report", NEW],
        ["report", NEW, "--source-lines"],
        ["explain", NEW, "vgprbound"],
        ["pressure", NEW],
        ["diff", OLD, NEW],
        ["check", NEW, "--fail-on", "error"],
        ["calc", "gfx90a", "--vgpr", "96"],
        ["limits", "gfx90a"],
        ["arch", "gfx90a"],
        ["compare-profile", RUN, NEW],
        ["rules"],
        ["watch", NEW, "--once"],
        ["trend", str(folder / "fleet")],
        ["sweep", str(folder / "sweep" / "k.ll"), "--waves", "5", "--compiler", compiler],
    ]


def assert_formats_are_true(run: Run, folder: Path) -> None:
    """What a command offers is written; all other formats are refused in a line that lists them."""
    lines = lines_with_formats(folder)
    offered: dict[str, list[str]] = {}
    for command in COMMANDS:
        listed = re.search(r"--format +\[([^]]+)\]", re.sub(r"\n +", "", run(command, "-h")[0]))
        offered |= {command: listed[1].split("|")} if listed else {}
    assert {command for command, *_ in lines} == set(offered)
    every = {format for formats in offered.values() for format in formats}
    for line in lines:
        formats = offered[line[0]]
        for format in sorted(every | {"nothing"}):
            if format in formats and line[0] == "trend" and not HAS_DATASETS:
                continue
            out, err, code = run(*line, "--format", format)
            if format in formats:
                assert out, (line, format, err)
                assert code in (0, 1, 2 if line[0] == "sweep" else 0), (line, format, err)
            else:
                refusal = f"format-unknown --format {format}: … {', '.join(formats)}"
                assert (out, code) == ("", 2), (line, format)
                assert do_lines_match(err, refusal), (line, err)


def test_what_is_offered_is_written(tmp_path: Path) -> None:
    assert_formats_are_true(run, tmp_path)
