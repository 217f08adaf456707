"""A real Chromium that opens reports, and hears everything that goes wrong in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, Request, sync_playwright

from ..tools import find_program

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
"""Outside git."""


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # The sandbox needs what containers of CI do not grant.
        started = playwright.chromium.launch(
            executable_path=find_program("chromium"), args=["--no-sandbox"]
        )
        try:
            yield started
        finally:
            started.close()


class Opened:
    """A report in a page of its own."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        """Messages of the console, of failing scripts and of network requests."""
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._requested)

    def open(self, report: Path, fragment: str = "") -> Page:
        """The page after it has read its data."""
        self.page.goto(report.as_uri() + fragment)
        self.page.locator("main:not([aria-busy])").wait_for()
        return self.page

    def screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.complaints.append(f"fetches {request.url}")
