"""JSON lines of a comparison: one object per moved, gone or new kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kernelinfo.compare import Comparison
from kernelinfo.render import View
from kernelinfo.render.diff.json import row_document
from kernelinfo.render.diff.rows import rows


def render(comparison: Comparison, view: View) -> Iterator[str]:
    for row in rows(comparison):
        yield json.dumps(row_document(row), separators=(",", ":")) + "\n"
