"""Curves: the same as asking point by point, and going only down where they should."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kernelinfo.hardware import targets
from kernelinfo.model.calculator import arch
from kernelinfo.model.curves import CurveVariable, best_sizes, curve, stretches
from kernelinfo.model.limits import Demand, Launch

from ..conftest import registers

DEVICES = [name for name in targets.known() if not targets.find(name).members]
KEYS: dict[CurveVariable, str] = {
    "vgpr": "vgprs",
    "sgpr": "sgprs",
    "lds": "lds_bytes",
    "workgroup-size": "workgroup_size",
}


def demand(name: str, **asks: Any) -> Demand:
    return arch(name).demand(**asks)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("variable", ["vgpr", "sgpr", "lds"])
def test_more_of_a_resource_never_gives_more_waves(name: str, variable: CurveVariable) -> None:
    points = curve(targets.find(name), demand(name), Launch(256), [variable])
    assert points
    for less, more in pairwise(points):
        assert less.at < more.at
        assert less.percent >= more.percent
    assert points[0].percent > 0


@pytest.mark.parametrize("name", ["gfx906", "gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1250"])
@pytest.mark.parametrize("variable", KEYS)
def test_each_point_is_what_the_target_answers(name: str, variable: CurveVariable) -> None:
    asks: dict[str, Any] = {"workgroup_size": 512, "vgprs": 40, "sgprs": 60, "lds_bytes": 3000}
    given = demand(name, vgprs=40, sgprs=60, lds_bytes=3000)
    for point in curve(targets.find(name), given, Launch(512), [variable]):
        found = arch(name).occupancy(**asks | {KEYS[variable]: point.at[0]})
        assert point.percent == found.percent
        assert point.waves_per_simd == found.waves_per_simd
        assert point.workgroups == found.workgroups
        assert point.limiters == found.limiters


@pytest.mark.parametrize("variable", KEYS)
def test_nothing_happens_between_two_points(variable: CurveVariable) -> None:
    """Every value in between is asked on its own."""
    points = curve(targets.find("gfx90a"), demand("gfx90a", vgprs=72), Launch(256), [variable])
    values = {point.at[0]: point.percent for point in points}
    step = 64 if variable == "lds" else 1
    for value in range(1, max(values) + 1, step):
        after = min(at for at in values if at >= value)
        asks: dict[str, Any] = {"workgroup_size": 256, "vgprs": 72} | {KEYS[variable]: value}
        asks |= registers("gfx90a", asks["vgprs"])
        assert arch("gfx90a").occupancy(**asks).percent == values[after], value


def test_the_steps_of_a_curve_are_the_published_ladder() -> None:
    """AMD lab notes, "Register pressure in AMD CDNA2 GPUs"."""
    points = curve(targets.find("gfx90a"), demand("gfx90a"), Launch(64), ["vgpr"])
    at = {point.at[0]: point.waves_per_simd for point in points}
    ladder = {last: at[last] for _, last in stretches(points)}
    assert ladder == {64: 8, 72: 7, 80: 6, 96: 5, 128: 4, 168: 3, 256: 2, 512: 1}


def test_stretches_cover_every_value_once() -> None:
    for variable in KEYS:
        points = curve(targets.find("gfx1030"), demand("gfx1030"), Launch(256), [variable])
        spans = stretches(points)
        assert spans[-1][1] == points[-1].at[0]
        assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))


def test_a_grid_holds_every_pair_and_its_edges_are_curves() -> None:
    target, given = targets.find("gfx942"), demand("gfx942")
    vgprs = curve(target, given, Launch(256), ["vgpr"])
    lds = curve(target, given, Launch(256), ["lds"])
    grid = {point.at: point for point in curve(target, given, Launch(256), ["vgpr", "lds"])}
    assert len(grid) == len(vgprs) * len(lds)
    for point in vgprs:
        assert grid[point.at[0], 0].percent == point.percent
    for point in lds:
        assert grid[vgprs[0].at[0], point.at[0]].percent == point.percent
    for (vgpr, size), point in grid.items():
        assert point.percent == min(grid[vgpr, 0].percent, grid[vgprs[0].at[0], size].percent)


def test_dynamic_lds_is_where_the_curve_of_lds_begins() -> None:
    launch = Launch(256, dynamic_lds_bytes=10_000)
    points = curve(targets.find("gfx90a"), demand("gfx90a"), launch, ["lds"])
    assert points[0].at == (10_000,)
    assert (
        points[0].percent == arch("gfx90a").occupancy(workgroup_size=256, lds_bytes=10_000).percent
    )


@pytest.mark.parametrize("vgprs", [0, 72, 122, 200, 512])
def test_the_best_sizes_are_those_that_no_size_beats(vgprs: int) -> None:
    target, given = targets.find("gfx90a"), demand("gfx90a", **registers("gfx90a", vgprs))
    best = best_sizes(target, given, Launch(256))
    percents = {
        size: arch("gfx90a").occupancy(workgroup_size=size, **registers("gfx90a", vgprs)).percent
        for size in range(64, 1025, 64)
    }
    most = max(percents.values())
    assert [point.at[0] for point in best] == [s for s, p in percents.items() if p == most]


def test_of_a_range_only_its_own_sizes_are_best() -> None:
    target, given = targets.find("gfx90a"), demand("gfx90a")
    best = best_sizes(target, given, Launch(960, smallest_size=300))
    assert [point.at[0] for point in best] == [512]


def test_no_size_is_best_where_none_can_start() -> None:
    target, given = targets.find("gfx90a"), demand("gfx90a", lds_bytes=65537)
    assert best_sizes(target, given, Launch(256)) == ()


def test_a_generic_target_takes_its_best_member() -> None:
    points = curve(targets.find("gfx9-4-generic"), demand("gfx9-4-generic"), Launch(256), ["lds"])
    assert points[-1].at == (160 * 1024,)
    assert points[-1].percent == 12.5
