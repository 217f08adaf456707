"""The queries and the example of the manual work as they stand."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

import kernelinfo

from ..conftest import require
from ..test_golden import run
from .nights import add, add_by_0_2, add_no_problems, five, kernels
from .scans import OBJECTS, scan

require("duckdb")

PAGE = Path(kernelinfo.__path__[0], "manual", "fleet.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n-- (.*?)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two builds; the second has a kernel more, one that spills and something unread."""
    folder = tmp_path_factory.mktemp("fleet")
    rows = kernels()
    add(folder, "7.1", rows[1:])
    add(folder, "7.2", [rows[0] | {"VGPR_Spills": 3}, *rows[1:]])
    add(folder, "7.2", [], "lib/x.co", "shard", damage="cut off")
    return folder


def answer(question: str, fleet: Path) -> list[tuple[object, ...]]:
    import duckdb

    (query,) = (text for title, text in QUERIES if title.startswith(question))
    with contextlib.chdir(fleet), duckdb.connect() as connection:
        found: list[tuple[object, ...]] = connection.execute(query).fetchall()
    return found


def test_there_are_five() -> None:
    assert len(QUERIES) == 5


def test_what_limits_the_kernels(fleet: Path) -> None:
    expected = sum(len(row["Limiters"]) for row in kernels())
    found = answer("What limits", fleet)
    assert {row[0] for row in found} == {"gfx942"}
    assert sum(int(str(row[2])) for row in found) == expected


def test_which_libraries_spill(fleet: Path) -> None:
    assert answer("Which libraries spill", fleet) == [("7.2", "librows.so", 1, 3)]


def test_which_kernels_differ_between_targets(tmp_path: Path) -> None:
    rows = kernels()
    other = [row | {"Target": "gfx90a", "Waves_Per_SIMD": 1.0} for row in rows[:1]]
    add(tmp_path, "7.2", [*rows, *other])
    (found,) = answer("Which kernels reach", tmp_path)
    assert found == (rows[0]["Kernel_Name"], 1.0, rows[0]["Waves_Per_SIMD"], "gfx90a")


def test_what_is_new(fleet: Path) -> None:
    (first, *_) = kernels()
    assert answer("What is new", fleet) == [("librows.so", 1, first["Code_Size"])]


def test_what_could_not_be_read(fleet: Path) -> None:
    assert answer("What could not", fleet) == [("lib/x.co", "cut off", ["7.2"])]


def test_on_builds_of_two_versions_without_problems(tmp_path: Path) -> None:
    rows = kernels()
    add_by_0_2(tmp_path, "7.1", rows[1:])
    add(tmp_path, "7.2", [rows[0] | {"VGPR_Spills": 3}, *rows[1:]])
    add_no_problems(tmp_path, "7.2")
    assert answer("What is new", tmp_path) == [("librows.so", 1, rows[0]["Code_Size"])]
    assert answer("Which libraries spill", tmp_path) == [("7.2", "librows.so", 1, 3)]
    assert answer("What could not", tmp_path) == []
    for title, _ in QUERIES:
        answer(title, tmp_path)


def test_a_scan_without_problems_leaves_a_table_of_problems(tmp_path: Path) -> None:
    scan(OBJECTS / "handwritten.co", to=tmp_path, build="7.1")
    assert answer("What could not", tmp_path) == []


def test_the_example_is_what_it_says(tmp_path: Path) -> None:
    five(tmp_path)
    out, err, code = run("trend", str(tmp_path))
    assert (err, code) == ("", 0)
    assert f"```text\n{out}```" in PAGE
