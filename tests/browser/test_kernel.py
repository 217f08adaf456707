"""One kernel's page: its numbers, its sliders, its pictures."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

import kernelinfo
from kernelinfo import Kernel

from ..conftest import FIXTURES, registers
from ..test_golden import OCCUPANCY
from .chromium import Opened
from .conftest import Reported

SAMPLE = f"assembly/{OCCUPANCY}.s"
NAMES = ["empty", "vgprbound", "ldsbound", "sgprbound"]


def kernel_named(name: str) -> Kernel:
    kernels = kernelinfo.load(FIXTURES / SAMPLE).kernels
    return next(kernel for kernel in kernels if kernel.name.startswith(name))


def shown(page: Page, result: str) -> str:
    return page.inner_text(f"[data-result={result}]")


def move(page: Page, slider: str, value: int) -> None:
    page.locator(f"[data-slider={slider}]").evaluate(
        "(slider, value) => { slider.value = value;"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        value,
    )


def ask(page: Page, number: str, value: int) -> None:
    page.fill(f"[data-number={number}]", str(value))
    page.keyboard.press("Enter")


@pytest.fixture
def vgprbound(opened: Opened, reported: Reported) -> Page:
    """A report of one kernel opens on it."""
    page = opened.open(reported(SAMPLE, "-k", "vgprbound*"))
    expect(page.locator("h1")).to_have_text("vgprbound")
    return page


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_the_model_says(opened: Opened, reported: Reported, name: str) -> None:
    kernel = kernel_named(name)
    page = opened.open(reported(SAMPLE), f"#kernel={kernel.symbol}+gfx90a")
    occupancy = kernel.occupancy()
    assert shown(page, "waves") == f"{occupancy.waves_per_simd:g}"
    assert shown(page, "percent") == f"{occupancy.percent:g} %"
    binding = page.locator("tr.binding th").all_inner_texts()
    words = {
        "slots": "wave slots",
        "vgpr": "VGPR",
        "sgpr": "SGPR",
        "lds": "LDS",
        "scratch": "scratch",
    }
    assert binding == [words[resource] for resource in occupancy.limiters]


@pytest.mark.parametrize("value", [1, 64, 96, 97, 128, 169, 256, 257, 512])
def test_the_register_slider_recomputes(vgprbound: Page, value: int) -> None:
    move(vgprbound, "vgpr", value)
    expected = kernelinfo.arch("gfx90a").occupancy(
        sgprs=70, workgroup_size=256, **registers("gfx90a", value)
    )
    assert shown(vgprbound, "waves") == f"{expected.waves_per_simd:g}"
    assert vgprbound.input_value("[data-number=vgpr]") == str(value)
    expect(vgprbound.locator(".compiled")).to_contain_text("as compiled: 4 waves/SIMD")


@pytest.mark.parametrize("size", [64, 192, 704, 1024])
def test_the_size_slider_recomputes(vgprbound: Page, size: int) -> None:
    move(vgprbound, "size", size)
    expected = kernel_named("vgprbound").occupancy(workgroup_size=size)
    bound = "≤ " if expected.launchable and not expected.exact else ""
    assert shown(vgprbound, "waves") == f"{bound}{expected.waves_per_simd:g}"


@pytest.mark.parametrize("lds", [0, 16384, 16896, 65536])
def test_the_lds_slider_recomputes(vgprbound: Page, lds: int) -> None:
    move(vgprbound, "lds", lds)
    expected = kernel_named("vgprbound").occupancy(dynamic_lds=lds)
    assert shown(vgprbound, "waves") == f"{expected.waves_per_simd:g}"


@pytest.mark.parametrize("name", ["gfx906", "gfx908", "gfx942", "gfx1030", "gfx9-4-generic"])
def test_another_target_is_what_as_says(vgprbound: Page, name: str) -> None:
    vgprbound.select_option("[data-choice=target]", name)
    target = kernelinfo.arch(name).target
    expected = kernel_named("vgprbound").on(target).occupancy()
    bound = "" if expected.exact else "≤ "
    assert shown(vgprbound, "waves") == f"{bound}{expected.waves_per_simd:g}"
    option = vgprbound.inner_text(f"[data-choice=target] option[value={name}]")
    assert option.endswith(target.products)
    for reason in expected.at_most_because:
        expect(vgprbound.locator(".outcome")).to_contain_text(reason)


def test_a_typed_number_counts_and_the_compiled_ones_come_back(vgprbound: Page) -> None:
    vgprbound.fill("[data-number=vgpr]", "90")
    vgprbound.keyboard.press("Enter")
    assert shown(vgprbound, "waves") == "5"
    vgprbound.get_by_role("button", name="as compiled").click()
    assert shown(vgprbound, "waves") == "4"
    assert vgprbound.input_value("[data-number=vgpr]") == "122"


def test_arrow_keys_move_a_slider(vgprbound: Page) -> None:
    vgprbound.focus("[data-slider=vgpr]")
    vgprbound.keyboard.press("ArrowRight")
    assert vgprbound.input_value("[data-number=vgpr]") == "123"


def test_a_click_on_the_curve_asks_for_as_many(vgprbound: Page) -> None:
    vgprbound.locator("[data-curve=vgpr] svg").click(position={"x": 60, "y": 60})
    chosen = int(vgprbound.input_value("[data-number=vgpr]"))
    expected = kernelinfo.arch("gfx90a").occupancy(vgprs=chosen, sgprs=70, workgroup_size=256)
    assert chosen < 122
    assert shown(vgprbound, "waves") == f"{expected.waves_per_simd:g}"


def test_the_address_holds_what_the_sliders_ask(vgprbound: Page) -> None:
    move(vgprbound, "vgpr", 96)
    ask(vgprbound, "size", 128)
    vgprbound.select_option("[data-choice=target]", "gfx942")
    address = vgprbound.url
    assert address.endswith("#vgpr=96&size=128&as=gfx942")
    again = vgprbound.context.new_page()
    again.goto(address)
    again.locator("main:not([aria-busy])").wait_for()
    assert shown(again, "waves") == shown(vgprbound, "waves")
    assert again.input_value("[data-number=vgpr]") == "96"
    again.get_by_role("button", name="as compiled").click()
    assert "#as" not in again.url


def test_an_address_that_asks_for_nonsense_is_as_compiled(
    opened: Opened, reported: Reported
) -> None:
    page = opened.open(reported(SAMPLE, "-k", "vgprbound*"), "#vgpr=many&as=constructor&lds=-1")
    assert shown(page, "waves") == "4"
    expect(page.locator(".compiled")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_sliders_have_room_to_be_moved(opened: Opened, reported: Reported, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    page = opened.open(reported(SAMPLE, "-k", "vgprbound*"))
    widths = page.locator("[data-slider]").evaluate_all("all => all.map((it) => it.clientWidth)")
    assert len(widths) == 4
    assert min(widths) >= 160


def test_what_cannot_launch_says_why(vgprbound: Page) -> None:
    vgprbound.fill("[data-number=lds]", "70000")
    vgprbound.keyboard.press("Enter")
    reason = "cannot launch: a workgroup has at most 65536 bytes of LDS, not 70000"
    expect(vgprbound.locator(".outcome .error")).to_have_text(reason)


def test_the_picture_has_a_cell_for_each_wave(vgprbound: Page) -> None:
    cells = vgprbound.locator("svg.unit g > rect.group[rx]")
    assert cells.count() == 16
    label = vgprbound.get_attribute("svg.unit", "aria-label")
    assert label == "One CU: 4 workgroups, 16 of 32 wave slots taken"


def test_numbers_name_their_sources(vgprbound: Page) -> None:
    row = vgprbound.locator("tr", has_text="VGPRs allocated")
    expect(row).to_contain_text("128")
    expect(row).to_contain_text("directive, line 1031; kernel-info, line 1071")


def test_findings_have_their_severity(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported(SAMPLE, "-k", "sgprbound*"))
    expect(page.locator(".findings li")).to_have_count(2)
    expect(page.locator(".findings li").first).to_contain_text("warning KI106 14 spill reloads")


def test_findings_follow_the_sliders(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported(SAMPLE, "-k", "sgprbound*"))
    ask(page, "size", 65)
    shown_findings = page.locator(".findings li").all_inner_texts()
    assert any(text.endswith("· as compiled") for text in shown_findings if "KI302" in text)
    idle = "warning KI205 workgroups of 65 leave 63 of 64 lanes of their last wave idle"
    assert f"{idle}; launch a multiple of 64" in shown_findings
    page.get_by_role("button", name="as compiled").click()
    assert not any("KI205" in text for text in page.locator(".findings li").all_inner_texts())


def test_the_sliders_ask_only_the_rules_that_are_selected(
    opened: Opened, reported: Reported
) -> None:
    page = opened.open(reported(SAMPLE, "-k", "sgprbound*", "--ignore", "KI205"))
    ask(page, "size", 65)
    expect(page.locator(".compiled")).to_be_visible()
    assert not any("KI205" in text for text in page.locator(".findings li").all_inner_texts())


def test_pictures_are_described_and_controls_are_named(vgprbound: Page) -> None:
    labels = vgprbound.locator("svg[role=img]").evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-label'))"
    )
    assert len(labels) == 4
    assert "to 64: 8, to 72: 7, to 80: 6, to 96: 5, to 128: 4, to 168: 3" in labels[0]
    nameless = "all => all.filter((it) => !it.labels.length && !it.ariaLabel).length"
    assert vgprbound.locator("input, select").evaluate_all(nameless) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_window(opened: Opened, reported: Reported, width: int, scheme: Any) -> None:
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    opened.open(reported(SAMPLE), "#kernel=_Z9vgprboundiPd+gfx90a")
    opened.screenshot(f"kernel-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_prints_without_its_controls(vgprbound: Page, opened: Opened) -> None:
    vgprbound.emulate_media(media="print")
    opened.screenshot("kernel-print")
    expect(vgprbound.locator(".what-if")).to_be_hidden()
    expect(vgprbound.locator(".curve").first).to_be_visible()
