"""Source lines: the attributes they express, and the rows that have one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from kernelinfo.variants import SIZES, WAVES, Asked, LineLanguage
from kernelinfo.variants import lines as source_lines

from ..compiling import bitcode, needs_clang
from ..conftest import require
from ..messages import does_line_match
from ..test_golden import run
from . import exhaustive, printed
from .test_sweep import KERNELS, swept

PAIR, FEWEST = Asked(5), Asked(5, or_more=True)
SIZED = {SIZES: "1,256"}


@pytest.mark.parametrize(
    ("asked", "language", "declared", "expected"),
    [
        (PAIR, "HIP", SIZED, ["__attribute__((amdgpu_waves_per_eu(5, 5)))"]),
        (
            FEWEST,
            "HIP",
            SIZED,
            ["__attribute__((amdgpu_waves_per_eu(5)))", "__launch_bounds__(256, 5)"],
        ),
        (FEWEST, "HIP", {SIZES: "256,256"}, ["__attribute__((amdgpu_waves_per_eu(5)))"]),
        (FEWEST, "HIP", {}, ["__attribute__((amdgpu_waves_per_eu(5)))"]),
        (FEWEST, "OpenCL", SIZED, ["__attribute__((amdgpu_waves_per_eu(5)))"]),
        (PAIR, "Triton", SIZED, ["waves_per_eu=5"]),
        (Asked(launch_bounds=64), "HIP", SIZED, ["__launch_bounds__(64)"]),
        (
            Asked(launch_bounds=64),
            "HIP",
            {**SIZED, WAVES: "4"},
            ["__launch_bounds__(64, 4)"],
        ),
        (
            Asked(launch_bounds=64),
            "HIP",
            {**SIZED, WAVES: "2,4"},
            ["__launch_bounds__(64) __attribute__((amdgpu_waves_per_eu(2, 4)))"],
        ),
        (Asked(5, or_more=True, launch_bounds=64), "HIP", SIZED, ["__launch_bounds__(64, 5)"]),
        (
            Asked(launch_bounds=64),
            "OpenCL",
            SIZED,
            ["__attribute__((amdgpu_flat_work_group_size(1, 64)))"],
        ),
        (
            Asked(strategy="max-ilp"),
            "HIP",
            {**SIZED, WAVES: "4"},
            ["-mllvm -amdgpu-sched-strategy=max-ilp"],
        ),
        (Asked(strategy="max-ilp"), "Triton", SIZED, []),
        (Asked(launch_bounds=64), "Triton", SIZED, []),
    ],
)
def test_a_line_states_the_attributes(
    asked: Asked, language: LineLanguage, declared: dict[str, str], expected: list[str]
) -> None:
    found = source_lines(asked, language, declared, (), has_required_size=False)
    assert [line.written for line in found] == expected


@pytest.mark.nightly
@needs_clang
def test_an_ignored_wish_gives_no_line(tmp_path: Path) -> None:
    path = bitcode(KERNELS.replace("BOUND", ""), tmp_path / "k.bc")
    document = swept(path, "crowded", "--waves", "99")
    assert [variant["ignored"] for variant in document["kernels"][0]["variants"][1:]] == [True] * 2
    assert document["kernels"][0]["lines"] == []
    out, _, code = run("sweep", path, "crowded", "--waves", "99")
    assert code == 0
    assert "waves 99 ignored" in out
    assert "amdgpu_waves_per_eu" not in out


@pytest.mark.nightly
@needs_clang
def test_fewer_waves_are_left_out_unless_they_save(tmp_path: Path) -> None:
    path = bitcode(KERNELS.replace("BOUND", ""), tmp_path / "k.bc")
    for kernel in swept(path)["kernels"]:
        base, *others = kernel["variants"]
        waves = base["kernel"]["occupancy"]["waves_per_simd"]
        for variant in others:
            found = variant["kernel"]["occupancy"]["waves_per_simd"]
            scratch = variant["kernel"]["used"]["scratch_bytes_per_lane"]
            assert found >= waves or scratch < base["kernel"]["used"]["scratch_bytes_per_lane"]


@pytest.mark.nightly
@needs_clang
def test_several_files(tmp_path: Path) -> None:
    first = bitcode(KERNELS.replace("BOUND", ""), tmp_path / "a.bc")
    second = bitcode('extern "C" __global__ void other(int *p) { *p = 1; }', tmp_path / "b.bc")
    (tmp_path / "bad.bc").write_text("no bitcode")
    out, err, code = run("sweep", first, second, "--waves", "8")
    assert (err, code) == ("", 0)
    assert out.count("as compiled ◄") == 3
    out, err, code = run("sweep", first, str(tmp_path / "bad.bc"), second, "other", "--waves", "8")
    assert code == 2
    assert out.count("as compiled ◄") == 1
    (line,) = err.splitlines()
    assert does_line_match(line, "ir-malformed ir-no-llvm bad.bc")
    out, err, code = run("sweep", first, second, "nothing")
    assert (out, code) == ("", 2)
    assert len(err.splitlines()) == 2


@pytest.mark.nightly
@pytest.mark.parametrize("compiler", printed.TARGETS)
def test_printed_lines_give_their_rows(compiler: str, tmp_path: Path) -> None:
    """One module; `python -m tests.sweep --lines 200` tries more."""
    require(compiler)
    lines = printed.run(compiler, "gfx90a", Random(2), tmp_path / "module")
    assert lines.differences == []
    assert lines.lines


@pytest.mark.nightly
@pytest.mark.parametrize("version", [15, 22])
def test_default_rows_end_spills_where_anything_does(version: int, tmp_path: Path) -> None:
    """One kernel; `python -m tests.sweep --spilling 4` tries more."""
    require(f"clang-{version}")
    tried = exhaustive.run(version, "gfx90a", 1, Random(7), tmp_path)
    assert tried.missed == []
    assert tried.ended + tried.halved
