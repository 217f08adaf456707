"""Many builds in one page: their sums, and each kernel that moved with its curves."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from ..fleet.nights import NIGHTS, five
from ..test_golden import run
from .chromium import Opened
from .test_fleet import cells

pytest.importorskip("duckdb", reason="the extra kernelinfo[fleet] is not installed")


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


def test_filters_choose(page: Page) -> None:
    page.get_by_label("what became of it").select_option("renamed")
    assert cells(page, "status") == ["renamed"]
