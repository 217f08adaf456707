"""The schema of rows is made of the table of columns."""

from __future__ import annotations

import json
from pathlib import Path

import kernelinfo

from .row import row_schema

FILE = Path(kernelinfo.__path__[0], "render", "row-schema.json")


def test_the_file_is_current(regenerate: bool) -> None:
    if regenerate:
        FILE.write_text(json.dumps(row_schema(), indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert json.loads(FILE.read_text("utf-8")) == row_schema()
