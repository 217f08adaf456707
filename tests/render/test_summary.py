"""Above 20 kernels: what is counted for each target, and rows that stand for several targets."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.kernel.report import Report
from kernelinfo.render import View
from kernelinfo.render.groups import joined
from kernelinfo.render.text import render

from ..conftest import FIXTURES
from ..test_golden import run

THREE = [f"assembly/variety-clang22-{gfx}.s" for gfx in ("gfx90a", "gfx942", "gfx950")]


def rows() -> list[dict[str, object]]:
    out, _, _ = run(*THREE, "--format", "jsonl")
    return [json.loads(line) for line in out.splitlines()]


def counted(lines: list[str], label: str) -> list[str]:
    """The numbers of a line of the summary."""
    line = next(line for line in lines if line.split()[:1] == [label])
    return re.findall(r"\d+", line.split(label, 1)[1])


def test_each_target_has_its_counts() -> None:
    """Against the rows that other programs read."""
    lines = run(*THREE)[0].splitlines()
    assert lines[2].split() == ["waves/SIMD", "gfx90a", "gfx942", "gfx950"]
    full = Counter(row["Compiled_For"] for row in rows() if row["Waves_Per_SIMD"] == 8)
    assert counted(lines, "8") == [str(full[gfx]) for gfx in ("gfx90a", "gfx942", "gfx950")]
    limited = Counter(row["Compiled_For"] for row in rows() if "lds" in row["Limiters"])  # type: ignore[operator]
    assert counted(lines, "LDS") == [str(limited[gfx]) for gfx in ("gfx90a", "gfx942", "gfx950")]


def test_who_spills_how_much() -> None:
    out, _, _ = run("assembly", "--target", "gfx90a")
    found = [
        row
        for row in map(
            json.loads, run("assembly", "--target", "gfx90a", "--format", "jsonl")[0].splitlines()
        )
        if row["VGPR_Spills"] or row["SGPR_Spills"]
    ]
    most = max(row["VGPR_Spills"] or 0 for row in found)
    assert counted(out.splitlines(), "kernels") == [str(len(found))]
    assert f"spills most {most} VGPRs" in out


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        (["gfx90a:xnack-"], "gfx90a:xnack-"),
        (["gfx90a", "gfx942"], "gfx90a,942"),
        (["gfx90a", "gfx90a:xnack-"], "gfx90a + 1 more"),
    ],
)
def test_targets_of_a_row_fit_where_others_can_be_counted(targets: list[str], told: str) -> None:
    assert joined(targets, 12) == told


def test_equal_rows_of_one_kernel_are_one() -> None:
    lines = run(*THREE)[0].splitlines()
    (row,) = [line for line in lines if line.endswith("agpr_heavy(int*)") and "waves" not in line][
        :1
    ]
    assert row.split()[0] == "gfx90a,942,950"
    names = [line.split("  ")[-1] for line in lines if line.endswith("lds_40k(int*)")]
    assert len(names) == 2, "LDS is larger on gfx950"


def test_a_piped_row_has_its_columns_in_one_place_and_its_name_whole() -> None:
    lines = run(*THREE)[0].splitlines()
    heading = next(line for line in lines if line.startswith(" target"))
    at = heading.index("kernel")
    body = lines[lines.index(heading) + 1 :]
    table = body[
        : next(i for i, line in enumerate(body) if line.startswith(" …") or line.startswith(" reg"))
    ]
    assert at <= 100
    assert all(line[at - 1] == " " != line[at] for line in table)


def test_twenty_kernels_need_no_summary() -> None:
    assert "limited by" in run("assembly/spills-clang22-gfx90a.s")[0]
    assert " waves/SIMD  gfx" not in run("assembly/spills-clang22-gfx90a.s")[0]
    assert " waves/SIMD  gfx" not in run(*THREE, "-q")[0]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_stays_within_the_width(width: int) -> None:
    report = analyse([str(FIXTURES / "assembly")], Options())
    shown = "".join(render(report, View(width=width, fold=True, may_shorten=True))).splitlines()
    start = shown.index("")
    end = next(i for i, line in enumerate(shown) if " block " in line)
    assert all(len(line) <= width for line in shown[start:end])


def test_names_are_short_on_a_terminal_unless_the_user_chooses() -> None:
    items = list(analyse([str(FIXTURES / name) for name in THREE], Options()))
    brief = "".join(render(items, View(fold=True, may_shorten=True)))
    whole = "".join(render(items, View(fold=True)))
    assert "vgpr_heavy(int*)" in whole
    assert "vgpr_heavy(int*)" not in brief
    assert len(Report.of(items).results) > 20
