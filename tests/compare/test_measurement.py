"""Measured against predicted, on the limiters tutorial's kernels."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from kernelinfo import load
from kernelinfo.compare.matching import measure
from kernelinfo.compare.measurement import Measurement, differences
from kernelinfo.compare.profile import Dispatch, Measures, Resources, Shape, read
from kernelinfo.hardware import products
from tests.conftest import FIXTURES
from tests.test_golden import run

OBJECT = "code_object/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
KERNELS = load(FIXTURES / OBJECT).kernels
BOUND = Resources(124, 4, 80, 0, 0)


def one(
    name: str = "vgprbound(int, double*)",
    *,
    size: int = 256,
    workgroups: int | None = 416,
    resources: Resources = BOUND,
    device: str | None = None,
    **measures: Any,
) -> Measurement:
    dispatch = Dispatch(Shape(name, size, workgroups, resources), 1, Measures(**measures))
    product = products.find(device) if device else None
    (found,) = measure([dispatch], KERNELS, product)
    return found


@pytest.mark.parametrize(
    "name",
    [
        "vgprbound(int, double*)",
        "vgprbound(int, double*) [clone .kd]",
        "vgprbound(int, double*) (.kd)",
        "_Z9vgprboundiPd",
        "_Z9vgprboundiPd.kd",
        "vgprbound",
        "vgprbound(int, double *)",
    ],
)
def test_names_as_profilers_write_them(name: str) -> None:
    found = one(name)
    assert found.kernel is not None
    assert found.kernel.symbol == "_Z9vgprboundiPd"
    assert found.predicted == BOUND
    assert differences(found) == ()


def test_another_name_is_another_kernel() -> None:
    found = one("__amd_rocclr_fillBufferAligned")
    assert (found.kernel, found.predicted, found.remarks) == (None, None, ())


def test_template_arguments_are_left_out_only_where_the_run_does() -> None:
    kernels = load(FIXTURES / "code_object" / "variety-clang22-gfx90a.co").kernels
    names = sorted(kernel.name for kernel in kernels if "stride<" in kernel.name)
    assert len(names) == 2
    for called, matched in (
        (names[0], names[0]),
        (names[1], names[1]),
        (names[1].removeprefix("void ").partition("(")[0], names[1]),
        ("stride<float, 99>(float*)", None),
    ):
        dispatch = Dispatch(Shape(called, 256, 1, Resources(*[None] * 5)), 1, Measures())
        (found,) = measure([dispatch], kernels)
        assert (found.kernel and found.kernel.name) == matched
    dispatch = Dispatch(Shape("stride", 256, 1, Resources(*[None] * 5)), 1, Measures())
    (found,) = measure([dispatch], kernels)
    assert found.kernel is not None


def test_the_real_size_and_lds_of_the_dispatch_count() -> None:
    found = one("sgprbound", size=1024, resources=Resources(64, 0, 80, 32768, 60))
    assert found.occupancy is not None
    assert found.occupancy.launch.dynamic_lds_bytes == 32768
    assert found.occupancy.launch.workgroup_size == 1024
    assert found.occupancy.limiters == ("slots", "vgpr", "sgpr", "lds", "scratch")
    assert differences(found) == ()


def test_lds_that_a_profiler_rounded_is_not_dynamic() -> None:
    kernels = load(FIXTURES / "code_object" / "variety-clang22-gfx90a.co").kernels
    for seen, dynamic in ((96, 0), (512, 0), (1024, 928)):
        shape = Shape("lds_96(int*)", 64, 1, Resources(None, None, None, seen, None))
        (found,) = measure([Dispatch(shape, 1, Measures())], kernels)
        assert found.occupancy is not None
        assert found.occupancy.launch.dynamic_lds_bytes == dynamic


def test_measured_occupancy_from_whatever_the_run_has() -> None:
    """16 of 32 waves a CU, 1664 of 3328 on a die of an MI250."""
    assert one().percent is None
    assert one(percent=49.92).percent == 49.92
    assert one(waves_per_cu=16).percent == 50
    cycles: dict[str, Any] = {"wave_cycles": 1664e6, "cycles": 1e6}
    assert one(**cycles).percent is None, "how many CUs there are is not said"
    assert one(**cycles, device="MI250").percent == 50
    assert one(wave_cycles=5.0, cycles=0.0, device="MI250").percent is None


def test_nothing_is_said_where_the_ceiling_is_met() -> None:
    assert one(percent=49.92).remarks == ()
    assert one(percent=49.92, device="MI250").remarks == ()


def test_a_grid_that_does_not_fill_the_device() -> None:
    """64 of 416 workgroups: 256 waves of 3328 slots."""
    found = one(workgroups=64, percent=7.5, device="MI250")
    assert found.remarks == ("the grid is 15.4 % of what fits on the device at once: ≤ 7.7 %",)
    assert one(workgroups=64, percent=7.5).remarks == (
        "--device tells whether the grid fills the device",
    )


def test_a_tail() -> None:
    found = one(workgroups=500, percent=30, device="MI250")
    assert found.remarks == ("1 full round and a tail of 84 workgroups: 30 % on average",)


def test_what_neither_grid_nor_tail_explain() -> None:
    (remark,) = one(workgroups=41600, percent=20, device="MI250").remarks
    assert remark.startswith("below what the grid allows")
    (remark,) = one(percent=80, device="MI250").remarks
    assert remark.startswith("above the ceiling")


def test_another_build() -> None:
    found = one(resources=Resources(96, 0, 80, 0, 16))
    assert found.remarks == (
        "another build ran, or on another target: VGPRs 96 in the run, 124 in the file, "
        "AGPRs 0 in the run, 4 in the file, scratch 16 in the run, 0 in the file",
    )


def test_a_profiler_that_does_not_know_where_agprs_begin() -> None:
    assert one(resources=Resources(128, 0, 80, 0, 0)).remarks == ()


def test_only_kernels_that_run_on_the_device() -> None:
    assert one(device="MI300X").kernel is None


def test_of_several_targets_the_one_with_the_registers_of_the_run() -> None:
    kernels = load(FIXTURES / "container" / "libtwo.so").kernels
    seen = {
        "gfx90a": Resources(104, 0, 16, 0, 0),
        "gfx1030": Resources(104, 0, 128, 0, 0),
    }
    for target, resources in seen.items():
        dispatch = Dispatch(Shape("first_claim", 256, 8, resources), 1, Measures())
        (found,) = measure([dispatch], kernels)
        assert found.kernel is not None
        assert found.kernel.target is not None
        assert found.kernel.target.name == target
        assert found.remarks == ()


def compare(run_file: str, *arguments: str) -> tuple[str, str, int]:
    return run("compare-profile", f"profile/{run_file}", OBJECT, *arguments)


@pytest.mark.parametrize("name", ["kernel_trace.csv", "counter_collection.csv", "pmc_perf.csv"])
def test_the_samples_agree_with_the_file(name: str) -> None:
    out, err, code = compare(name, "--format", "json")
    assert (err, code) == ("", 0)
    for row in json.loads(out)["launches"]:
        if row["kernel"] is not None:
            for resource in Resources._fields:
                assert row[f"{resource}_predicted"] == row[f"{resource}_measured"]
            measured = row["percent_measured"]
            assert measured is None or measured <= row["percent_predicted"]
        else:
            assert row["profiled_as"].startswith("__amd_rocclr")


def test_text_puts_one_under_the_other() -> None:
    out, _, _ = compare("pmc_perf.csv", "--device", "MI250")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1][2:] == ["predicted", "124", "4", "80", "0", "0", "50", "%", "VGPR"]
    assert lines[2] == [
        *("104", "000", "workgroups", "of", "256"),
        *("measured", "124", "4", "80", "0", "0", "49.9", "%"),
    ]  # fmt: skip
    assert "sgprbound, 19 workgroups of 1024: the grid is 9.1 %" in out
    assert "1 kernel of the run in none of the files" in compare("kernel_trace.csv")[0]


def test_csv_and_jsonl() -> None:
    out, _, _ = compare("kernel_trace.csv", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == len(compare("kernel_trace.csv", "--format", "jsonl")[0].splitlines()) == 6
    assert rows[0]["vgprs_predicted"] == ""
    assert rows[2]["vgprs_predicted"] == rows[2]["vgprs_measured"] == "124"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["profile/none.csv", OBJECT], "No such file"),
        (["README.md", OBJECT], "no column Kernel_Name"),
        (["profile/pmc_perf.csv", "code_object/handwritten.co"], "is in the files given; it ran"),
        (["profile/pmc_perf.csv", OBJECT, "--device", "MI300X"], "given for MI300X"),
        (["profile/pmc_perf.csv", OBJECT, "--device", "MI3"], "unknown device"),
    ],
)
def test_no_answer_is_one_line_and_exit_2(arguments: list[str], message: str) -> None:
    out, err, code = run("compare-profile", *arguments)
    assert (out, code) == ("", 2)
    assert len(err.splitlines()) == 1
    assert message in err


def test_what_could_be_compared_is_shown_beside_what_could_not_be_read() -> None:
    out, err, code = compare("pmc_perf.csv", "broken/empty.s")
    assert code == 2
    assert "broken/empty.s" in err
    assert "predicted" in out


def test_the_samples_are_what_read_takes() -> None:
    for path in sorted((FIXTURES / "profile").iterdir()):
        assert read(path)


def test_a_launch_beyond_the_launch_bound_names_the_rule_and_the_bound(tmp_path: Path) -> None:
    assert one(size=256).remarks == ()
    assert one(size=512).remarks == (
        "KI001: a workgroup of 512 is refused: compiled for at most 256; another build ran",
    )
    trace = (FIXTURES / "profile" / "kernel_trace.csv").read_text()
    beyond = tmp_path / "beyond.csv"
    beyond.write_text(re.sub(r"(vgprbound.*,)256,1,1,", r"\g<1>512,1,1,", trace))
    out, _, code = run("compare-profile", str(beyond), OBJECT)
    assert code == 0
    rows = [line for line in out.splitlines() if line.startswith(" vgprbound(")]
    assert rows
    assert all(row.endswith(" 0 %     refused: compiled for at most 256") for row in rows), rows
    assert "compiled for at most 256; another build ran" in out
