"""`calc` and `limits`: what llvm-calc-occupancy offers, and what it does not."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from ..test_golden import run


def calc(*arguments: str) -> dict[str, Any]:
    out, err, code = run("calc", *arguments, "--format", "json")
    assert (err, code) == ("", 0)
    return dict(json.loads(out))


# llvm/test/tools/llvm-calc-occupancy/basic.test and docs/CommandGuide/llvm-calc-occupancy.rst:
# arguments in our spelling, waves per SIMD, what limits, and what the next step takes. On gfx1030
# LLVM would go to 9 waves; whole workgroups of 8 waves on 4 SIMDs go to 10.
LLVM: list[tuple[str, float, list[str], dict[str, int]]] = [
    ("--arch gfx1030 --vgpr 128", 8, ["vgpr"], {"vgpr": 96}),
    ("--arch gfx950 --vgpr 250 --workgroup-size 64", 2, ["vgpr"], {"vgpr": 168}),
    ("--arch gfx90a --vgpr 80 --sgpr 102", 6, ["vgpr", "sgpr"], {"vgpr": 72, "sgpr": 96}),
    ("--arch gfx90a --workgroup-size 256 --lds 40k", 1, ["lds"], {"lds": 32768}),
    ("--arch gfx90a --vgpr 40 --sgpr 20 --workgroup-size 64", 8, ["slots"], {}),
    ("--arch gfx90a --workgroup-size 512 --vgpr 50 --sgpr 30", 8, ["slots"], {}),
]


@pytest.mark.parametrize(("arguments", "waves", "limiters", "steps"), LLVM)
def test_the_documented_values_of_llvm_calc_occupancy(
    arguments: str, waves: float, limiters: list[str], steps: dict[str, int]
) -> None:
    found = calc(*arguments.split())
    assert found["waves_per_simd"] == waves
    assert set(limiters) <= set(found["limiters"])
    assert {step["resource"]: step["at_most"] for step in found["next"]} == steps


def test_one_documented_value_is_a_whole_workgroup_apart() -> None:
    """LLVM says that 1 to 1024 workitems reach 8 waves. Some do; 704 reach 5.5."""
    span = calc("--arch", "gfx90a", "--workgroup-size", "1..1024")["range"]
    assert (span["max_percent"], span["min_percent"]) == (100, 68.75)
    assert span["worst_workgroup_size"] == 704


def test_more_lds_than_there_is_is_no_wave_at_all() -> None:
    """LLVM warns and prints 1; the hardware starts none."""
    found = calc("--arch", "gfx90a", "--lds", "103kb")
    assert (found["waves_per_simd"], found["launchable"]) == (0, False)
    assert "105472" in found["obstacles"][0]


def test_the_table_of_limits_counts_what_a_wave_is_given() -> None:
    """LLVM's prints 102 SGPRs for 1 wave: those that code can name; VCC and others make it 112."""
    out, _, _ = run("limits", "--arch", "gfx90a", "--workgroup-size", "64", "--format", "json")
    rungs = {rung["waves_per_simd"]: rung for rung in json.loads(out)["steps"]}
    assert (rungs[8]["vgprs"], rungs[8]["sgprs"]) == (64, 80)
    assert (rungs[1]["vgprs"], rungs[1]["sgprs"]) == (512, 112)


@pytest.mark.parametrize("size", ["64..1024", "64:1024", "64-1024", " 64..1024"])
def test_a_range_of_sizes_is_spelled_as_llvm_does_or_with_dots(size: str) -> None:
    found = calc("--arch", "gfx90a", "--vgpr", "122", "--workgroup-size", size)
    assert found["range"] == {
        "min_percent": 28.125,
        "max_percent": 50.0,
        "worst_workgroup_size": 576,
        "best_workgroup_size": 1024,
    }


def test_a_range_is_the_range_of_its_sizes() -> None:
    percents = {
        size: calc("--arch", "gfx1030", "--cu-mode", "--block", str(size))["percent"]
        for size in range(96, 641, 32)
    }
    span = calc("--arch", "gfx1030", "--cu-mode", "--block", "65..640")["range"]
    assert span["min_percent"] == min(percents.values())
    assert span["max_percent"] == max(percents.values())


