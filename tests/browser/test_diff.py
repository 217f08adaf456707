"""Two builds in one page: what moved, in slopes and in a table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kernelinfo import Comparison, Pair
from kernelinfo.render import View

from ..conftest import FIXTURES
from ..outputs import outputs
from ..render.test_html import HOSTILE
from ..test_golden import run
from .chromium import Opened
from .test_fleet import cells
from .wheels import wheel

OLD = "assembly/variety-clang22-gfx1030-cumode.s"
NEW = "assembly/variety-clang19-gfx1030-wave64.s"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("diff") / "diff.html"
    assert run("diff", OLD, NEW, "--format", "html", "-o", str(written)) == ("", "", 0)
    return written


@pytest.fixture
def page(opened: Opened, report: Path) -> Page:
    return opened.open(report)


def document() -> dict[str, Any]:
    out, _, _ = run("diff", OLD, NEW, "--format", "json")
    parsed = json.loads(out)
    assert isinstance(parsed, dict)
    return parsed


def waves(side: dict[str, Any]) -> str:
    return f"{'≤ ' * (not side['exact'])}{side['waves_per_simd']:g}"


def test_the_table_says_what_json_says(page: Page) -> None:
    kernels = document()["kernels"]
    assert cells(page, "status") == [kernel["status"] for kernel in kernels]
    assert cells(page, "why") == [kernel["why"] for kernel in kernels]


def test_it_names_the_builds(page: Page) -> None:
    assert page.locator(".builds dd").all_inner_texts() == [OLD, NEW]
    expect(page).to_have_title(f"{Path(OLD).name} → {Path(NEW).name} · kernelinfo diff")


def test_slopes_are_the_kernels_that_gained_or_lost(page: Page, opened: Opened) -> None:
    moved = {
        f"{waves(kernel['old'])}:{waves(kernel['new'])}"
        for kernel in document()["kernels"]
        if kernel["old"]["waves_per_simd"] != kernel["new"]["waves_per_simd"]
    }
    drawn = page.locator("[data-slope]").evaluate_all("all => all.map((it) => it.dataset.slope)")
    assert set(drawn) == moved
    opened.screenshot("diff")


def test_a_slope_chooses_its_kernels(page: Page) -> None:
    page.locator("[data-slope='≤ 16:≤ 10'] circle").last.click()
    expect(page.locator("table.kernels tbody tr")).to_have_count(1)
    expect(page.locator("table.kernels tbody")).to_contain_text("recursive")
    expect(page.locator("[data-slope] title")).to_have_text("recursive: ≤ 16 → ≤ 10")
    assert cells(page, "waves_per_simd") == ["≤ 16 → ≤ 10"]
    page.click(".clear")
    page.select_option("#filter-status", "better")
    assert set(cells(page, "status")) == {"better"}


def test_other_processors_are_compared_by_their_slots(opened: Opened, tmp_path: Path) -> None:
    written = tmp_path / "diff.html"
    sides = ("assembly/variety-clang15-gfx906.s", "assembly/variety-clang22-gfx90a.s")
    run("diff", *sides, "--across-targets", "--format", "html", "-o", str(written))
    page = opened.open(written)
    expect(page.locator(".slopes figcaption")).to_contain_text("Occupancy")
    expect(page.locator("[data-slope='80:100'] title")).to_have_text("9 kernels: 80 % → 100 %")


def test_names_are_text(opened: Opened, tmp_path: Path) -> None:
    import kernelinfo

    kernels = kernelinfo.diff(FIXTURES / OLD, FIXTURES / NEW).pairs
    pairs = tuple(
        Pair(pair.old._replace(name=name), pair.new._replace(name=name, symbol=name))
        for name, pair in zip(HOSTILE, kernels, strict=False)
    )
    written = tmp_path / "diff.html"
    text = "".join(outputs("diff")["html"](Comparison(pairs, (), (), (), ()), View()))
    written.write_text(text, "utf-8")
    page = opened.open(written)
    expect(page.locator("table.kernels tbody tr")).to_have_count(len(HOSTILE))
    assert page.locator("main script, main img").count() == 0
    assert "</script><script>alert(1)</script>" in page.inner_text("main")


def test_configurations_of_a_kernel_have_their_constants(opened: Opened, tmp_path: Path) -> None:
    for build, version in (("old", 19), ("new", 22)):
        for block in (64, 128):
            folder = tmp_path / build / f"{build}{block}"
            folder.mkdir(parents=True)
            name = f"spills-clang{version if block == 128 else 19}-gfx90a.co"
            shutil.copy(FIXTURES / "code_object" / name, folder / "k.hsaco")
            stated = {"name": "_Z12hint_reachedPd", "constants": {"BLOCK_M": block}}
            (folder / "k.json").write_text(json.dumps(stated))
    written = tmp_path / "diff.html"
    run("diff", str(tmp_path / "old"), str(tmp_path / "new"), "-o", str(written))
    page = opened.open(written)
    assert {*page.locator("table.kernels .rest").all_inner_texts()} == {"BLOCK_M=128"}


def test_sizes_have_one_unit(opened: Opened, tmp_path: Path) -> None:
    written = tmp_path / "diff.html"
    sides = (f"code_object/spills-clang{version}-gfx90a.co" for version in (19, 22))
    run("diff", *sides, "-o", str(written))
    page = opened.open(written)
    scratch = cells(page, "scratch_bytes_per_lane")
    assert scratch[:3] == ["112 → 108 B", "160 → 140 B", "108 → 0 B"]
    assert {text.rpartition(" ")[2] for text in scratch} <= {"B", "0"}
    assert "Totals from 4 (67 %) moved kernels: VGPRs +26" in page.inner_text("header")
    move = "([before, after]) => bytesMove(before, after)"
    assert page.evaluate(move, [16384, 16896]) == "16 → 16.5 KiB"
    assert page.evaluate(move, [0, 2048]) == "0 → 2 KiB"
    assert page.evaluate(move, [2048, 2176]) == "2048 → 2176 B"


def test_each_row_names_its_library(opened: Opened, tmp_path: Path) -> None:
    """Also rows of kernels that only one of the wheels has."""
    written = tmp_path / "diff.html"
    run("diff", str(wheel(tmp_path, "1.0")), str(wheel(tmp_path, "2.0")), "-o", str(written))
    page = opened.open(written)
    builds = [Path(name).name for name in page.locator(".builds dd").all_inner_texts()]
    assert [name.split("+")[0] for name in builds] == ["tensor_kernels-1.0", "tensor_kernels-2.0"]
    page.select_option("#filter-status", "gone")
    assert set(cells(page, "library")) == {"libvariety.so"}
    assert set(cells(page, "target")) == {"gfx906"}


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_window(opened: Opened, report: Path, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    page = opened.open(report)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
