"""Source and instructions side by side: the data of a page's two panes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

from kernelinfo.pressure.classes import InstructionClass
from kernelinfo.pressure.curve import PressurePoint
from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.source_text import SourceText
from kernelinfo.render.html.pieces import PagePiece, Shared, piece
from kernelinfo.render.names import printable
from kernelinfo.render.pressure.words import located

SCRIPTS = ("lines.js", "panes-model.js", "panes-rows.js", "panes.js")
"""Scripts of the panes, behind `pressure.js`."""
_CLASSES: tuple[InstructionClass, ...] = get_args(InstructionClass)


class PageTexts:
    """Source texts of a page. Kernels share them; each is a piece of its own."""

    def __init__(self, text: SourceText) -> None:
        self._text = text
        self._shared = Shared()
        self._fresh: list[tuple[str, list[str]]] = []

    def __call__(self, file: str, folder: str) -> tuple[str, int | None, str]:
        """Path of a source file, number of its text, and the reason if it has none.

        A relative path is also searched in `folder`.
        """
        folder = "" if os.path.isabs(file) else folder
        lines = self._text.lines(file, folder)
        if isinstance(lines, str):
            return printable(file), None, printable(lines)
        number = self._shared(id(lines))  # names of one file share its lines
        if self._shared.fresh():
            self._fresh.append((self._text.shown[number], lines))
        return printable(file), number, ""

    def fresh(self) -> Iterator[PagePiece]:
        """Path and lines of texts that no piece holds yet, in the order of their numbers."""
        for path, lines in self._fresh:
            yield piece(printable(path), "source")
            yield piece([printable(line.expandtabs(4)) for line in lines], "text")
        self._fresh.clear()


def panes(one: Measured, texts: PageTexts) -> dict[str, Any]:
    """JSON values that `panes.js` draws, of a kernel measured with its code and blocks."""
    story, code = one.story, one.code
    assert code is not None
    folder = os.path.dirname(one.result.kernel.code_object.path)
    by_file = Counter(point.at.source.file for point in code.points if point.at.source)
    files = {file: number for number, (file, _) in enumerate(by_file.most_common())}
    step = story.advice[0] if story.advice else None
    return {
        "shared": story.files == "unified",
        "classes": _CLASSES,
        "files": [texts(file, folder) for file in files],
        "rows": [_row(point, files) for point in code.points],
        "labels": [
            (block.at.number, printable(label)) for block in story.blocks for label in block.labels
        ],
        "spans": [(span.first, span.last, " ".join(span.registers)) for span in code.spans],
        "loops": [
            (
                printable(loop.label or ""),
                loop.depth,
                loop.at.number,
                [(one.first.number, one.last.number) for one in loop.ranges],
            )
            for loop in story.loops
        ],
        "step": step and (step.at_most, step.waves_per_simd),
        "peak": story.peak.at.number,
    }


def _row(point: PressurePoint, files: dict[str, int]) -> tuple[Any, ...]:
    """Line or address, file or -1, source line, live registers, class, 1 for a spill, and text."""
    at = point.at
    source = (files[at.source.file], at.source.line) if at.source else (-1, 0)
    kind = _CLASSES.index(point.instruction_class)
    where = located(at._replace(source=None)).removeprefix("line ")
    return (where, *source, *point.counts, kind, point.spills, printable(point.instruction))
