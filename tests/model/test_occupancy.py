"""Promises of an occupancy: steps that lead up, headroom that costs nothing, honest bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelinfo import Demand, Launch, LaunchError, Occupancy, arch, load
from kernelinfo.model import occupancy

from ..conftest import FIXTURES, registers
from ..messages import refused
from ..targets import DEVICES, KNOWN
from ..test_golden import run

devices = st.sampled_from(DEVICES)


@st.composite
def asks(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(devices)
    target = KNOWN[name]
    file = draw(st.sampled_from(target.vgprs))
    return name, {
        "workgroup_size": draw(st.integers(1, target.waves.max_workgroup_size)),
        "wave_size": file.wave_size,
        "vgprs": draw(st.integers(0, min(file.addressable, 256))),
        "sgprs": draw(st.integers(0, target.sgprs.allocatable)),
        "lds_bytes": draw(st.integers(0, target.lds.bytes_per_workgroup)),
    }


def resident(name: str, ask: dict[str, Any]) -> Occupancy:
    return arch(name).occupancy(**ask)


KEYS = {"vgpr": "vgprs", "sgpr": "sgprs", "lds": "lds_bytes"}


@given(asks())
def test_the_next_step_leads_up_and_one_less_does_not(case: tuple[str, dict[str, Any]]) -> None:
    name, ask = case
    now = resident(name, ask)
    if not now.next:
        return
    lowered = {KEYS[step.resource]: step.at_most for step in now.next}
    after = resident(name, ask | lowered)
    assert after.launchable
    assert after.waves_per_simd == now.next[0].waves_per_simd > now.waves_per_simd
    for step in now.next:
        missed = resident(name, ask | lowered | {KEYS[step.resource]: step.at_most + 1})
        assert missed.waves_per_simd < after.waves_per_simd


def more(name: str, key: str, count: int) -> dict[str, Any]:
    """So many of one resource; of VGPRs those that code cannot name are AGPRs."""
    return registers(name, count) if key == "vgprs" else {key: count}


@given(asks())
def test_headroom_costs_nothing_and_one_more_does(case: tuple[str, dict[str, Any]]) -> None:
    name, ask = case
    now = resident(name, ask)
    if not now.launchable:
        return
    target = KNOWN[name]
    most = {
        "vgprs": target.vgpr_file(ask["wave_size"]).addressable,
        "sgprs": target.sgprs.allocatable,
        "lds_bytes": target.lds.bytes_per_workgroup,
    }
    for key in most:
        free = getattr(now.headroom, key)
        if free is None:
            continue
        assert free >= 0
        assert resident(name, ask | more(name, key, ask[key] + free)).waves == now.waves
        if ask[key] + free < most[key]:
            assert resident(name, ask | more(name, key, ask[key] + free + 1)).waves < now.waves


@given(asks())
def test_waves_come_in_whole_workgroups_and_fit_the_slots(
    case: tuple[str, dict[str, Any]],
) -> None:
    name, ask = case
    now = resident(name, ask)
    assert 0 <= now.waves <= now.wave_slots
    assert now.waves == now.workgroups * -(-ask["workgroup_size"] // ask["wave_size"])
    assert now.percent == pytest.approx(100 * now.waves / now.wave_slots)
    assert now.limiters
    assert all(
        limit.workgroups is None or limit.workgroups >= now.workgroups for limit in now.limits
    )


@given(asks())
def test_asking_less_never_lowers_the_occupancy(case: tuple[str, dict[str, Any]]) -> None:
    name, ask = case
    now = resident(name, ask)
    for key in KEYS.values():
        assert resident(name, ask | {key: ask[key] // 2}).waves >= now.waves


def test_a_kernel_at_the_maximum_has_no_next_step() -> None:
    assert arch("gfx90a").occupancy(workgroup_size=256, vgprs=64, sgprs=80).next == ()


def test_a_tie_needs_every_binding_resource_to_step() -> None:
    found = arch("gfx90a").occupancy(workgroup_size=256, vgprs=128, lds_bytes=16384)
    assert found.limiters == ("vgpr", "lds")
    assert [(step.resource, step.at_most) for step in found.next] == [("vgpr", 96), ("lds", 12800)]
    assert found.next[0].percent == 62.5


def test_lds_bound_kernels_have_registers_to_spare() -> None:
    found = arch("gfx90a").occupancy(workgroup_size=256, vgprs=96, lds_bytes=65536)
    assert found.headroom.vgprs == 512 - 96


def test_the_range_over_launch_sizes_names_the_worst() -> None:
    demand = Demand(64, 8, 16, 0, 0)
    span = occupancy(KNOWN["gfx90a"], demand, Launch(1024, "declared-max")).range
    assert span is not None
    assert (span.min_percent, span.max_percent) == (68.75, 100)
    assert (span.worst_workgroup_size, span.best_workgroup_size) == (704, 1024)


def test_no_range_where_the_size_is_known() -> None:
    demand = Demand(64, 8, 16, 0, 0)
    assert occupancy(KNOWN["gfx90a"], demand, Launch(1024, "required")).range is None


def test_unknown_demands_make_an_upper_bound() -> None:
    found = occupancy(KNOWN["gfx90a"], Demand(64, None, 16, 0, 0), Launch(256))
    assert not found.exact
    assert "VGPRs" in found.at_most_because[0]
    assert found.allocated.vgprs is None
    assert found.percent == 100


def test_split_workgroups_need_not_be_whole() -> None:
    """AMDGPUUsage, TG_SPLIT: the waves of a workgroup may go to several CUs."""
    split = Demand(64, 72, 16, 0, 0, tg_split=True)
    whole = Demand(64, 72, 16, 0, 0)
    target = KNOWN["gfx90a"]
    assert occupancy(target, split, Launch(512)).waves_per_simd == 7
    assert occupancy(target, whole, Launch(512)).waves_per_simd == 6


def test_dynamic_lds_counts_like_static() -> None:
    demand = Demand(64, 8, 16, 4096, 0)
    found = occupancy(KNOWN["gfx90a"], demand, Launch(256, dynamic_lds_bytes=28672))
    assert found.allocated.lds_bytes == 32768
    assert found.percent == 25


@pytest.mark.parametrize(
    ("static", "dynamic", "next_lds"),
    [(40000, 0, 32768), (20000, 20000, 32768), (7232, 32768, 32768), (7231, 32769, None)],
    ids=["static", "both", "all static LDS has to go", "dynamic LDS alone is too much"],
)
def test_only_static_lds_can_be_used_less(static: int, dynamic: int, next_lds: int | None) -> None:
    """gfx90a has 65536 bytes per CU: two workgroups may have 32768 each."""
    demand = Demand(64, 8, 16, static, 0)
    found = occupancy(KNOWN["gfx90a"], demand, Launch(256, dynamic_lds_bytes=dynamic))
    assert found.workgroups == 1
    assert [step.at_most for step in found.next] == ([] if next_lds is None else [next_lds])


def test_the_step_table_is_of_whole_workgroups() -> None:
    """gfx90a: 4 SIMDs of 8 slots and 512 VGPRs, 64 KiB of LDS; 1024 workitems are 16 waves."""
    rungs = arch("gfx90a").limits(workgroup_size=1024)
    assert [(r.waves_per_simd, r.percent, r.vgprs, r.lds_bytes) for r in rungs] == [
        (8, 100, 64, 32768),
        (4, 50, 128, 65536),
    ]


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("gfx90a", "launch-blocks blocks-none 8"),
        ("gfx1201", "launch-blocks blocks-known 8 … 16 and 32"),
    ],
)
def test_blocks_of_dynamic_vgprs_that_a_target_has_not(name: str, blocks: str) -> None:
    with refused(blocks, LaunchError):
        arch(name).limits(dynamic_vgpr_block=8)


def test_the_steps_of_a_kernel_are_those_of_its_size_and_mode() -> None:
    """1024 workitems are 16 waves of gfx90a; of gfx1100 32, all that the two SIMDs of a CU hold."""
    for words, steps in {
        ("--arch", "gfx90a"): "64:8 ◄  128:4",
        ("--arch", "gfx1100", "--wave", "32"): "96:16 ◄  192:8",
        ("--arch", "gfx1100", "--wave", "32", "--cu-mode"): "96:16 ◄",
    }.items():
        out, _, _ = run("calc", *words, "--vgpr", "8", "--block", "1024")
        assert f"{steps}" in out, out


@pytest.mark.parametrize(("block", "most"), [(16, 128), (32, 256)])
def test_a_wave_takes_at_most_eight_dynamic_blocks(block: int, most: int) -> None:
    """RDNA4 ISA, dynamic VGPRs."""
    rungs = arch("gfx1201").limits(workgroup_size=32, dynamic_vgpr_block=block)
    assert max(rung.vgprs for rung in rungs) == most


def test_each_limit_counts_whole_workgroups_a_simd() -> None:
    """gfx90a: 72 VGPRs leave 7 waves a SIMD, 28 a CU: 3 workgroups of 8 waves."""
    found = arch("gfx90a").occupancy(workgroup_size=512, vgprs=72, lds_bytes=30000)
    limits = {limit.resource: limit for limit in found.limits}
    counts = [(limits[name].waves, limits[name].workgroups) for name in ("vgpr", "lds")]
    assert counts == [(28, 3), (16, 2)]
    assert [limits[name].waves_per_simd for name in ("vgpr", "lds")] == [6, 4]


def test_lds_bounds_the_range_over_launch_sizes() -> None:
    """32 KiB let in two workgroups: of one wave 2 of 32 slots, of 16 all."""
    demand = Demand(64, 8, 16, 32768, 0)
    span = occupancy(KNOWN["gfx90a"], demand, Launch(1024, "declared-max")).range
    assert span is not None
    assert (span.min_percent, span.max_percent) == (6.25, 100)
    assert (span.worst_workgroup_size, span.best_workgroup_size) == (64, 1024)


def test_a_target_that_is_not_fully_known_gives_a_bound() -> None:
    found = arch("gfx803").occupancy(workgroup_size=256)
    assert found.at_most_because == ("Fiji has 10 wave slots per SIMD, Polaris 8 (Mesa)",)
    assert not found.exact


def test_a_kernel_asks_for_nothing_by_default() -> None:
    demand = arch("gfx90a").demand()
    used = (demand.vgprs, demand.sgprs, demand.lds_bytes, demand.scratch_bytes_per_lane)
    assert (demand.wave_size, *used, demand.agprs) == (64, 0, 0, 0, 0, 0)


def test_the_chips_with_the_sgpr_bug_give_every_wave_96() -> None:
    found = arch("gfx802").occupancy(workgroup_size=64, sgprs=10)
    assert found.allocated.sgprs == 96
    assert found.waves_per_simd == 7
    assert (found.next, found.headroom.sgprs) == ((), None)


def test_scratch_limits_alone_where_it_is_for_fewer_waves_than_there_are_slots() -> None:
    """The driver gives 32 waves per CU scratch: gfx906 has 40 wave slots, gfx90a as many."""
    asks: dict[str, Any] = {"workgroup_size": 64, "scratch_bytes_per_lane": 64}
    assert arch("gfx906").occupancy(**asks).limiters == ("scratch",)
    assert arch("gfx906").occupancy(**asks).percent == 80
    assert arch("gfx90a").occupancy(**asks).limiters == ("slots", "scratch")
    assert arch("gfx90a").occupancy(**asks).percent == 100
    assert arch("gfx1030").occupancy(**asks, vgprs=96).limiters == ("vgpr",)


def test_much_scratch_is_limited_by_the_aperture() -> None:
    """MI250, 104 CUs in 4 GiB: 32 waves up to about 19 KiB a lane, 9 waves with 64 KiB."""
    mi250 = arch("gfx90a")
    assert mi250.occupancy(workgroup_size=64, scratch_bytes_per_lane=19 * 1024).waves == 32
    found = mi250.occupancy(workgroup_size=64, scratch_bytes_per_lane=64 * 1024)
    assert found.waves == 9
    assert not found.exact
    (step,) = found.next
    for scratch, waves in ((step.at_most, 10), (step.at_most + 1, 9)):
        found = mi250.occupancy(workgroup_size=64, scratch_bytes_per_lane=scratch)
        assert found.waves == waves


def test_a_generic_target_is_bounded_by_its_best_member() -> None:
    found = arch("gfx11-generic").occupancy(workgroup_size=256, vgprs=97)
    assert found.target == "gfx11-generic"
    assert (
        found.waves_per_simd
        == arch("gfx1100").occupancy(workgroup_size=256, vgprs=97).waves_per_simd
    )
    assert not found.exact


def test_agprs_share_the_file_on_gfx90a_and_have_their_own_on_gfx908() -> None:
    asks: dict[str, Any] = {"workgroup_size": 64, "vgprs": 130, "agprs": 100}
    assert arch("gfx90a").occupancy(**asks).allocated.vgprs == 232
    assert arch("gfx908").occupancy(**asks).allocated.vgprs == 132


@pytest.mark.parametrize(
    ("target", "asks"),
    [
        ("gfx90a", {"wave_size": 32}),
        ("gfx90a", {"wgp_mode": False}),
        ("gfx1030", {"agprs": 4}),
        ("gfx90a", {"vgprs": -1}),
        ("gfx90a", {"workgroup_size": 0}),
    ],
    ids=["wave32 on CDNA", "CU mode on CDNA", "AGPRs on RDNA", "negative", "no workitems"],
)
def test_what_the_target_does_not_have_is_refused(target: str, asks: dict[str, Any]) -> None:
    with pytest.raises(LaunchError):
        arch(target).occupancy(**{"workgroup_size": 64, **asks})


def test_a_wave_has_the_only_size_there_is(tmp_path: Path) -> None:
    """gfx90a and gfx1250 have one wave size; gfx1030 has two."""
    yaml = "amdhsa.kernels:\n  - .name: k\n    .vgpr_count: 12\n...\n"
    for target, size in (("gfx90a", 64), ("gfx1250", 32), ("gfx1030", None)):
        head = f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n'
        path = tmp_path / "k.s"
        path.write_text(f"{head}.amdgpu_metadata\n---\n{yaml}.end_amdgpu_metadata\n")
        assert [kernel.wave_size for kernel in load(path).kernels] == [size]


def test_dynamic_lds_of_a_kernel_is_not_negative() -> None:
    kernel = load(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s").kernels[0]
    assert kernel.occupancy(workgroup_size=256, dynamic_lds=0).launchable
    with refused("launch-empty -1", LaunchError):
        kernel.occupancy(workgroup_size=256, dynamic_lds=-1)


class Byte:
    """An integer that wraps at 256, as NumPy's small ones do."""

    def __init__(self, value: int) -> None:
        self._value = value % 256

    def __index__(self) -> int:
        return self._value

    def __add__(self, other: Byte) -> Byte:
        return Byte(self._value + other._value)


def test_small_integers_of_other_libraries_do_not_wrap() -> None:
    counts: Any = {"vgprs": Byte(200), "agprs": Byte(100), "workgroup_size": Byte(64)}
    found = arch("gfx942").occupancy(**counts)
    assert found == arch("gfx942").occupancy(vgprs=200, agprs=100, workgroup_size=64)


@pytest.mark.parametrize("name", ["vgprs", "lds_bytes", "workgroup_size"])
@pytest.mark.parametrize("count", [1.5, 128.0, float("nan"), "128", None])
def test_a_count_that_is_no_whole_number_is_refused(name: str, count: Any) -> None:
    counts: Any = {"workgroup_size": 64, name: count}
    with pytest.raises(LaunchError, match="cannot be interpreted as an integer"):
        arch("gfx942").occupancy(**counts)