def test_one_size_has_no_range() -> None:
    assert calc("--arch", "gfx90a", "--block", "16x16")["range"] is None
    assert calc("--arch", "gfx90a", "--block", "256..256")["range"] is None


@pytest.mark.parametrize("block", [16, 32])
def test_dynamic_vgprs_come_in_blocks_and_say_how_many_waves_start(block: int) -> None:
    """clang 22 counts gfx1200 with 100 VGPRs as 13 and 12 waves; whole workgroups make it 12."""
    asks = ["--arch", "gfx1200", "--vgpr", "100", "--dynamic-vgpr-block", str(block)]
    single = calc(*asks, "--block", "32")
    assert single["waves_per_simd"] == {16: 13, 32: 12}[block]
    assert not single["exact"]
    assert "start" in single["at_most_because"][0]
    assert calc(*asks)["waves_per_simd"] == 12


def test_dynamic_vgprs_are_at_most_eight_blocks() -> None:
    assert not calc("--arch", "gfx1200", "--vgpr", "129", "--dynamic-vgpr-block", "16")[
        "launchable"
    ]
    out, _, _ = run("limits", "--arch", "gfx1200", "--dynamic-vgpr-block", "16", "--format", "json")
    assert max(rung["vgprs"] for rung in json.loads(out)["steps"]) == 128


def test_dynamic_lds_adds_to_static() -> None:
    found = calc("--arch", "gfx90a", "--lds", "16k", "--dynamic-lds", "16KiB")
    assert (
        found["waves_per_simd"] == calc("--arch", "gfx90a", "--lds", "32k")["waves_per_simd"] == 2
    )


def test_a_device_is_filled() -> None:
    found = calc("--device", "mi300x", "--vgpr", "122", "--grid", "3000")
    assert found["target"] == "gfx942"
    assert found["device"]["workgroups"] == 1216
    assert found["device"]["grid"]["full_rounds"] == 2
    out, _, _ = run("calc", "--device", "MI300X", "--vgpr", "122", "--grid", "3000")
    assert "MI300X: 304 CUs · 1 216 workgroups fill it · 4864 of 9728 waves" in out
    assert "2 full rounds and a tail of 568 (46.7 % of one)" in out


def test_a_curve_is_data_in_every_format() -> None:
    asks = ("calc", "--arch", "gfx90a", "--vary", "vgpr")
    points = json.loads(run(*asks, "--format", "json")[0])["points"]
    assert len(points) == 64
    assert points[0]["vgprs"] == 8
    lines = run(*asks, "--format", "jsonl")[0].splitlines()
    assert [json.loads(line) for line in lines] == points
    rows = list(csv.DictReader(io.StringIO(run(*asks, "--format", "csv")[0])))
    assert [row["percent"] for row in rows] == [str(point["percent"]) for point in points]


def test_text_tells_the_steps_of_a_curve_alone() -> None:
    out, _, code = run("calc", "--arch", "gfx90a", "--vary", "vgpr")
    assert code == 0
    table = out.split("\n\n")[1]
    assert [line.split()[1] for line in table.splitlines()[1:]] == [
        "64", "72", "80", "96", "128", "168", "256", "512",
    ]  # fmt: skip


def heights(out: str) -> list[int]:
    """Height of each column of the drawn curve."""
    rows = [line.partition("|")[2].ljust(64) for line in out.splitlines() if "|" in line]
    return [sum(row[column] == "■" for row in rows) for column in range(64)]


def test_a_curve_is_drawn_as_high_as_the_waves_are() -> None:
    """512 VGPRs on 64 columns: one for each granule."""
    out, _, _ = run("calc", "--arch", "gfx90a", "--vary", "vgpr")
    drawn = heights(out)
    for column in (0, 7, 8, 15, 16, 20, 21, 31, 32, 63):
        total = 8 * (column + 1)  # of which a wave names 256 as VGPRs, the rest as AGPRs
        registers = ("--vgpr", str(min(total, 256)), "--agpr", str(max(total - 256, 0)))
        found = calc("--arch", "gfx90a", *registers)
        assert drawn[column] == found["waves_per_simd"], column
    assert heights(run("limits", "--arch", "gfx90a")[0]) == drawn
    assert all(len(line) <= 80 for line in out.splitlines())


