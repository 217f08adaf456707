"""The what-if page of numbers that are given, without a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

import kernelinfo

from ..test_golden import run
from .chromium import Opened
from .test_kernel import move, shown

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx1201", "gfx908", "gfx9-4-generic"])
def test_it_says_what_calc_says(opened: Opened, tmp_path: Path, target: str) -> None:
    path = tmp_path / "given.html"
    numbers = ("--vgpr", "122", "--sgpr", "70", "--lds", "20k", "--block", "256")
    assert run("calc", target, *numbers, "-o", str(path), "--format", "html") == ("", "", 0)
    page = opened.open(path)
    found = kernelinfo.occupancy(target, vgprs=122, sgprs=70, lds_bytes=20480, workgroup_size=256)
    bound = "" if found.exact else "≤ "
    expect(page.locator("h1")).to_contain_text("122 VGPRs")
    assert shown(page, "waves") == f"{bound}{found.waves_per_simd:g}"
    assert shown(page, "percent") == f"{bound}{found.percent:g} %"
    assert page.get_by_text("Where the numbers come from").count() == 0
    move(page, "vgpr", 64)
    moved = kernelinfo.occupancy(target, vgprs=64, sgprs=70, lds_bytes=20480, workgroup_size=256)
    assert shown(page, "waves") == f"{bound}{moved.waves_per_simd:g}"
    page.get_by_role("button", name="as given").click()
    assert shown(page, "waves") == f"{bound}{found.waves_per_simd:g}"


def test_it_moves_to_another_target(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "given.html"
    run("calc", "MI300X", "--vgpr", "100", "--agpr", "60", "-o", str(path), "--format", "html")
    page = opened.open(path)
    for target in ("gfx908", "gfx90a"):
        page.select_option("[data-choice=target]", target)
        found = kernelinfo.occupancy(target, vgprs=100, agprs=60, workgroup_size=256)
        assert shown(page, "waves") == f"{found.waves_per_simd:g}"
    expect(page.locator(".compiled")).to_contain_text("what if; as given: 3 waves/SIMD on gfx942")
