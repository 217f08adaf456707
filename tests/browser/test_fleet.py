"""A report of many kernels, as somebody uses it: sort, filter, open, go back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kernelinfo.kernel import Repeat, Result

from ..conftest import FIXTURES
from ..render.fleets import fleet, renamed, written
from ..render.test_html import HOSTILE
from ..test_golden import run
from .chromium import Opened
from .conftest import Reported

ROCSPARSE = Path("/usr/lib/x86_64-linux-gnu/librocsparse.so.0")
ROCRAND = Path("/usr/lib/x86_64-linux-gnu/librocrand.so.1")


DRAWN = "table.kernels tbody tr:not(.room)"
"""Rows near the window. Others are drawn when they come near it."""


def cells(page: Page, column: str) -> list[str]:
    """Texts of a column in the rows that are drawn."""
    heads = page.locator("table.kernels thead button")
    keys = heads.evaluate_all("all => all.map((it) => it.dataset.sort)")
    return page.locator(f"{DRAWN} > :nth-child({keys.index(column) + 1})").all_inner_texts()


def document(path: str) -> dict[str, Any]:
    out, _, _ = run(path, "--format", "json")
    parsed = json.loads(out)
    assert isinstance(parsed, dict)
    return parsed


def test_the_table_says_what_json_says(opened: Opened, reported: Reported) -> None:
    name = "assembly/variety-clang22-gfx90a.s"
    page = opened.open(reported(name))
    kernels = document(name)["kernels"]
    by_percent = sorted(kernels, key=lambda kernel: kernel["occupancy"]["percent"])
    shown = [float(text.removeprefix("≤ ").removesuffix(" %")) for text in cells(page, "percent")]
    assert shown == [round(kernel["occupancy"]["percent"], 1) for kernel in by_percent]
    assert cells(page, "vgprs") == [str(kernel["allocated"]["vgprs"]) for kernel in by_percent]
    assert cells(page, "sgprs") == [str(kernel["allocated"]["sgprs"]) for kernel in by_percent]


def test_headings_sort_both_ways_by_keyboard_too(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly/variety-clang22-gfx90a.s"))
    page.click("[data-sort=vgprs]")
    falling = [int(text) for text in cells(page, "vgprs")]
    assert falling == sorted(falling, reverse=True)
    page.focus("[data-sort=vgprs]")
    page.keyboard.press("Enter")
    rising = [int(text) for text in cells(page, "vgprs")]
    assert rising == sorted(rising)
    assert page.get_attribute("th:has([data-sort=vgprs])", "aria-sort") == "ascending"


def test_filters_by_name_target_and_limiter(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    page.fill("#filter-name", "LDS_40K")
    named = [k for k in document("assembly")["kernels"] if "lds_40k" in k["name"]]
    kernels = len(document("assembly")["kernels"])
    expect(page.locator(".count")).to_have_text(f"{len(named)} of {kernels} kernels")
    assert {text.split("\n")[0] for text in cells(page, "name")} == {"lds_40k"}
    page.select_option("#filter-target", "gfx950")
    expect(page.locator(".count")).to_have_text(f"1 of {kernels} kernels")
    page.click(".clear")
    page.select_option("#filter-limiter", "barriers")
    expect(page.locator("table.kernels tbody tr").first).to_contain_text("barriers")
    assert all("barriers" in text for text in cells(page, "limiters"))
    page.fill("#filter-name", "no kernel is called so")
    expect(page.locator(".count")).to_have_text("no kernel of that kind")


def test_a_bar_of_the_histogram_chooses_its_kernels(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    page.locator(".multiples > div").filter(has_text="gfx908").locator("[data-bin='10']").click()
    expect(page.locator("#filter-target")).to_have_value("gfx908")
    expect(page.locator("#filter-waves")).to_have_value("10")
    assert set(cells(page, "target")) == {"gfx908"}
    occupancies = [
        k["occupancy"] for k in document("assembly")["kernels"] if k["target"] == "gfx908"
    ]
    full = [occupancy for occupancy in occupancies if occupancy["waves_per_simd"] == 10]
    shown = ["10" if occupancy["exact"] else "≤ 10" for occupancy in full]
    assert sorted(text.strip() for text in cells(page, "waves")) == sorted(shown)


def test_a_kernel_opens_in_place_and_back_returns(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    page.fill("#filter-name", "agpr_heavy")
    expect(page.locator("table.kernels tbody tr")).to_have_count(5)
    page.locator("table.kernels a").first.click()
    expect(page.locator("h1")).to_have_text("agpr_heavy")
    assert page.url.endswith("#name=agpr_heavy&kernel=_Z10agpr_heavyPi+gfx908"), page.url
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.go_back()
    expect(page.locator("table.kernels tbody tr")).to_have_count(5)


def test_the_address_holds_filters_and_order(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    page.select_option("#filter-limiter", "vgpr")
    page.click("[data-sort=vgprs]")
    expect(page.locator("table.kernels tbody tr").first).to_contain_text("VGPR")
    rows, address = cells(page, "vgprs"), page.url
    assert address.endswith("#limiter=vgpr&sort=vgprs")
    again = page.context.new_page()
    again.goto(address)
    again.locator("main:not([aria-busy])").wait_for()
    assert cells(again, "vgprs") == rows
    expect(again.locator("#filter-limiter")).to_have_value("vgpr")
    again.locator("table.kernels a").first.click()
    again.get_by_role("link", name="all kernels").click()
    assert again.url == address
    page.click(".clear")
    assert page.url.endswith("#sort=vgprs")


def test_kernels_are_named_in_the_address_each_by_its_own(
    opened: Opened, reported: Reported
) -> None:
    """By symbol and target: a link leads to the same kernel of the next build, or to the table."""
    page = opened.open(reported("assembly"))
    keys = page.evaluate("report.kernels.map(({ key }) => key)")
    assert len(set(keys)) == len(keys) > 300
    page.goto(page.url + "#kernel=_Z4gonev+gfx90a")
    expect(page.locator("table.kernels")).to_be_visible()


def test_all_rows_that_are_filtered_are_printed(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    page.select_option("#filter-limiter", "vgpr")
    limited = [k for k in document("assembly")["kernels"] if limits(k, "vgpr")]
    expect(page.locator(".count")).to_contain_text(f"{len(limited)} of ")
    assert page.locator(DRAWN).count() < len(limited)
    page.evaluate(
        "addEventListener('beforeprint', () => {"
        f" window.printed = document.querySelectorAll('{DRAWN}').length; }})"
    )
    page.pdf()
    assert page.evaluate("window.printed") == len(limited) > 50
    page.wait_for_function(f"document.querySelectorAll('{DRAWN}').length < {len(limited)}")


def limits(kernel: dict[str, Any], resource: str) -> bool:
    return kernel["occupancy"] is not None and resource in kernel["occupancy"]["limiters"]


A4 = 703
"""CSS pixels between margins of 12 mm."""


@pytest.mark.parametrize(("media", "width"), [("screen", 1280), ("screen", 390), ("print", A4)])
@pytest.mark.parametrize("path", ["assembly", str(ROCRAND)])
def test_tables_fit_and_nothing_in_them_is_cut(
    opened: Opened, reported: Reported, media: Any, width: int, path: str
) -> None:
    if not (FIXTURES / path).exists():
        pytest.skip(f"{path} is not installed")
    opened.page.set_viewport_size({"width": width, "height": 900})
    page = opened.open(reported(path))
    page.emulate_media(media=media)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    cut = "all => all.filter((it) => it.scrollWidth > it.clientWidth + 1).length"
    assert page.locator(".scroll, tbody td, tbody th").evaluate_all(cut) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


TO_THE_END = """() => {
  scrollTo(0, document.body.scrollHeight);
  return !document.querySelector("table.kernels tbody:last-of-type .room");
}"""


def test_rows_are_drawn_as_one_scrolls(opened: Opened, reported: Reported) -> None:
    """The table keeps the room of rows that are far away, and Back returns to the same place."""
    page = opened.open(reported("assembly"))
    kernels = len(document("assembly")["kernels"])
    last = page.locator("table.kernels tbody").last
    expect(last.locator("tr")).to_have_attribute("class", "room")
    page.wait_for_function(TO_THE_END)
    rows = page.locator(DRAWN)
    expect(rows.last).to_have_attribute("aria-rowindex", str(kernels + 1))
    assert rows.count() < kernels
    shown = last.locator("th a").last
    name = shown.inner_text()
    shown.click()
    expect(page.locator("table.kernels")).to_have_count(0)
    page.go_back()
    expect(page.locator("table.kernels tbody").last.locator("th a").last).to_be_in_viewport()
    assert page.locator("table.kernels tbody").last.locator("th a").last.inner_text() == name


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel of two libraries for two targets, and of one compiled twice for other features."""
    made = tmp_path / "rows-1.2-py3-none-any.whl"
    objects = FIXTURES / "code_object"
    with zipfile.ZipFile(made, "w") as archive:
        for folder in ("one", "two"):
            for target in ("gfx90a", "gfx942"):
                name = f"variety-clang22-{target}.co"
                archive.write(objects / name, f"rows/{folder}/lib{target}.so")
    return made


