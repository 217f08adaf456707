"""What `diff` takes for OLD and NEW, what it calls them, and several targets side by side."""

from __future__ import annotations

import json
import shutil
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
    assert lines[3].split() == ["7", "→", "6"] * 3 + ["sgpr_heavy(int*)"]
    assert lines[-1] == " 1 of 26 kernels moved"


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
    rows = map(json.loads, alone.splitlines())
    waves = {row["Kernel_Name"]: row["Waves_Per_SIMD"] for row in rows}
    assert {row["kernel"]: row[f"{target}_new"] for row in json.loads(table)["kernels"]} == waves


@pytest.mark.parametrize("format", ["markdown", "csv", "jsonl"])
def test_without_a_kernel_in_both_there_is_no_row(format: str) -> None:
    old, new = "assembly/shaped-clang22-gfx942.s", "assembly/handwritten.s"
    table, _, code = run("diff", old, new, "--as", "gfx90a,gfx950", "--format", format)
    assert (table, code) == ("", 0)


def test_any_target_that_regresses_fails() -> None:
    arguments = ("diff", OLD, NEW, "--as", "gfx90a,gfx950", "--fail-on", "regression")
    assert run(*arguments)[2] == 1


def test_a_page_has_one_target() -> None:
    _, err, code = run("diff", OLD, NEW, "--as", "gfx90a,gfx950", "--format", "html")
    assert (err, code) == ("kernelinfo: --as gfx90a,gfx950 has no html; give one target\n", 2)
