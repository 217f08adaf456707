"""Faults of a page's layout: what overflows, is cut off or lies on something else."""

from __future__ import annotations

from playwright.sync_api import Page

_FAULTS = """() => {
  const found = [];
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) found.push(`the page is ${page.scrollWidth} wide`);
  const words = (element) => element.textContent.trim().slice(0, 40);
  for (const cell of document.querySelectorAll("th, td")) {
    const style = getComputedStyle(cell);
    if (style.display === "none" || cell.closest(".unseen")) continue;
    if (cell.scrollWidth > cell.clientWidth + 1)
      found.push(`too wide for its cell: ${words(cell)}`);
  }
  for (const slider of document.querySelectorAll("input[type=range]"))
    if (slider.getBoundingClientRect().width < 160) found.push(`short slider: ${slider.ariaLabel}`);
  const cutOff = "option, button, h1, h2, h3, p, dt, dd, summary, .filter label";
  for (const text of document.querySelectorAll(cutOff))
    if (!text.closest(".unseen") && text.clientWidth && text.scrollWidth > text.clientWidth + 1)
      found.push(`cut off: ${words(text)}`);
  for (const drawing of document.querySelectorAll("svg.chart, svg.unit")) {
    const box = drawing.getBoundingClientRect();
    const shown = [...drawing.querySelectorAll("text")].filter((text) => text.textContent.trim())
      .map((text) => [text, text.getBoundingClientRect()]);
    for (const [index, [text, one]] of shown.entries()) {
      const size = one.height ? parseFloat(getComputedStyle(text).fontSize) *
        box.width / drawing.viewBox.baseVal.width : 0;
      if (size < 8) found.push(`letters of ${size} pixels: ${words(text)}`);
      if (one.left < box.left - 1 || one.right > box.right + 1 || one.top < box.top - 1 ||
          one.bottom > box.bottom + 1) found.push(`outside its drawing: ${words(text)}`);
      for (const [other, two] of shown.slice(index + 1)) {
        const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        if (across > 1 && down > 4) found.push(`${words(text)} lies on ${words(other)}`);
      }
    }
  }
  return found;
}"""


def faults(page: Page) -> list[str]:
    """A sentence for each: a page wider than the window, a text wider than its cell or cut off, a
    slider below 160 pixels, letters below 8; labels of drawings that overlap or lie outside."""
    found: list[str] = page.evaluate(_FAULTS)
    return found
