"""The pictures of the README: `python -m tests.browser` draws them anew."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, FloatRect, Page

from ..conftest import FIXTURES
from ..test_golden import OCCUPANCY, run
from .chromium import Opened, browser

PICTURES = FIXTURES / "pictures"
SAMPLE = f"assembly/{OCCUPANCY}.s"
LINES = "lines/attention-clang22-gfx942.s"


def main() -> None:
    with TemporaryDirectory() as folder, browser() as started:
        page = opened(started, Path(folder, "report.html"), SAMPLE)
        page.get_by_role("link", name="vgprbound").click()
        draw(page, "figure.unit", "report.png")
        page = opened(started, Path(folder, "pressure.html"), "pressure", SAMPLE, "vgprbound")
        draw(page, ".live tr:nth-child(8)", "pressure.png")
        source = "--source", "--source-root", str(FIXTURES)
        page = opened(started, Path(folder, "source.html"), "pressure", LINES, "attention", *source)
        page.get_by_role("button", name="peak").click()
        page.mouse.move(0, 0)
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURES / "source.png")


def opened(browser: Browser, report: Path, *arguments: str) -> Page:
    """The page that the command line writes of these arguments."""
    run(*arguments, "--format", "html", "-o", str(report))
    return Opened(browser.new_page(viewport={"width": 1120, "height": 900})).open(report)


def draw(page: Page, last: str, name: str) -> None:
    """A picture from the top of the page to the end of one element."""
    end = page.locator(last).first.bounding_box()
    assert end is not None
    clip = FloatRect(x=0, y=0, width=1120, height=end["y"] + end["height"] + 16)
    page.screenshot(path=PICTURES / name, clip=clip, full_page=True)


if __name__ == "__main__":
    main()
