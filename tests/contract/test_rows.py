"""Each table of the contract is one test, which tells all rows that are answered otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from .rows import TABLES, read_table, wrongs


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_rows(path: Path) -> None:
    told = [
        "\n  ".join([f"{row.get('what') or row['run']}", *differences])
        for row in read_table(path)
        if (differences := wrongs(row))
    ]
    assert not told, "\n".join(["rows that are answered otherwise:", *told])
