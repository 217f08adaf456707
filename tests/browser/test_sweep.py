"""The page of a sweep: each request is a row, with bars under its numbers."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from ..compiling import bitcode, needs_clang
from ..sweep.test_sweep import KERNELS
from ..test_golden import run
from .chromium import Opened

_BARS = """(row) => [...row.querySelectorAll("td:has(.amount)")].map((cell) => {
  const bar = cell.querySelector(".amount");
  const share = parseFloat(bar.style.getPropertyValue("--share"));
  const count = cell.innerText.split("+").reduce((sum, part) => sum + parseInt(part), 0);
  return [cell.dataset.label, count, share, bar.title,
    Math.round(cell.getBoundingClientRect().right - bar.getBoundingClientRect().right)];
})"""


@needs_clang
def test_bars_are_shares_of_what_was_asked_for(opened: Opened, tmp_path: Path) -> None:
    source = KERNELS.replace("BOUND", "")
    files = [bitcode(source, tmp_path / f"{name}.bc") for name in ("one", "two")]
    written = tmp_path / "sweep.html"
    command = ("sweep", *files, "crowded", "--waves", "4,8", "--compiler", "clang-22")
    assert run(*command, "-o", str(written))[2] == 0
    page = opened.open(written)
    assert page.locator("h2").all_inner_texts() == [f"{file} · gfx90a" for file in files]
    rows = page.locator("table.swept").first.locator("tbody tr")
    expect(rows.first.locator("th")).to_contain_text("as compiled")
    asked = rows.locator("th").all_inner_texts()
    assert any(text.startswith("waves 8") for text in asked)
    bars = [row.evaluate(_BARS) for row in rows.all()]
    for nth in range(len(bars[0])):
        column = [row[nth] for row in bars]
        most = max(value for _, value, *_ in column)
        for request, (label, value, share, title, gap) in zip(asked, column, strict=True):
            assert abs(share - 100 * value / most) < 0.1
            assert title.startswith(f"{request}: {label} ")
            assert gap == 16  # the bar ends where the number does
    assert {label for label, *_ in bars[0]} == {"VGPR", "spills", "code"}
