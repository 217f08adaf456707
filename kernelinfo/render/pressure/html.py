"""Live registers as one HTML page: for each kernel the curve along its code, lines and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.pressure.measure import Found, Measured
from kernelinfo.pressure.nouns import Instructions
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.html.dataset import Titles, problem_rows
from kernelinfo.render.html.page import page
from kernelinfo.render.names import printable
from kernelinfo.render.pressure.dataset import dataset
from kernelinfo.render.pressure.words import in_text

SCRIPTS = ("words.js", "dom.js", "chart.js", "problems.js", "pressure.js", "pressure-page.js")


def render(items: Iterable[Found], view: View) -> Iterator[str]:
    """The kernels, the highest peak first."""
    found = list(items)
    measured = [item for item in found if isinstance(item, Measured)]
    measured.sort(key=lambda one: -(one.story.peak.pressure.vector if one.story.peak else 0))
    titles = Titles((one.result.kernel for one in measured), view.names)
    data = {
        "version": __version__,
        "kernels": [_kernel(one, titles, view) for one in measured],
        "problems": problem_rows(item for item in found if isinstance(item, Problem)),
        "repeats": [],
    }
    yield from page(data, SCRIPTS, len(measured))


def _kernel(one: Measured, titles: Titles, view: View) -> dict[str, Any]:
    kernel, story = one.result.kernel, one.story
    lines = [(printable(f"{x.source.file}:{x.source.line}"), *_counts(x.code)) for x in story.lines]
    return {
        "title": titles.of(kernel),
        "about": [kernel.code_object.target, printable(kernel.code_object.path)],
        "pressure": dataset(one),
        "lines": lines[: view.top or None],
        "loops": [
            (printable(loop.label or in_text(loop.at)), loop.depth, *_counts(loop.code))
            for loop in story.loops
        ],
    }


def _counts(code: Instructions) -> tuple[int, ...]:
    """Instructions, the peak, and what they are."""
    return (code.instructions, code.peak.vector, *code[2:])
