"""What `diff` takes for OLD and NEW, what it calls them, and several targets side by side."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

OLD, NEW = (f"assembly/variety-clang{one}-gfx90a.s" for one in ("15", "22"))
OTHER = "assembly/variety-clang22-gfx942.s"


def test_the_builds_are_named() -> None:
    assert run("diff", OLD, NEW)[0].startswith(f"{OLD} → {NEW}\n")
    assert f"`{OLD}` → `{NEW}`" in run("diff", OLD, NEW, "--format", "markdown")[0]


def test_builds_for_other_targets_are_pointed_to_the_option() -> None:
    _, err, code = run("diff", OLD, OTHER)
    assert code == 0
    assert err == "note: OLD and NEW share no target; --across-targets pairs kernels by name\n"
    assert run("diff", OLD, OTHER, "--across-targets")[1] == ""


def test_a_baseline_is_an_old_build(tmp_path: Path) -> None:
    baseline = str(tmp_path / "base.json")
    assert run("check", OLD, "--baseline", baseline, "--update-baseline")[2] == 0
    pinned, _, code = run("diff", baseline, NEW)
    assert code == 0
    assert pinned.splitlines()[1:] == run("diff", OLD, NEW)[0].splitlines()[1:]
    assert "26 gone" not in pinned
    chosen, _, _ = run("diff", baseline, NEW, "-k", "sgpr_heavy*")
    assert "kernels 1 " in chosen


def test_targets_side_by_side() -> None:
    out, _, code = run("diff", OLD, NEW, "--as", "gfx90a,MI300X,gfx950")
    assert code == 0
    lines = out.splitlines()
    assert lines[2].split() == ["gfx90a", "gfx942", "gfx950", "kernel"]
    assert lines[3].split() == ["worse", *["7", "→", "6"] * 3, "sgpr_heavy(int*)"]
    assert lines[-1] == " 1 of 26 kernels moved"


def test_a_library_comes_through_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    library = "container/libtwo.so"
    data = io.BytesIO((FIXTURES / library).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    out, err, code = run("diff", "-", library)
    assert (err, code) == ("", 0)
    assert " kernels 8 · affected 0 " in out


def test_the_names_of_builds_break_at_the_width_of_a_terminal() -> None:
    out, _, _ = run("diff", OLD, NEW, "--as", "gfx90a,gfx942", "--width", "50")
    assert out.splitlines()[:2] == [f"{OLD} →", f" {NEW}: waves/SIMD"]


def test_several_targets_say_why_they_fail(tmp_path: Path) -> None:
    """Kernels that are gone or new, and spills and scratch that moved, which no target changes."""
    text = (FIXTURES / "assembly/occupancy-clang19-gfx90a.s").read_text("utf-8")
    (tmp_path / "old.s").write_text(text)
    (tmp_path / "gone.s").write_text(text.replace("_Z9vgprboundiPd", "_Z9vgprownediPd"))
    spilling = re.sub(r"(\.vgpr_spill_count:) *14", r"\1 23", text)
    (tmp_path / "spilling.s").write_text(spilling)
    scratch = re.sub(r"(\.private_segment_fixed_size:|ScratchSize:) 60", r"\1 68", text)
    scratch = scratch.replace("private_segment_fixed_size 60", "private_segment_fixed_size 68")
    (tmp_path / "scratch.s").write_text(scratch)
    told = {
        "gone.s": [
            "gone 4 → – 4 → – vgprbound(int, double*)",
            "new – → 4 – → 4 vgprowned(int, double*)",
        ],
        "spilling.s": ["worse 8 8 14 → 23 sgprbound(int, double*)"],
        "scratch.s": ["worse 8 8 60 B → 68 B sgprbound(int, double*)"],
    }
    for new, rows in told.items():
        arguments = ("diff", "old.s", new, "--as", "gfx90a,gfx942", "--fail-on", "regression")
        out, err, code = run(*arguments, folder=tmp_path)
        assert (err, code) == ("", 1), new
        assert [" ".join(line.split()) for line in out.splitlines()[3:-2]] == rows
        kernels = json.loads(run(*arguments, "--format", "json", folder=tmp_path)[0])["kernels"]
        statuses = [row.split()[0] for row in rows]
        assert [one["status"] for one in kernels if one["status"] != "same"] == statuses
    assert out.endswith(" 1 of 4 kernels moved\n")


def test_kernels_that_moved_alike_share_a_row(tmp_path: Path) -> None:
    for build, path in (("old", OLD), ("new", NEW)):
        (tmp_path / build).mkdir()
        for number in range(3):
            shutil.copy(FIXTURES / path, tmp_path / build / f"k{number}.s")
    arguments = ("diff", "old", "new", "--all-copies", "--as", "gfx90a,gfx950")
    out, _, _ = run(*arguments, folder=tmp_path)
    assert [line.split("  ")[-1].strip() for line in out.splitlines()[2:4]] == [
        "kernel",
        "sgpr_heavy(int*) · k0.s + 2 more × 3",
    ]
    assert out.endswith(" 3 of 78 kernels moved\n")


@pytest.mark.parametrize("target", ["gfx90a", "gfx950"])
def test_a_column_is_what_one_target_alone_says(target: str) -> None:
    table = run("diff", OLD, NEW, "--as", "gfx90a,gfx950", "--format", "json")[0]
    alone = run(NEW, "--as", target, "--format", "jsonl")[0]
    known = [json.loads(line) for line in alone.splitlines()]
    waves = {row["Kernel_Name"]: row["Waves_Per_SIMD"] for row in known}
    assert {row["kernel"]: row[f"{target}_new"] for row in json.loads(table)["kernels"]} == waves
    spills = {row["Kernel_Name"]: row["VGPR_Spills"] for row in known}
    assert {row["kernel"]: row["vgpr_spills_new"] for row in json.loads(table)["kernels"]} == spills


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_without_a_kernel_in_both_all_are_gone_or_new(format: str) -> None:
    old, new = "assembly/shaped-clang22-gfx942.s", "assembly/handwritten.s"
    table, _, code = run("diff", old, new, "--as", "gfx90a,gfx950", "--format", format)
    every = (
        [json.loads(line) for line in table.splitlines()]
        if format == "jsonl"
        else [*csv.DictReader(table.splitlines())]
    )
    kernels = {one: len(run(one, "--format", "jsonl")[0].splitlines()) for one in (old, new)}
    assert code == 0
    assert Counter(row["status"] for row in every) == {"gone": kernels[old], "new": kernels[new]}


def test_any_target_that_regresses_fails() -> None:
    arguments = ("diff", OLD, NEW, "--as", "gfx90a,gfx950", "--fail-on", "regression")
    assert run(*arguments)[2] == 1


def test_a_page_has_one_target() -> None:
    _, err, code = run("diff", OLD, NEW, "--as", "gfx90a,gfx950", "--format", "html")
    assert (err, code) == ("kernelinfo: --as gfx90a,gfx950 has no html; give one target\n", 2)
