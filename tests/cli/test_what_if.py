"""`--as`: the same kernel on another target, always called a what-if."""

from __future__ import annotations

import csv
import io
import json

import pytest

from kernelinfo import Kernel, LaunchError, arch, load
from kernelinfo.hardware import targets

from ..conftest import FIXTURES
from ..test_golden import run

GENERIC = "code_object/tiny-v6-clang22-gfx9-4-generic.co"
PADDED = "code_object/occupancy-clang22-gfx90a.co"


def test_text_tells_both_targets() -> None:
    out, _, code = run(PADDED, "--as", "gfx950")
    assert code == 0
    assert "gfx90a, what if on gfx950 (CDNA4)" in out.splitlines()[0]
    out, _, _ = run("explain", PADDED, "vgprbound", "--as", "gfx950")
    assert "gfx90a, what if on gfx950" in out.splitlines()[0]


def test_one_table_of_many_files_tells_both_targets_in_each_row() -> None:
    out, _, _ = run("container/libtwo.so", "--as", "gfx1100", "--group")
    rows = [line for line in out.splitlines() if "_claim(" in line and "SIMD" not in line]
    assert len([row for row in rows if "gfx90a as gfx1100" in row]) == 2
    assert len([row for row in rows if "gfx1030 as gfx1100" in row]) == 2


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_json_has_the_kernels_target_beside_its_inputs(format: str) -> None:
    out, _, _ = run(PADDED, "--as", "gfx950", "--format", format)
    if format == "json":
        document = json.loads(out)
        pairs = [
            (document["inputs"][k["input"]]["target"], k["target"]) for k in document["kernels"]
        ]
    else:
        lines = [json.loads(line) for line in out.splitlines()]
        pairs = [(line["Compiled_For"], line["Target"]) for line in lines]
    assert set(pairs) == {("gfx90a", "gfx950")}


def test_csv_has_a_column_for_each() -> None:
    out, _, _ = run(PADDED, "--as", "gfx950", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {(row["Compiled_For"], row["Target"]) for row in rows} == {("gfx90a", "gfx950")}


def test_padding_belongs_to_the_own_target() -> None:
    """clang 22 encodes 257 VGPRs for 64 KiB of LDS; 210 are used."""
    report = load(FIXTURES / PADDED)
    (padded,) = [k for k in report.kernels if k.name.startswith("ldsbound")]
    assert padded.traits.demand is not None
    assert padded.traits.demand.vgprs == 264
    elsewhere = padded.on(targets.find("gfx950"))
    assert elsewhere.traits.demand is not None
    assert elsewhere.traits.demand.vgprs == 210
    assert padded.on(targets.find("gfx90a")).traits.demand == padded.traits.demand


@pytest.mark.parametrize("member", ["gfx942", "gfx950"])
def test_code_for_a_generic_target_runs_on_a_member_as_it_is(member: str) -> None:
    for kernel in load(FIXTURES / GENERIC).kernels:
        bound = kernel.occupancy(workgroup_size=256)
        assert not bound.exact
        there = kernel.on(targets.find(member))
        assert there.traits.demand == kernel.traits.demand
        found = there.occupancy(workgroup_size=256)
        assert found.exact
        assert found.target == member
        assert found.percent <= bound.percent
        assert kernel.traits.demand is not None
        alone = arch(member).occupancy(workgroup_size=256, vgprs=kernel.traits.demand.vgprs or 0)
        assert found.waves_per_simd == alone.waves_per_simd


def test_a_members_waves_have_to_be_of_that_size() -> None:
    kernel = load(FIXTURES / "code_object" / "tiny-v6-clang22-gfx1030.co").kernels[0]
    with pytest.raises(LaunchError, match="no waves of 32 lanes"):
        kernel.on(targets.find("gfx942"))


def test_a_device_takes_its_row_of_a_generic_target() -> None:
    out, err, code = run("explain", GENERIC, "claim", "--device", "MI300X", "--grid", "1216")
    assert (err, code) == ("", 0)
    assert "MI300X: 304 CUs · 1 216 workgroups fill it" in out
    assert "1 216 workgroups: 1 full round, no tail" in out
    assert "at most" not in out


def test_a_grid_needs_a_device() -> None:
    _, err, code = run("explain", GENERIC, "claim", "--grid", "5")
    assert code == 2
    assert "--device" in err


def moved(name: str, kernel: str, target: str) -> Kernel:
    found = [k for k in load(FIXTURES / name).kernels if k.name.startswith(kernel)]
    return found[0].on(targets.find(target))


def test_a_split_register_file_counts_the_larger_of_both_kinds() -> None:
    """`agpr_and_vgpr` uses 46 AGPRs and twice the VGPRs, in one file on gfx90a, two on gfx908."""
    name = "code_object/variety-clang22-gfx90a.co"
    unified = moved(name, "agpr_and_vgpr", "gfx90a")
    assert unified.traits.demand is not None
    arch_vgprs, agprs = unified.traits.demand.arch_vgprs, unified.traits.demand.agprs
    assert (arch_vgprs, agprs) == (92, 46)
    there = moved(name, "agpr_and_vgpr", "gfx908")
    assert there.traits.demand is not None
    assert there.traits.demand.vgprs == there.used.vgprs == 92
    found = there.occupancy(workgroup_size=256)
    assert found.waves_per_simd == 2
    asked = arch("gfx908").occupancy(
        workgroup_size=256, vgprs=92, agprs=46, sgprs=there.traits.demand.sgprs or 0
    )
    assert found == asked._replace(placement=asked.placement._replace(demand=found.demand))


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950", "gfx9-4-generic"])
def test_a_unified_register_file_counts_the_sum_and_nothing_is_padded(target: str) -> None:
    there = moved("assembly/variety-clang19-gfx908.s", "agpr_heavy", target)
    assert there.traits.demand is not None
    assert there.traits.demand.agprs == 72
    assert there.traits.demand.vgprs == (there.traits.demand.accum_offset or 0) + 72
    out, _, code = run("assembly/variety-clang19-gfx908.s", "--as", target, "-k", "agpr*")
    assert code == 0
    assert "KI208" not in out
    assert "KI001" not in out


def test_a_count_of_both_kinds_together_does_not_tell_them_apart() -> None:
    """gfx908's metadata has the larger count: with more AGPRs that says nothing of the VGPRs."""
    there = moved("code_object/variety-clang19-gfx908.co", "agpr_heavy", "gfx90a")
    assert there.traits.demand is not None
    assert there.traits.demand.vgprs is None
    found = there.occupancy(workgroup_size=256)
    assert found.at_most_because == ("the input does not say: VGPRs",)


@pytest.mark.parametrize("target", ["gfx906", "gfx1100"])
def test_agprs_are_refused_where_there_are_none_as_by_calc(target: str) -> None:
    out, err, code = run(
        "assembly/variety-clang22-gfx90a.s", "--as", target, "--format", "csv", "--top", "0"
    )
    assert code == 2
    assert f"agpr_heavy(int*): {target} has no AGPRs, and the kernel uses 72" in err
    assert len(out.splitlines()) > 20, "the rest is answered"
    _, calc, code = run("calc", "--arch", target, "--vgpr", "4", "--agpr", "72")
    assert code == 2
    assert f"{target} has no AGPRs" in calc
