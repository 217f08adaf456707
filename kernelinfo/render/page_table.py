"""One table as an HTML page without scripts: for numbers that need no charts and filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelinfo import __version__
from kernelinfo.render.paint import printable

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>kernelinfo</title>
<style>
:root { color-scheme: light dark; --quiet: #5c6670; --rule: #dfe3e6; }
@media (prefers-color-scheme: dark) { :root { --quiet: #9aa5af; --rule: #313941; } }
body { margin: 0 auto; max-width: 1440px; padding: 28px; font: 15px/1.5 system-ui, sans-serif;
  font-variant-numeric: tabular-nums; }
h1 { font-size: 25px; margin: 0 0 4px; }
p, footer { color: var(--quiet); }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 4px 18px 4px 0; text-align: right; white-space: nowrap; font-weight: 400;
  border-bottom: 1px solid var(--rule); }
th:first-child { text-align: left; }
thead th { color: var(--quiet); }
.total > * { font-weight: 650; }
footer { margin-top: 32px; font-size: 13px; }
</style>
</head>
"""


def table_page(
    title: str, lines: Sequence[Sequence[str]], legend: str, *, has_total: bool
) -> Iterator[str]:
    """The page of a table: headings, then rows, the last of which is the total if it has one."""
    heading, *rows = lines
    title = _escape(title)
    yield f"{_HEAD}<body>\n<main>\n<h1>{title}</h1>\n<p>{_escape(legend)}</p>\n"
    yield f'<div tabindex="0" role="region" aria-label="{title}">\n<table>\n<thead><tr>'
    yield "".join(f'<th scope="col">{_escape(cell)}</th>' for cell in heading)
    yield "</tr></thead>\n<tbody>\n"
    for number, (name, *cells) in enumerate(rows, 1):
        yield '<tr class="total">' if has_total and number == len(rows) else "<tr>"
        yield f'<th scope="row">{_escape(name)}</th>'
        yield "".join(f"<td>{_escape(cell)}</td>" for cell in cells)
        yield "</tr>\n"
    yield f"</tbody>\n</table>\n</div>\n</main>\n<footer>kernelinfo {__version__}</footer>\n"
    yield "</body>\n</html>\n"


def _escape(text: str) -> str:
    return printable(text).translate(_ESCAPES)
