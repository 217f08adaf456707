"""Curves of `calc --vary`: the same as asking point by point, and only down where they should."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from kernelinfo import arch

from ..conftest import registers
from ..targets import DEVICES
from ..test_golden import run

KEYS = {"vgpr": "vgprs", "sgpr": "sgprs", "lds": "lds_bytes", "workgroup-size": "workgroup_size"}


def curve(name: str, varied: str, *words: str, block: str = "256") -> list[dict[str, Any]]:
    """Points of a curve."""
    size = () if varied == "workgroup-size" else ("--block", block)
    options = ("--arch", name, "--vary", varied, *size, *words, "--format", "json")
    out, err, code = run("calc", *options)
    assert (err, code) == ("", 0)
    points: list[dict[str, Any]] = json.loads(out)["points"]
    return points


def test_more_of_a_resource_never_gives_more_waves() -> None:
    for name in DEVICES:
        for variable in ("vgpr", "sgpr", "lds"):
            points = curve(name, variable)
            for less, more in pairwise(points):
                assert less[KEYS[variable]] < more[KEYS[variable]], (name, variable)
                assert less["percent"] >= more["percent"], (name, variable)
            assert points[0]["percent"] > 0


def test_each_point_is_what_the_target_answers() -> None:
    given = ("--vgpr", "40", "--sgpr", "60", "--lds", "3000")
    for name in ("gfx906", "gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1250"):
        for variable, key in KEYS.items():
            option, words = f"--{variable}", [*given]
            if option in words:
                del words[words.index(option) : words.index(option) + 2]
            for point in curve(name, variable, *words, block="512"):
                asks: dict[str, Any] = {"vgprs": 40, "sgprs": 60, "lds_bytes": 3000}
                asks |= {"workgroup_size": 512, key: point[key]}
                found = arch(name).occupancy(**asks)
                ours = (found.percent, found.waves_per_simd, found.workgroups, [*found.limiters])
                names = ("percent", "waves_per_simd", "workgroups", "limiters")
                assert tuple(point[one] for one in names) == ours, (name, point)


def test_nothing_happens_between_two_points() -> None:
    """Every value in between is asked on its own."""
    for variable, key in KEYS.items():
        given = () if variable == "vgpr" else ("--vgpr", "72")
        values = {one[key]: one["percent"] for one in curve("gfx90a", variable, *given)}
        step = 64 if variable == "lds" else 1
        for value in range(1, max(values) + 1, step):
            after = min(at for at in values if at >= value)
            asks: dict[str, Any] = {"workgroup_size": 256, "vgprs": 72} | {key: value}
            asks |= registers("gfx90a", asks["vgprs"])
            assert arch("gfx90a").occupancy(**asks).percent == values[after], (variable, value)


def test_the_steps_of_a_curve_are_the_published_ladder() -> None:
    """AMD lab notes, "Register pressure in AMD CDNA2 GPUs"."""
    points = curve("gfx90a", "vgpr", block="64")
    ladder = {point["waves_per_simd"]: point["vgprs"] for point in points}
    assert ladder == {8: 64, 7: 72, 6: 80, 5: 96, 4: 128, 3: 168, 2: 256, 1: 512}


def test_a_grid_holds_every_pair_and_its_edges_are_curves() -> None:
    vgprs, lds = curve("gfx942", "vgpr"), curve("gfx942", "lds")
    pairs = curve("gfx942", "vgpr,lds")
    grid = {(one["vgprs"], one["lds_bytes"]): one["percent"] for one in pairs}
    assert len(pairs) == len(grid) == len(vgprs) * len(lds)
    first = vgprs[0]["vgprs"]
    assert all(grid[one["vgprs"], 0] == one["percent"] for one in vgprs)
    assert all(grid[first, one["lds_bytes"]] == one["percent"] for one in lds)
    for (vgpr, size), percent in grid.items():
        assert percent == min(grid[vgpr, 0], grid[first, size])


def test_dynamic_lds_is_where_the_curve_of_lds_begins() -> None:
    point, *_ = curve("gfx90a", "lds", "--dynamic-lds", "10000")
    asked = arch("gfx90a").occupancy(workgroup_size=256, lds_bytes=10_000)
    assert (point["lds_bytes"], point["percent"]) == (10_000, asked.percent)


def best(*words: str) -> list[int]:
    """Workgroup sizes of `calc --best`."""
    out, _, code = run("calc", "--arch", "gfx90a", "--best", *words, "--format", "json")
    assert code == 0
    return [point["workgroup_size"] for point in json.loads(out)["points"]]


@pytest.mark.parametrize("vgprs", [0, 72, 122, 200, 512])
def test_the_best_sizes_are_those_that_no_size_beats(vgprs: int) -> None:
    asks = registers("gfx90a", vgprs)
    percents = {
        size: arch("gfx90a").occupancy(workgroup_size=size, **asks).percent
        for size in range(64, 1025, 64)
    }
    most = max(percents.values())
    words = ("--vgpr", str(asks["vgprs"]), "--agpr", str(asks["agprs"]))
    assert best(*words) == [size for size, percent in percents.items() if percent == most]


def test_of_a_range_only_its_own_sizes_are_best() -> None:
    assert best("--block", "300..960") == [512]


def test_a_generic_target_takes_its_best_member() -> None:
    *_, last = curve("gfx9-4-generic", "lds")
    assert (last["lds_bytes"], last["percent"]) == (160 * 1024, 12.5)