def test_a_column_and_a_filter_tell_the_libraries_apart(
    opened: Opened, wheel: Path, tmp_path: Path
) -> None:
    written = tmp_path / "wheel.html"
    run(str(wheel), "--format", "html", "-o", str(written))
    page = opened.open(written)
    places = {f"{folder}/lib{target}.so" for folder in ("one", "two") for target in TWO}
    assert set(cells(page, "library")) <= places
    page.select_option("#filter-library", "two/libgfx942.so")
    assert set(cells(page, "library")) == {"two/libgfx942.so"}
    assert set(cells(page, "target")) == {"gfx942"}
    assert page.url.endswith("#library=two%2Flibgfx942.so")


TWO = ("gfx90a", "gfx942")


def test_one_library_has_no_column(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly/variety-clang22-gfx90a.s"))
    expect(page.locator("[data-sort=name]")).to_be_visible()
    expect(page.locator("[data-sort=library], #filter-library")).to_have_count(0)


def test_equal_rows_are_one_with_their_number(opened: Opened, tmp_path: Path) -> None:
    one, other = renamed(["gemm", "scan"])
    page = opened.open(written(iter([one, other, one, one]), tmp_path))
    assert cells(page, "name") == ["gemm × 3", "scan"]
    expect(page.locator(".count")).to_have_text("4 kernels in 2 rows; × N: N equal ones")
    page.get_by_role("link", name="gemm").click()
    expect(page.get_by_text("the same numbers in 2 more code objects")).to_be_visible()


def test_equal_spilling_kernels_are_one_row(opened: Opened, tmp_path: Path) -> None:
    spilling = next(r for r in fleet(200) if isinstance(r, Result) and r.kernel.numbers.vgpr_spills)
    page = opened.open(written(iter([spilling, spilling, spilling]), tmp_path))
    rows = page.locator(".spillers tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.locator("th")).to_contain_text(" × 3")


def test_targets_stand_in_the_order_of_the_text(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    named = page.locator(".target-name b").all_text_contents()
    processors = list(dict.fromkeys(name.partition(":")[0] for name in named))
    out, _, _ = run("assembly", "--width", "400", folder=FIXTURES)
    (heading,) = (line for line in out.splitlines() if line.startswith(" waves/SIMD  gfx"))
    assert processors == heading.split()[1:]


def test_numbers_are_grouped_before_the_point(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly/variety-clang22-gfx90a.s"))
    grouped = [page.evaluate(f"grouped({number})") for number in (999, 88137, 3573.5, 1234.5678)]
    assert grouped == ["999", "88\u202f137", "3\u202f573.5", "1\u202f234.5678"]


def test_a_mark_of_one_kernel_opens_it(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly/variety-clang22-gfx90a.s"))
    page.locator(".scatter .mark", has_text="vgpr_heavy:").first.dispatch_event("click")
    expect(page.locator("h1")).to_have_text("vgpr_heavy")


def test_bounds_are_marked_in_every_column(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly"))
    page.select_option("#filter-trait", "bounds")
    for column in ("waves", "percent"):
        shown = cells(page, column)
        assert shown
        assert all(text.startswith("≤ ") or text in ("0", "0.0 %") for text in shown)


def test_what_was_not_read_is_listed(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("assembly/nometadata.s"))
    expect(page.locator(".problems li")).to_have_count(2)
    expect(page.locator(".problems li").first).to_contain_text("next_free_vgpr is unresolved")


def test_copies_are_listed_and_counted_once(opened: Opened, tmp_path: Path) -> None:
    (result,) = fleet(1)
    assert isinstance(result, Result)
    first = result.kernel.code_object._replace(path="k.s", member=None)
    result = result._replace(kernel=result.kernel._replace(code_object=first))
    copies = [Repeat(first, f"k.{end}", (), None, 0, end == "s.bak") for end in ("o", "s.bak")]
    page = opened.open(written(iter([result, *copies]), tmp_path))
    assert page.locator("details li").all_text_contents() == [
        "k.o states what k.s does", "k.s.bak is k.s, byte for byte"
    ]  # fmt: skip


def test_an_unknown_target_is_a_question_mark(opened: Opened, reported: Reported) -> None:
    page = opened.open(reported("broken/unknown-target.s"))
    expect(page.locator(".outcome")).to_contain_text("?")
    expect(page.locator(".outcome")).to_contain_text("gfx9999")
    assert "0 waves" not in page.inner_text("main")


def test_names_are_text(opened: Opened, tmp_path: Path) -> None:
    page = opened.open(written(renamed([*HOSTILE, "x" * 1_000_000]), tmp_path))
    expect(page.locator("table.kernels tbody tr")).to_have_count(len(HOSTILE) + 1)
    assert page.locator("main script, main img").count() == 0
    text = page.inner_text("table.kernels")
    assert "</script><script>alert(1)</script>" in text
    assert "\u202e" not in text
    assert r"left\u202eright" in text
    page.fill("#filter-name", "xxx")
    expect(page.locator("table.kernels tbody tr")).to_have_count(1)
    page.locator("table.kernels a").click()
    expect(page.locator("header")).to_contain_text("full name")
    page.click("summary")
    expect(page.locator("header")).to_contain_text("The name has 1\u202f000\u202f000 characters")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


MILLISECONDS = """async (steps) => {
  const name = document.querySelector("#filter-name");
  const began = performance.now();
  for (const text of steps) {
    name.value = text;
    name.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  return performance.now() - began;
}"""


def test_ten_thousand_kernels_are_filtered_about_as_fast_as_a_thousand(
    opened: Opened, tmp_path: Path
) -> None:
    """Paired in one run: rows that are not shown cost next to nothing."""
    (tmp_path / "many").mkdir()
    few, many = written(fleet(1000), tmp_path), written(fleet(10_000), tmp_path / "many")
    taken = {}
    for report in (few, many):
        page = opened.open(report)
        steps = ["l", "ld", "lds", "lds_", "lds", "", "agpr", "void", ""]
        taken[report] = sorted(page.evaluate(MILLISECONDS, steps) for _ in range(5))[2]
        assert page.locator("*").count() < 5000
    assert taken[many] < 4 * taken[few]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_window(opened: Opened, reported: Reported, width: int, scheme: Any) -> None:
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    opened.open(reported("assembly"))
    opened.screenshot(f"fleet-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.skipif(not ROCRAND.exists(), reason="librocrand is not installed")
def test_a_library(opened: Opened, reported: Reported) -> None:
    report = reported(str(ROCRAND))
    page = opened.open(report)
    kernels = document(str(ROCRAND))["kernels"]
    expect(page.locator("header")).to_contain_text(f"{len(kernels)} kernels")
    outcomes = page.evaluate(
        "report.kernels.map((kernel) => {"
        " const { percent, limiters } = occupancyOfKernel(report, kernel);"
        " return [kernel.title.name, percent, limiters]; })"
    )
    assert outcomes == [
        [k["name"], k["occupancy"]["percent"], k["occupancy"]["limiters"]] for k in kernels
    ]
    opened.screenshot("librocrand")
    assert report.stat().st_size < 1_000_000


@pytest.mark.nightly
@pytest.mark.skipif(not ROCSPARSE.exists(), reason="librocsparse is not installed")
def test_the_largest_library(opened: Opened, reported: Reported) -> None:
    """88,137 kernels: under a megabyte a thousand, and a filter answers."""
    report = reported(str(ROCSPARSE))
    page = opened.open(report)
    kernels = page.evaluate("report.kernels.length")
    assert report.stat().st_size < 1000 * kernels
    page.fill("#filter-name", "csrmv")
    expect(page.locator("table.kernels tbody tr").first).to_contain_text("csrmv")
    assert page.evaluate("new Set(report.kernels.map(({ key }) => key)).size") == kernels


def test_every_fixture_has_its_page(opened: Opened, reported: Reported) -> None:
    """The page's own model agrees with the report on each kernel."""
    folders = [str(FIXTURES / name) for name in ("assembly", "code_object", "container")]
    page = opened.open(reported(*folders))
    differing = page.evaluate(
        "report.kernels.filter((kernel) => kernel.case).filter((kernel) => {"
        " const found = occupancyOfKernel(report, kernel);"
        " const { outcome } = kernel.case;"
        " return found.percent !== outcome.percent ||"
        " found.waves_per_simd !== outcome.waves_per_simd ||"
        " String(found.limiters) !== String(outcome.limiters) ||"
        " outcome.exact !== (found.at_most_because.length === 0); })"
        ".map((kernel) => kernel.title.name)"
    )
    assert differing == []
    assert page.evaluate("report.kernels.length") > 500
