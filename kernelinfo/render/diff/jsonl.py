"""JSON lines of a comparison: one object per moved, gone or new kernel."""

from __future__ import annotations

from collections.abc import Iterator

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff.json import row_document
from kernelinfo.render.diff.rows import rows
from kernelinfo.render.records import json_lines


def render(comparison: Comparison, view: View) -> Iterator[str]:
    return json_lines(map(row_document, rows(comparison)))
