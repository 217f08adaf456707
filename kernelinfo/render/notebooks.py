"""What notebooks show of kernels, of a comparison and of live registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from kernelinfo.compare import Comparison
from kernelinfo.kernel import Result
from kernelinfo.pressure.nouns import Story
from kernelinfo.render import View, paint, pressure, tables
from kernelinfo.render.diff import text

_WIDTH = 110


def in_html(value: Sequence[Result] | Comparison | Story) -> str:
    """The table of a report, the text of `kernelinfo diff`, or the peak and its values."""
    if isinstance(value, Comparison):
        return _comparison(value)
    return _story(value) if isinstance(value, Story) else tables.html_table(value)


def _comparison(comparison: Comparison) -> str:
    return f"<pre>{escape(''.join(text.render(comparison, View(width=_WIDTH))))}</pre>"


def _story(story: Story) -> str:
    """The sentences of `explain` on live registers, and a row for each group of values."""
    sentences = "".join(f"<p>{escape(sentence)}</p>" for _, sentence in pressure.in_short(story))
    headings = ("role", "registers", "", "written", "next read", "untouched for")
    rows = [
        (
            line.role or "SGPRs",
            pressure.some(value.registers),
            str(value.total),
            pressure.written(value, story.at),
            pressure.next_read(value, story.at),
            pressure.untouched(value),
        )
        for line in story.bill
        for value in line.values
    ]
    lines = [_row("th", headings), *(_row("td", row) for row in rows)]
    return sentences + "<table>\n" + "\n".join(lines) + "\n</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return (
        f"<tr>{''.join(f'<{tag}>{escape(paint.printable(cell))}</{tag}>' for cell in cells)}</tr>"
    )
