"""The picture of the README: `python -m tests.browser` draws it anew."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import FloatRect

from ..conftest import FIXTURES
from ..test_golden import OCCUPANCY, run
from .chromium import Opened, browser

PICTURE = FIXTURES / "pictures" / "report.png"


def main() -> None:
    with TemporaryDirectory() as folder, browser() as started:
        report = Path(folder, "report.html")
        run(f"assembly/{OCCUPANCY}.s", "--format", "html", "-o", str(report))
        page = Opened(started.new_page(viewport={"width": 1120, "height": 900})).open(report)
        page.get_by_role("link", name="vgprbound").click()
        end = page.locator("figure.unit").bounding_box()
        assert end is not None
        clip = FloatRect(x=0, y=0, width=1120, height=end["y"] + end["height"] + 16)
        page.screenshot(path=PICTURE, clip=clip, full_page=True)


if __name__ == "__main__":
    main()
