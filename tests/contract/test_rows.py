"""Each table of the contract is one test, which tells all rows that are answered otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from .rows import TABLES, needs, read_table, wrongs


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, id=path.stem, marks=[pytest.mark.needs(*needs(path))] * bool(needs(path))
        )
        for path in TABLES
    ],
)
def test_rows(path: Path) -> None:
    told = [
        "\n  ".join([f"{row.get('what') or row['run']}", *differences])
        for row in read_table(path)
        if (differences := wrongs(row))
    ]
    assert not told, "\n".join(["rows that are answered otherwise:", *told])
