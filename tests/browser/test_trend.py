"""Many builds in one page: their sums, and each kernel that moved with its curves."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from ..conftest import require
from ..fleet.nights import NIGHTS, add, five, kernels, worse
from ..test_golden import run
from .chromium import Opened
from .test_fleet import cells

require("duckdb")


@pytest.fixture
def page(opened: Opened, tmp_path: Path) -> Page:
    five(tmp_path / "fleet")
    written = tmp_path / "trend.html"
    arguments = ("trend", str(tmp_path / "fleet"), "--format", "html", "-o", str(written))
    assert run(*arguments) == ("", "", 0)
    return opened.open(written)


def test_it_shows_what_was_planted(page: Page, opened: Opened) -> None:
    assert "affected: 1 worse · 1 only renamed" in page.locator("header").inner_text()
    assert cells(page, "status") == ["worse", "renamed"]
    assert cells(page, "moved") == [NIGHTS[2], NIGHTS[3]]
    assert "was v1::scan(float*)" in page.locator("table.kernels").inner_text()
    opened.screenshot("trend")


def test_each_kernel_has_a_curve_a_number_and_each_sum_too(page: Page) -> None:
    curves = page.locator("table.kernels tbody tr").first.locator("svg.spark")
    assert curves.count() == 3  # spills and scratch are 0 in every build
    assert curves.first.get_attribute("aria-label") == "waves/SIMD: 8, 8, 4, 4, 4"
    heights = curves.first.locator("polyline").get_attribute("points")
    assert heights is not None
    levels = [float(point.split(",")[1]) for point in heights.split()]
    assert len(levels) == 5
    assert levels[0] == levels[1] < levels[2] == levels[3] == levels[4]  # SVG counts downwards
    assert page.locator("table:not(.kernels) svg.spark").count() == 6


def test_bounds_members_labels_and_sums_are_shown(opened: Opened, tmp_path: Path) -> None:
    rows = [
        row | {"Member": f"lib/lib{name}.so.1/hipv4-amdgcn-amd-amdhsa--gfx942"}
        for row in kernels()
        for name in ("one", "two")
    ]
    moved = [worse(row) | {"Exact": False} for row in rows[:2]]
    fleet = tmp_path / "fleet"
    for number, now in enumerate((rows, [*moved, *rows[2:]]), 1):
        wheel = f"rows-{number}.0-cp312-cp312-linux_x86_64.whl"
        add(fleet, f"night-{number}", now, wheel)
    written = tmp_path / "trend.html"
    assert run("trend", str(fleet), "--by", "target", "-o", str(written)) == ("", "", 0)
    page = opened.open(written)
    shown = [text.strip() for text in cells(page, "waves_per_simd")]
    assert shown == ["8 → ≤ 4", "8 → ≤ 4"]
    assert page.locator("table.kernels .spark title").first.text_content() == "waves/SIMD: 8, ≤ 4"
    assert cells(page, "library") == ["libone.so.1", "libtwo.so.1"]
    page.select_option("#filter-library", "libtwo.so.1")
    assert cells(page, "library") == ["libtwo.so.1"]
    assert page.locator("h2").all_text_contents() == [
        *("Where kernels moved", "All kernels by target"),
    ]


def test_filters_choose(page: Page) -> None:
    page.get_by_label("what became of it").select_option("renamed")
    assert cells(page, "status") == ["renamed"]
