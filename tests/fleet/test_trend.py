"""A trend says what became of each kernel, by the rules and in the words of `diff`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kernelinfo

from ..test_golden import run
from .nights import NIGHTS, add, five, kernels, worse

pytest.importorskip("duckdb", reason="the extra kernelinfo[fleet] is not installed")

SCHEMA = Path(kernelinfo.__path__[0], "render", "trend", "trend-schema.json")


def document(fleet: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """The trend as JSON, which its schema describes."""
    out, err, ended = run("trend", str(fleet), "--format", "json", *arguments)
    assert (err, ended) == ("", code)
    parsed: dict[str, Any] = json.loads(out)
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(parsed)
    return parsed


def waves(kernel: dict[str, Any]) -> list[float | None]:
    return [one and one["waves_per_simd"] for one in kernel["history"]]


def test_five_nights_are_what_was_planted(tmp_path: Path) -> None:
    regressed, renamed = five(tmp_path)
    found = document(tmp_path)
    assert [build["name"] for build in found["builds"]] == list(NIGHTS)
    assert [step["counts"] for step in found["steps"]] == [{}, {"worse": 1}, {"renamed": 1}, {}]
    assert [
        step["new"] for step in found["steps"] if len(set(map(str, step["compilers"].values()))) > 1
    ] == [NIGHTS[4]]
    worse_one, renamed_one = found["kernels"]
    assert (worse_one["status"], worse_one["moved_in"]) == ("worse", [NIGHTS[2]])
    assert {one["symbol"] for one in worse_one["history"]} == {regressed}
    assert waves(worse_one) == [8, 8, 4, 4, 4]
    assert (renamed_one["status"], renamed_one["match"]) == ("renamed", "namespace")
    assert renamed_one["moved_in"] == [NIGHTS[3]]
    assert renamed_one["history"][-1]["symbol"] == renamed


def test_as_text(tmp_path: Path) -> None:
    five(tmp_path)
    out, err, code = run("trend", str(tmp_path))
    assert (err, code) == ("", 0)
    lines = out.splitlines()
    assert lines[0] == (
        "5 builds, night-8 → night-12 · affected: 1 worse · 1 only renamed"
        " · clang 19.1.7 → clang 22.1.8"
    )
    assert [line.split()[0] for line in lines[3:8]] == list(NIGHTS)
    why = "VGPR: 2 → 4 used, 8 → 12 allocated, 8 → 4 waves/SIMD"
    assert lines[-2:] == [
        f" worse    ██▅▅▅  night-10  any_block(int*)  {why}",
        " renamed  █████  night-11  v1::scan(float*) → v2::scan(float*)",
    ]


def test_two_builds_are_what_diff_says(tmp_path: Path) -> None:
    five(tmp_path / "fleet")
    before, after = kernels(), kernels()
    after = [worse(after[0]), *after[2:]]
    for name, rows in (("a", before), ("b", after)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        add(tmp_path / "two", name, rows)
    sides = (str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    compared = json.loads(run("diff", *sides, "--format", "json")[0])["kernels"]
    found = document(tmp_path / "two")["kernels"]
    assert [(one["status"], one["why"]) for one in found] == [
        (one["status"], one["why"]) for one in compared
    ]
    assert {one["status"] for one in found} == {"worse", "gone"}


def test_csv_has_a_row_for_each_kernel_and_build(tmp_path: Path) -> None:
    five(tmp_path)
    out, _, _ = run("trend", str(tmp_path), "--format", "csv")
    found = list(csv.DictReader(io.StringIO(out)))
    assert [(row["Kernel"], row["Build"]) for row in found] == [
        (kernel, night) for kernel in "12" for night in NIGHTS
    ]
    assert [row["Waves_Per_SIMD"] for row in found[:5]] == ["8.0", "8.0", "4.0", "4.0", "4.0"]


@pytest.mark.parametrize(
    ("arguments", "unmatched"),
    [
        (("-k", "nope", "-k", "any_block*"), ["-k nope"]),
        (("-k", "any_block*", "--target", "gfx90a", "--target", "MI300X"), ["--target gfx90a"]),
        (("-k", "any_block*", "-k", "re:scan", "--target", "gfx942"), []),
    ],
)
def test_a_choice_without_a_kernel_is_named_next_to_others(
    arguments: tuple[str, ...], unmatched: list[str], tmp_path: Path
) -> None:
    five(tmp_path)
    out, err, code = run("trend", str(tmp_path), *arguments)
    assert ("any_block" in out, code) == (True, 0)
    lines = [f"{tmp_path}: {one} matches no kernel of these builds" for one in unmatched]
    assert err.splitlines() == lines


@pytest.mark.parametrize(
    ("arguments", "statuses"),
    [
        (("--since", "night-10"), ["renamed"]),
        (("--builds", "night-12,night-8"), ["better", "renamed"]),
        (("-k", "any_block*"), ["worse"]),
        (("--target", "MI300X", "--exclude", "any_block*"), ["renamed"]),
    ],
)
def test_what_is_asked_for(arguments: tuple[str, ...], statuses: list[str], tmp_path: Path) -> None:
    five(tmp_path)
    assert [one["status"] for one in document(tmp_path, *arguments)["kernels"]] == statuses


def test_what_moved_within_the_steps_is_listed_if_asked_for(tmp_path: Path) -> None:
    rows = kernels()
    add(tmp_path, "1", rows)
    add(tmp_path, "2", [rows[0] | {"Code_Size": 1 << 20}, *rows[1:]])
    assert document(tmp_path)["kernels"] == []
    (one,) = document(tmp_path, "--moved")["kernels"]
    assert (one["status"], "→ 1048576 B" in one["why"]) == ("moved", True)


def test_what_came_back_is_told(tmp_path: Path) -> None:
    rows = kernels()
    for build, first in (("1", rows[0]), ("2", worse(rows[0])), ("3", rows[0])):
        add(tmp_path, build, [first, *rows[1:]])
    (one,) = document(tmp_path)["kernels"]
    assert (one["status"], one["moved_in"], waves(one)) == ("same", ["2", "3"], [8, 4, 8])
    assert "2: VGPR" in one["why"]


def test_namesakes_in_one_object_are_not_mistaken(tmp_path: Path) -> None:
    rows = kernels()
    again = rows[0] | {"Offset": 1 << 20}
    add(tmp_path, "1", [*rows, again, again])
    add(tmp_path, "2", [*rows, again, worse(again)])
    (one,) = document(tmp_path)["kernels"]
    assert (one["status"], waves(one)) == ("worse", [8, 4])


@pytest.mark.parametrize(
    ("on", "code"), [("regression", 1), ("change", 1)], ids=("regression", "change")
)
def test_it_fails_as_diff_does(on: str, code: int, tmp_path: Path) -> None:
    five(tmp_path)
    document(tmp_path, "--fail-on", on, code=code)
    document(tmp_path, "--fail-on", on, "--since", "night-11")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--since", "night-7"), "not a build of"),
        (("--builds", "night-8,x"), "not a build of"),
        (("--builds", "night-8,night-9,night-8"), "names a build twice"),
        (("--since", "night-12"), "1 build to compare"),
        (("-k", "nothing"), "no kernel matches -k nothing"),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    five(tmp_path)
    out, err, code = run("trend", str(tmp_path), *arguments)
    assert (out, code, err.count("\n")) == ("", 2, 1)
    assert message in err


@pytest.mark.parametrize(
    "columns",
    [
        "* REPLACE (-5::BIGINT AS VGPR_Used)",
        "* REPLACE (-1::BIGINT AS Code_Size)",
        "* REPLACE ('nan'::DOUBLE AS Waves_Per_SIMD)",
        "* REPLACE ('inf'::DOUBLE AS Occupancy_Percent)",
        "* REPLACE (('1' || repeat('0', 36))::HUGEINT AS VGPR_Used)",
        "* REPLACE ('many' AS VGPR_Used)",
        "* REPLACE (true AS VGPR_Used)",
        "* REPLACE ({'a': 1} AS VGPR_Used)",
        "* REPLACE (NULL::VARCHAR AS Symbol)",
        "* REPLACE (7 AS Symbol)",
        "* REPLACE (['\\xFF'::BLOB] AS Limiters)",
        "* EXCLUDE (Symbol)",
        "* EXCLUDE (Url)",
        "1 AS x",
    ],
)
def test_rows_that_no_scan_writes_are_one_line(columns: str, tmp_path: Path) -> None:
    import duckdb

    five(tmp_path)
    [file] = (tmp_path / "kernels" / f"Build={NIGHTS[2]}").glob("*.parquet")
    other = tmp_path / "other.parquet"
    query = f"SELECT {columns} FROM read_parquet('{file}')"
    duckdb.sql(f"COPY ({query}) TO '{other}' (FORMAT parquet)")
    other.replace(file)
    out, err, code = run("trend", str(tmp_path))
    assert (out, code, err.count("\n")) == ("", 2, 1), err


@pytest.mark.parametrize("table", ["kernels", "inputs"])
@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\xff" * 200 + b"PAR1", b"{}"])
def test_files_that_are_no_parquet_are_one_line(table: str, data: bytes, tmp_path: Path) -> None:
    five(tmp_path)
    [file] = (tmp_path / table / f"Build={NIGHTS[2]}").glob("*.parquet")
    file.write_bytes(data)
    out, err, code = run("trend", str(tmp_path))
    assert (out, code, err.count("\n")) == ("", 2, 1), err
