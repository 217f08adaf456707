"""The curve of live registers, on its own page and in the page of one kernel."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ..conftest import FIXTURES
from ..pressure.texts import TWO_RANGES, module
from ..test_golden import OCCUPANCY, run
from .chromium import Opened
from .test_fleet import cells

SAMPLE = f"assembly/{OCCUPANCY}.s"


@pytest.fixture(scope="module")
def own_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("pressure") / "pressure.html"
    run("pressure", SAMPLE, "vgprbound", "--format", "html", "-o", str(page), folder=FIXTURES)
    return page


@pytest.fixture
def curve(opened: Opened, own_page: Path) -> Page:
    page = opened.open(own_page)
    expect(page.locator("h1")).to_have_text("vgprbound")
    return page


def reading(page: Page) -> str:
    return page.inner_text(".pressure .reading")


def test_it_opens_on_the_peak(curve: Page, opened: Opened) -> None:
    assert reading(curve).startswith("line 511: 122 VGPRs, 61 SGPRs live · v_fma_f64")
    longest = curve.locator(".live tbody th").all_text_contents()[:2]
    assert longest == ["v64", "v65"]
    opened.screenshot("pressure")


def test_steps_of_the_occupancy_lie_across(curve: Page) -> None:
    steps = dict(
        zip(
            curve.locator(".waves-step text").all_text_contents(),
            curve.locator(".waves-step title").all_text_contents(),
            strict=True,
        )
    )
    assert steps["≤ 96: 5"] == "≤ 96 registers: 5 waves/SIMD"
    assert steps["≤ 128: 4"] == "≤ 128 registers: 4 waves/SIMD"


def test_close_steps_have_labels_apart_and_beside_the_curve(curve: Page) -> None:
    labels = curve.locator(".waves-step text").evaluate_all(
        "all => all.map((it) => it.getBoundingClientRect()).map(({ left, top }) => [left, top])"
    )
    area = curve.locator(".registers.vgprs").bounding_box()
    assert area
    assert all(left > area["x"] + area["width"] for left, _ in labels)
    tops = sorted(top for _, top in labels)
    assert min(below - above for above, below in pairwise(tops)) > 11


def test_needs_stand_above_the_live_registers(opened: Opened, tmp_path: Path) -> None:
    """v2 waits in memory while v2 and v3 are set and stored: 5 values with the address, 4 live."""
    slot = "off offset:4 ; 4-byte Folded"
    body = (
        "\tv_mov_b32_e32 v1, 0\n\tv_mov_b32_e32 v2, 0\n"
        f"\tscratch_store_dword off, v2, {slot} Spill\n"
        "\tv_mov_b32_e32 v2, 0\n\tv_mov_b32_e32 v3, 0\n"
        "\tglobal_store_dwordx2 v[0:1], v[2:3], off\n"
        f"\tscratch_load_dword v2, off, {slot} Reload\n"
        "\tglobal_store_dword v[0:1], v2, off\n"
    )
    (tmp_path / "k.s").write_text(module(body))
    page_file = str(tmp_path / "k.html")
    said, _, _ = run("pressure", "k.s", "k", folder=tmp_path)
    run("pressure", "k.s", "k", "--format", "html", "-o", page_file, folder=tmp_path)
    page = opened.open(Path(page_file))
    assert "the code needs 5 VGPRs" in said
    assert "the code needs 5 VGPRs" in page.inner_text(".pressure")
    assert "4 VGPRs, 0 SGPRs live, 5 vector registers needed" in reading(page)
    assert "solid line: needs, spill slots included" in page.inner_text(".pressure .keys")
    boxes = [page.locator(f"path.{name}").bounding_box() for name in ("needs", "registers")]
    above, below = (box["y"] for box in boxes if box)
    assert above < below


def test_print_has_all_live_values(curve: Page) -> None:
    curve.emulate_media(media="print")
    table = curve.locator(".live .scroll")
    assert table.evaluate("it => it.scrollHeight <= it.clientHeight + 1")


def test_the_loop_is_shaded_and_named(curve: Page) -> None:
    assert curve.locator(".loop-shade").count() == 1
    assert curve.locator("rect.loop + text").all_text_contents() == [".LBB1_2"]


def test_a_loop_of_two_ranges_is_shaded_twice_and_named_once(
    opened: Opened, tmp_path: Path
) -> None:
    text, page = tmp_path / "k.s", tmp_path / "page.html"
    text.write_text(TWO_RANGES)
    run("pressure", str(text), "k", "--format", "html", "-o", str(page))
    shown = opened.open(page)
    expect(shown.locator(".loop-shade")).to_have_count(2)
    assert shown.locator("rect.loop").count() == 2
    assert shown.locator("rect.loop ~ text").all_text_contents() == [".LBB0_2"]
    for kind in (".loop-shade", "rect.loop"):
        left, right = shown.locator(kind).evaluate_all(
            "all => all.map((it) => it.getBoundingClientRect()).map((it) => [it.left, it.right])"
        )
        assert left[1] < right[0]


def test_a_click_shows_the_values_there(curve: Page) -> None:
    chart = curve.locator(".pressure svg.chart")
    box = chart.bounding_box()
    assert box
    chart.click(position={"x": box["width"] * 0.06, "y": box["height"] * 0.5})
    summary = curve.inner_text(".live summary")
    line = int(re.findall(r"line (\d+)", summary)[0])
    assert 93 <= line <= 200
    rows = curve.locator(".live tbody tr").count()
    assert summary.endswith(f"{rows} groups of registers")


def test_arrow_keys_move_along_the_code(curve: Page) -> None:
    chart = curve.locator(".pressure svg.chart")
    chart.focus()
    chart.press("ArrowRight")
    assert reading(curve).startswith("line 512: ")
    chart.press("ArrowLeft")
    assert reading(curve).startswith("line 511: ")


def test_pointing_shows_an_instruction(curve: Page) -> None:
    curve.locator(".pressure svg.chart").hover(position={"x": 60, "y": 100})
    assert not reading(curve).startswith("line 511: ")


def test_the_page_of_one_kernel_has_it(opened: Opened, tmp_path: Path) -> None:
    page = tmp_path / "kernel.html"
    run("explain", SAMPLE, "vgprbound", "--format", "html", "-o", str(page), folder=FIXTURES)
    shown = opened.open(page)
    assert "122 VGPRs" in reading(shown)
    assert shown.locator(".curves figure").count() == 3
    opened.screenshot("kernel-pressure")


def test_a_fleet_does_not(opened: Opened, tmp_path: Path) -> None:
    page = tmp_path / "fleet.html"
    run(SAMPLE, "--format", "html", "-o", str(page), folder=FIXTURES)
    shown = opened.open(page)
    assert shown.locator(".pressure").count() == 0
    assert "pressureSection(data)" not in page.read_text("utf-8")


def test_several_kernels_have_a_table_that_opens_them(opened: Opened, tmp_path: Path) -> None:
    page = tmp_path / "several.html"
    run("pressure", SAMPLE, "--format", "html", "-o", str(page), folder=FIXTURES)
    shown = opened.open(page)
    expect(shown.locator("h1")).to_have_text(SAMPLE)
    peaks = [int(text) for text in cells(shown, "peak")]
    assert peaks == sorted(peaks, reverse=True)
    assert shown.locator(".pressure").count() == 0
    shown.get_by_role("link", name="vgprbound").click()
    expect(shown.locator("h1")).to_have_text("vgprbound")
    assert reading(shown).startswith("line 511: 122 VGPRs")
    shown.go_back()
    expect(shown.locator("table.kernels")).to_be_visible()


@pytest.mark.parametrize("file", ["code_object/spills-clang22-gfx90a.co", SAMPLE])
def test_the_table_counts_the_spilled_registers_of_the_report(
    opened: Opened, tmp_path: Path, file: str
) -> None:
    page = tmp_path / "several.html"
    run("pressure", file, "--format", "html", "-o", str(page), folder=FIXTURES)
    rows = [
        json.loads(line) for line in run(file, "--format", "jsonl", folder=FIXTURES)[0].splitlines()
    ]
    spilled = [row["VGPR_Spills"] + row["SGPR_Spills"] for row in rows]
    assert sorted(map(int, cells(opened.open(page), "spills"))) == sorted(spilled)
    assert any(spilled)
