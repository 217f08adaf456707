"""Every page at the widths of phones, tablets and screens: nothing is cut off or overlaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..fleet.nights import add, kernels, worse
from ..test_golden import OCCUPANCY, run
from .chromium import Opened
from .layout import faults
from .wheels import wheel

WIDTHS = (390, 768, 1024, 1280, 1500)
SAMPLE = f"assembly/{OCCUPANCY}.s"
LINES = "lines/attention-clang22-gfx942.s"


def _report(folder: Path) -> tuple[str, ...]:
    return (str(wheel(folder, "2.0")),)


def _diff(folder: Path) -> tuple[str, ...]:
    return ("diff", str(wheel(folder, "1.0")), str(wheel(folder, "2.0")))


def _trend(folder: Path) -> tuple[str, ...]:
    fleet = folder / "fleet"
    rows = [row | {"Member": f"lib/lib{number % 3}.so"} for number, row in enumerate(kernels())]
    moved = [
        row | {"Scratch_Size": 3280, "Code_Size": 13316} for row in [worse(rows[0]), *rows[1:]]
    ]
    for build, now in (("2026-11-21", rows), ("2026-11-22", moved), ("2026-11-23", moved)):
        add(fleet, build, now, f"rows-{build[-2:]}.0-cp312-cp312-linux_x86_64.whl")
    return ("trend", str(fleet), "--by", "library", "--moved")


def _pressure(folder: Path) -> tuple[str, ...]:
    return ("pressure", SAMPLE, "vgprbound")


def _pressures(folder: Path) -> tuple[str, ...]:
    return ("pressure", str(wheel(folder, "2.0")), "--target", "gfx90a")


def _source(folder: Path) -> tuple[str, ...]:
    return ("pressure", LINES, "attention", "--source", "--source-root", str(FIXTURES))


def _explain(folder: Path) -> tuple[str, ...]:
    return ("explain", SAMPLE, "vgprbound")


def _calc(folder: Path) -> tuple[str, ...]:
    return ("calc", "--arch", "gfx942", "--vgpr", "96", "--lds", "16k")


@pytest.mark.parametrize(
    "arguments",
    [_report, _diff, _trend, _pressure, _pressures, _source, _explain, _calc],
)
def test_nothing_is_cut_off_or_overlaps(
    opened: Opened, tmp_path: Path, arguments: Callable[[Path], tuple[str, ...]]
) -> None:
    written = tmp_path / "page.html"
    _, _, code = run(*arguments(tmp_path), "-o", str(written))
    assert code == 0
    for width in WIDTHS:
        opened.page.set_viewport_size({"width": width, "height": 900})
        page = opened.open(written)
        assert (width, faults(page)) == (width, [])


@pytest.mark.parametrize("arguments", [_diff, _trend])
def test_reasons_have_room_in_print(
    opened: Opened, tmp_path: Path, arguments: Callable[[Path], tuple[str, ...]]
) -> None:
    written = tmp_path / "page.html"
    run(*arguments(tmp_path), "-o", str(written))
    opened.page.set_viewport_size({"width": 703, "height": 1000})  # A4 without its margins
    page = opened.open(written)
    page.emulate_media(media="print")
    cell = page.locator("table.kernels td.why").first.bounding_box()
    assert cell
    assert cell["width"] > 100
    assert faults(page) == []


def _manual(folder: Path) -> list[Path]:
    assert run("explain", "--format", "html", "-o", str(folder))[2] == 0
    return sorted(folder.glob("*.html"))


def test_the_manual_has_room_on_a_phone(opened: Opened, tmp_path: Path) -> None:
    written = _manual(tmp_path)
    assert len(written) > 20
    for width in (390, 1280):
        opened.page.set_viewport_size({"width": width, "height": 900})
        for file in written:
            page = opened.open(file)
            assert (file.name, faults(page)) == (file.name, [])
            assert page.locator("[aria-current=page]").inner_text() == file.stem
            # A wide table scrolls in its own box; a command is not broken at its hyphens.
            broken = "all => all.filter((it) => it.getClientRects().length > 1).length"
            assert page.locator("code.whole").evaluate_all(broken) == 0


def test_the_checks_find_faults(opened: Opened) -> None:
    page = opened.page
    page.set_viewport_size({"width": 600, "height": 400})
    page.set_content(
        """<!doctype html><table style="table-layout:fixed;width:40px"><tr>
        <td style="white-space:nowrap">316 B → 324 B</td></tr></table>
        <input type="range" aria-label="VGPRs" style="width:90px">
        <svg class="chart" viewBox="0 0 100 50" width="100"><text x="5" y="20">one</text>
        <text x="8" y="22">two</text><text x="5" y="49" font-size="2">small</text>
        <text x="95" y="30">beyond</text></svg><div style="width:700px">wide</div>"""
    )
    assert [fault.split(":")[0] for fault in faults(page)] == [
        *("the page is 708 wide", "too wide for its cell", "short slider", "one lies on two"),
        *("letters of 2 pixels", "outside its drawing"),
    ]
