"""The browser is started once; without one its tests say that they need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from ..conftest import FIXTURES, require
from ..test_golden import run
from . import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    require("chromium")
    with chromium.browser() as started:
        yield started


@pytest.fixture
def opened(browser: Browser) -> Iterator[chromium.Opened]:
    """A page that must not have complained, nor fetched anything, when the test ends."""
    context = browser.new_context(viewport={"width": 1240, "height": 900})
    held = chromium.Opened(context.new_page())
    yield held
    context.close()
    assert held.complaints == []


Reported = Callable[..., Path]


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The HTML report of what the command line is given, made once."""
    made: dict[tuple[str, ...], Path] = {}

    def report(*arguments: str) -> Path:
        if arguments not in made:
            page = tmp_path_factory.mktemp("report") / "report.html"
            run(*arguments, "--format", "html", "-o", str(page), folder=FIXTURES)
            made[arguments] = page
        return made[arguments]

    return report
