"""What `check --format html` leads with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ..conftest import FIXTURES
from ..test_golden import run
from .chromium import Opened
from .wheels import wheel

OLD, NEW = "variety-clang22-gfx1030-cumode.s", "variety-clang19-gfx1030-wave64.s"
CONFIGURATION = """paths = ["k.s"]
baseline = "pinned.json"
[gate]
toolchain-change = "strict"
[[suppress]]
rule = "KI102"
kernel = "*"
reason = "known"
"""


@pytest.fixture
def page(opened: Opened, tmp_path: Path) -> Page:
    """A build that lost waves since its baseline."""
    (tmp_path / "kernelinfo.toml").write_text(CONFIGURATION)
    built = tmp_path / "k.s"
    shutil.copy(FIXTURES / "assembly" / OLD, built)
    run("check", "--update-baseline", folder=tmp_path)
    shutil.copy(FIXTURES / "assembly" / NEW, built)
    out, _, code = run("check", "--format", "html", folder=tmp_path)
    assert code == 1
    written = tmp_path / "check.html"
    written.write_text(out, "utf-8")
    return opened.open(written)


def test_failed_comes_first_then_what_is_new(page: Page, opened: Opened) -> None:
    expect(page.locator("h1").first).to_contain_text("failed: 6 errors")
    lists = page.locator(".gate summary").all_inner_texts()
    assert lists == [
        *("Since pinned.json (7)", "About the gate (1)", "Suppressed (2)"),
        "Accepted by the baseline (3)",
    ]
    expect(page.locator(".gate li").first).to_contain_text("KI501 lds_40k (gfx1030): lost 1 wave")
    opened.screenshot("check")


def test_a_claim_names_its_library(opened: Opened, tmp_path: Path) -> None:
    written = tmp_path / "check.html"
    _, _, code = run("check", str(wheel(tmp_path, "2.0")), "-o", str(written), folder=tmp_path)
    assert code == 1
    page = opened.open(written)
    claims = page.locator(".gate li", has_text="sgprbound")
    expect(claims.first).to_contain_text("sgprbound (gfx90a · liboccupancy.so.1): ")


def test_a_claim_opens_its_kernel(page: Page) -> None:
    page.locator(".gate a", has_text="lds_40k").click()
    expect(page.locator("h1")).to_have_text("lds_40k")
    page.go_back()
    expect(page.locator(".gate")).to_be_visible()