def test_a_part_of_a_wave_is_a_dot() -> None:
    out, _, _ = run("calc", "--arch", "gfx90a", "--vary", "workgroup-size")
    top = next(line for line in out.splitlines() if line.startswith("    8 |"))
    assert top[7 + 703 // 16] == " ", "704 workitems give 5.5 waves"
    assert top[7 + 190 // 16] == "·", "192 workitems give 7.5 waves"
    assert top[7 + 255 // 16] == "■"


def test_a_grid_that_is_too_wide_stands_in_parts() -> None:
    """With one empty line between two parts, and before the first."""
    out, _, _ = run("calc", "--arch", "gfx90a", "--vary", "vgpr,lds", "--width", "60")
    title, *parts = out.split("\n\n")
    assert title == "gfx90a (CDNA2), workgroups of 256"
    assert [part.splitlines()[0].split()[0] for part in parts] == ["VGPRs"] * 2
    assert all(part[0] == " " for part in parts)
    assert parts[0].count("\n") + 1 == parts[1].rstrip().count("\n") + 1 == 9


def test_a_grid_of_two_variables() -> None:
    asks = ("calc", "--arch", "gfx90a", "--vary", "lds,workgroup-size")
    out, _, _ = run(*asks)
    heading, first, *_ = out.splitlines()[2:]
    assert heading.split()[:4] == ["LDS/workgroup", "1–64", "65–128", "129–192"]
    assert first.split()[:2] == ["≤", "2"]
    assert all(len(line) <= 100 for line in out.splitlines())
    narrow, _, _ = run(*asks, "--width", "60")
    assert all(len(line) <= 60 for line in narrow.splitlines())
    assert sorted(narrow.split()) != sorted(out.split()), "the first column stands in each part"
    assert set(narrow.split()) == set(out.split())
    points = json.loads(run(*asks, "--format", "json")[0])["points"]
    assert {"lds_bytes", "workgroup_size"} <= points[0].keys()


def test_the_best_sizes() -> None:
    out, _, _ = run("calc", "--arch", "gfx90a", "--vgpr", "72", "--best", "--format", "jsonl")
    sizes = [json.loads(line)["workgroup_size"] for line in out.splitlines()]
    assert sizes == [64, 128, 256, 448, 896]
    out, _, _ = run("calc", "--arch", "gfx90a", "--vgpr", "72", "--best")
    assert [line.split()[0] for line in out.splitlines()[3:]] == [str(size) for size in sizes]


def test_what_a_compiler_would_print_and_hip_return() -> None:
    """64 KiB of LDS: clang 15 counted per CU, 22 pads registers up to what LDS allows anyway."""
    asks = ["--arch", "gfx90a", "--vgpr", "1", "--lds", "64k", "--as-llvm"]
    assert calc(*asks, "15")["llvm"]["waves_per_simd"] == 4
    assert calc(*asks, "22")["llvm"] == {
        "version": 22, "waves_per_simd": 1, "vgprs": 257, "sgprs": 102,
        "vgpr_blocks": 32, "sgpr_blocks": 12,
    }  # fmt: skip
    asks = ["--arch", "gfx942", "--sgpr", "92", "--block", "64", "--as-hip"]
    assert calc(*asks, "before")["hip"]["max_active_blocks"] == 32
    assert calc(*asks, "after")["hip"]["max_active_blocks"] == 28
    out, _, _ = run("calc", *asks, "before")
    assert "returns 32 before its fixes of 2026" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "give --arch or --device"),
        ("--device MI300Q", "did you mean MI300"),
        ("--arch gfx90a --device MI300X", "MI300X is gfx942"),
        ("--arch gfx90a --grid 5", "name one by --device"),
        ("--arch gfx1100 --dynamic-vgpr-block 16", "no dynamic VGPR blocks of 16, none at all"),
        ("--arch gfx1200 --wave 64 --dynamic-vgpr-block 16", "in wave64"),
        ("--arch gfx1200 --dynamic-vgpr-block 24", "only of 16 and 32"),
        ("--arch gfx90a --vary vgprs", "give one or two of vgpr, sgpr, lds, workgroup-size"),
        ("--arch gfx90a --vary vgpr,lds,sgpr", "give one or two"),
        ("--arch gfx90a --vary lds,lds", "give one or two"),
        ("--arch gfx90a --vary vgpr --agpr 4", "leave --vgpr out"),
        ("--arch gfx90a --vary workgroup-size --block 64", "leave --workgroup-size out"),
        ("--arch gfx90a --vary vgpr --block 64..128", "give no range"),
        ("--arch gfx90a --best --vary vgpr", "leave --vary out"),
        ("--arch gfx90a --best --lds 65k", "no workgroup size can start"),
        ("--arch gfx90a --best --as-llvm 22", "exclude --grid"),
        ("--arch gfx90a --block 1024..64", "write 64..1024"),
        ("--arch gfx90a --block 0..64", "at least one workitem"),
        ("--arch gfx90a --block 64..", "is not a workgroup size"),
        ("--arch gfx90a --as-llvm 9", "13"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_one_clear_line(arguments: str, message: str) -> None:
    out, err, code = run("calc", *arguments.split())
    assert (out, code) == ("", 2)
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "next_step"),
    [
        ("--arch gfx942 --vgpr 600", "≤ 256 VGPRs (uses 600, −344) → 2 waves/SIMD, 25 %"),
        ("--arch gfx942 --vgpr 512", "≤ 256 VGPRs (uses 512, −256) → 2 waves/SIMD, 25 %"),
        ("--arch gfx942 --vgpr 100 --agpr 500", "≤ 356 VGPRs (uses 600, −244) → 1 wave/SIMD"),
        ("--arch gfx1100 --vgpr 300", "≤ 256 VGPRs (uses 300, −44) → 4 waves/SIMD, 25 %"),
        ("--arch gfx908 --vgpr 300", "≤ 256 VGPRs (uses 300, −44) → 1 wave/SIMD, 10 %"),
        ("--arch gfx942 --vgpr 300 --sgpr 300", "≤ 256 VGPRs (uses 300, −44) and ≤ 112 SGPRs"),
        ("--arch gfx942 --vgpr 300 --lds 64k --block 1024", "≤ 128 VGPRs (uses 300, −172) →"),
    ],
)
def test_the_next_step_of_what_cannot_launch_can(arguments: str, next_step: str) -> None:
    out, _, code = run("calc", *arguments.split())
    assert code == 0
    assert "cannot   launch" in out
    assert f"next     {next_step}" in out
    assert "free" not in out.split("next")[0]
    words, options = arguments.split(), {"vgpr": "--vgpr", "sgpr": "--sgpr", "lds": "--lds"}
    before = json.loads(run("calc", *words, "--format", "json")[0])
    agprs = int(words[words.index("--agpr") + 1]) if "--agpr" in words else 0
    lowered = {step["resource"]: step["at_most"] for step in before["next"]}
    if agprs:
        words += ["--agpr", "256"]
        lowered["vgpr"] -= 256
    for resource, most in lowered.items():
        words += [options[resource], str(most)]
    after = json.loads(run("calc", *words, "--format", "json")[0])
    assert after["launchable"]
    assert after["waves_per_simd"] == before["next"][0]["waves_per_simd"]


@pytest.mark.parametrize(
    "others", [("--vary", "vgpr"), ("--best",), ("--as-llvm", "22"), ("--as-hip", "after")]
)
def test_the_page_of_given_numbers_is_of_one_launch(others: tuple[str, ...]) -> None:
    out, err, code = run("calc", "gfx942", "--format", "html", *others)
    assert (out, code) == ("", 2)
    assert "--format html draws all curves of one launch; leave --vary" in " ".join(err.split())
