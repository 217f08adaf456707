"""A trend says what became of each kernel, by the rules and in the words of `diff`."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kernelinfo

from ..conftest import require
from ..robustness.measure import cost
from ..test_golden import run
from .nights import NEW_CLANG, NIGHTS, add, add_by_0_2, five, kernels, worse

require("duckdb")

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
    assert lines[:3] == [
        "5 builds, night-8 → night-12 · affected: 1 worse · 1 only renamed",
        "",
        " compiler of night-12: clang 19.1.7 → clang 22.1.8",
    ]
    assert out.count("clang") == 2
    assert [line.split()[0] for line in lines[5:10]] == list(NIGHTS)
    why = "VGPR: 8 → 16 allocated, 2 → 4 used, 8 → 4 waves/SIMD"
    assert lines[-2:] == [
        f" worse    ██▅▅▅  night-10  any_block(int*)  {why}",
        " renamed  █████  night-11  v1::scan(float*) → v2::scan(float*)",
    ]


Rows = list[dict[str, Any]]


def trend_and_diff(before: Rows, after: Rows, folder: Path) -> tuple[Rows, Rows]:
    """The kernels that `trend` and `diff` list of the same two builds."""
    for name, rows in (("a", before), ("b", after)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        add(folder / "two", name, rows)
    sides = (str(folder / "a.jsonl"), str(folder / "b.jsonl"))
    compared = json.loads(run("diff", *sides, "--format", "json")[0])["kernels"]
    return document(folder / "two")["kernels"], compared


def test_two_builds_are_what_diff_says(tmp_path: Path) -> None:
    rows = kernels()
    found, compared = trend_and_diff(rows, [worse(rows[0]), *rows[2:]], tmp_path)
    assert [(one["status"], one["why"]) for one in found] == [
        (one["status"], one["why"]) for one in compared
    ]
    assert {one["status"] for one in found} == {"worse", "gone"}


def test_a_kernel_that_did_not_move_keeps_its_target_apart(tmp_path: Path) -> None:
    """A target that both builds have is not one whose features changed, as in `diff`."""
    stays, moves = ({**row, "Compiled_For": "gfx942:xnack-"} for row in kernels()[:2])
    before, after = [stays, moves], [stays, {**moves, "Compiled_For": "gfx942:xnack+"}]
    found, compared = trend_and_diff(before, after, tmp_path)
    assert [one["status"] for one in found] == [one["status"] for one in compared]
    assert {one["status"] for one in found} == {"gone", "new"}


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
        (("--where", "kernel = any_block and target = gfx942"), ["worse"]),
        (("--where", "kernel ~ *scan* and code > 0"), ["renamed"]),
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


def test_a_kernel_that_a_build_lacks_is_one_kernel(tmp_path: Path) -> None:
    rows = kernels()
    nights = (("1", rows), ("2", rows[1:]), ("3", [worse(rows[0]), *rows[1:]]))
    for build, found in nights:
        add(tmp_path, build, found)
    (one,) = document(tmp_path, "--by", "library")["kernels"]
    assert (one["status"], one["moved_in"], waves(one)) == ("worse", ["2", "3"], [8, None, 4])
    assert "waves lost" in run("trend", str(tmp_path), "--by", "library")[0]
    add(tmp_path, "4", rows)
    document(tmp_path, "--fail-on", "regression")


def test_a_kernel_of_a_build_between_is_not_gone(tmp_path: Path) -> None:
    rows = kernels()
    for build, found in (("1", rows[1:]), ("2", rows), ("3", rows[1:])):
        add(tmp_path, build, found)
    document(tmp_path, "--fail-on", "regression")
    (one,) = document(tmp_path)["kernels"]
    assert (one["status"], one["moved_in"], one["why"]) == ("same", ["2", "3"], "2: new; 3: gone")
    assert [kernel and kernel["symbol"] for kernel in one["history"]] == [
        None,
        rows[0]["Symbol"],
        None,
    ]
    out, _, _ = run("trend", str(tmp_path))
    assert out.startswith("3 builds, 1 → 3 · none affected · 1 as before again\n")
    assert out.endswith(" same   █   2, 3  any_block(int*)  2: new; 3: gone\n")


def test_a_kernel_that_a_build_between_lacks_is_listed(tmp_path: Path) -> None:
    rows = kernels()
    for build, found in (("1", rows), ("2", rows[1:]), ("3", rows)):
        add(tmp_path, build, found)
    (one,) = document(tmp_path)["kernels"]
    assert (one["status"], waves(one), one["why"]) == ("same", [8, None, 8], "2: gone; 3: new")


def test_markdown_lists_the_kernels_of_the_text(tmp_path: Path) -> None:
    rows = kernels()
    larger = rows[1] | {"Code_Size": 1 << 20}
    nights = (("1", rows), ("2", [worse(rows[0]), *rows[1:]]), ("3", [rows[0], larger, *rows[2:]]))
    for build, found in nights:
        add(tmp_path, build, found)
    within = "<summary>moved within their steps or only renamed</summary>"
    back = "<summary>as before again</summary>"
    out, _, code = run("trend", str(tmp_path), "--format", "markdown")
    assert (code, within in out, back in out) == (0, False, True)
    out, _, _ = run("trend", str(tmp_path), "--format", "markdown", "--moved")
    _, moved = out.split(within)
    moved, came_back = moved.split(back)
    assert "| moved | 3 |" in moved
    assert "| same | 2, 3 |" in came_back
    assert "2: VGPR" in came_back


def test_shards_may_have_files_of_one_address(tmp_path: Path) -> None:
    """Containers build in folders of one name."""
    rows = kernels()
    for build, last in (("1", rows[1]), ("2", worse(rows[1]))):
        add(tmp_path, build, [rows[0]], name="a", Labels='{"commit": "1"}')
        add(tmp_path, build, [last], name="b", Labels='{"date": "2"}')
    found = document(tmp_path)
    assert [one["kernels"] for one in found["builds"]] == [2, 2]
    assert found["builds"][0]["labels"] == {"commit": "1", "date": "2"}
    assert [one["status"] for one in found["kernels"]] == ["worse"]


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
        (("--builds", "night-8,night-9,night-8"), "lists a build twice"),
        (("--since", "night-12"), "has 1 build, but a comparison needs two"),
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


def test_builds_of_0_2_are_read_next_to_newer_ones(tmp_path: Path) -> None:
    rows = kernels()
    add_by_0_2(tmp_path, "1", rows)
    add_by_0_2(tmp_path, "2", [worse(rows[0]), *rows[1:]])
    add(tmp_path, "3", [worse(rows[0]), *rows[1:]])
    found = document(tmp_path)
    assert [build["kernels"] for build in found["builds"]] == [len(rows)] * 3
    assert [step["counts"] for step in found["steps"]] == [{"worse": 1}, {}]
    (one,) = found["kernels"]
    assert (one["library"], waves(one)) == ("librows.so", [8, 4, 4])


def test_a_version_in_the_names_changes_nothing(tmp_path: Path) -> None:
    rows = kernels()
    for build, first in (("0.50.2", rows[0]), ("0.51.0", rows[0]), ("0.52.0.dev1", worse(rows[0]))):
        path = f"tool-{build}/lib/librows-1a2b3c4d.so.{build[:4]}"
        add(tmp_path, build, [first, *rows[1:]], path)
    found = document(tmp_path)
    assert [step["counts"] for step in found["steps"]] == [{}, {"worse": 1}]
    (one,) = found["kernels"]
    assert (one["library"], one["match"]) == ("librows.so", "exact")
    assert one["history"][2]["code_object"] == "tool-0.52.0.dev1/lib/librows-1a2b3c4d.so.0.52"


def test_the_path_decides_between_kernels_that_share_a_name(tmp_path: Path) -> None:
    """Two libraries of one name: their kernels change places, which no sum shows."""
    fast, rest = kernels()[0], kernels()[1:]
    slow = worse(fast)
    for build, (one, other) in (("1", (fast, slow)), ("2", (slow, fast))):
        add(tmp_path, build, [one, *rest], f"a-{build}.0/librows.so")
        add(tmp_path, build, [other], f"b-{build}.0/librows.so", name="other")
    found = document(tmp_path)["kernels"]
    assert {(one["status"], one["history"][0]["code_object"]) for one in found} == {
        ("worse", "a-1.0/librows.so"),
        ("better", "b-1.0/librows.so"),
    }


def test_a_kernel_is_not_paired_with_one_of_another_library(tmp_path: Path) -> None:
    rows = kernels()
    for build, ours, theirs in (("1", rows, rows[1:]), ("2", rows[1:], rows)):
        add(tmp_path, build, ours, "liba.so")
        add(tmp_path, build, theirs, "libb.so", name="other")
    found = document(tmp_path)["kernels"]
    assert {(one["status"], one["library"]) for one in found} == {
        ("gone", "liba.so"),
        ("new", "libb.so"),
    }


def test_a_renamed_library_is_compared_with_its_old_name(tmp_path: Path) -> None:
    rows = kernels()
    add(tmp_path, "1", rows, "libold.so")
    add(tmp_path, "2", [worse(rows[0]), *rows[1:]], "libnew.so")
    assert document(tmp_path)["steps"][0]["counts"] == {"worse": 1}


def test_only_a_compiler_that_changed_is_told_and_once(tmp_path: Path) -> None:
    """A library that is new brings its own compiler, which changes none."""
    rows = kernels()
    other = [row | {"Compiler": NEW_CLANG} for row in rows]
    add(tmp_path, "1", rows, "liba.so")
    add(tmp_path, "2", rows, "liba.so")
    add(tmp_path, "2", other, "libb.so", name="other")
    add(tmp_path, "3", other, "liba.so")
    add(tmp_path, "3", other, "libb.so", name="other")
    for format in ("text", "markdown"):
        out = run("trend", str(tmp_path), "--format", format)[0]
        assert out.count("clang") == 2
        assert "clang 19.1.7 → clang 22.1.8 in 1 of 2 libraries" in out


def test_waves_of_other_sizes_are_compared_as_percent(tmp_path: Path) -> None:
    """The same waves per SIMD, of half as many slots."""
    rows = [row | {"Target": "gfx1100", "Compiled_For": "gfx1100"} for row in kernels()]
    rows = [row | {"Waves_Per_SIMD": 8.0, "Occupancy_Percent": 50.0} for row in rows]
    add(tmp_path, "1", [row | {"Wave_Size": 32} for row in rows])
    add(tmp_path, "2", [rows[0] | {"Wave_Size": 64, "Occupancy_Percent": 25.0}, *rows[1:]])
    moves = document(tmp_path)["kernels"][0]["steps"][0]["moves"]
    assert {move["measure"] for move in moves} >= {"percent", "wave_size"}
    assert "waves_per_simd" not in {move["measure"] for move in moves}
    assert "50 → 25 % of the wave slots" in document(tmp_path)["kernels"][0]["why"]


@pytest.mark.parametrize("by", ["library", "target", "limiter", "waves"])
def test_groups_sum_up_all_kernels(by: str, tmp_path: Path) -> None:
    five(tmp_path)
    found = document(tmp_path, "--by", by)
    for side, build in (("old", found["builds"][0]), ("new", found["builds"][-1])):
        for name in ("kernels", "waves_per_simd", "spilling", "vgprs", "code_bytes"):
            assert sum(group[side][name] for group in found["groups"]) == build[name]
    assert sum(group["waves_lost"] for group in found["groups"]) == 4
    lines = run("trend", str(tmp_path), "--by", by)[0].splitlines()
    heading = next(n for n, line in enumerate(lines) if line.split()[:2] == [by, "kernels"])
    assert len(lines) - heading - 1 == len(found["groups"])
    out = run("trend", str(tmp_path), "--by", by, "--format", "csv")[0]
    written = list(csv.DictReader(io.StringIO(out)))
    assert len(written) == 2 * len(found["groups"])
    for column, name in (("Worst_Spills", "worst_spills"), ("Code_Size", "code_bytes")):
        sums = [group[side][name] for group in found["groups"] for side in ("old", "new")]
        assert [int(row[column]) for row in written] == sums


def test_rows_say_in_which_library_and_on_which_target(tmp_path: Path) -> None:
    rows = kernels()
    for build, of in (("1", rows), ("2", [worse(rows[0]), *rows[1:]])):
        for number, target in enumerate(("gfx90a", "gfx942")):
            built = [row | {"Target": target, "Compiled_For": target} for row in of]
            add(tmp_path, build, built, f"lib{target}.so", name=f"p{number}")
    for format in ("text", "markdown", "html"):
        out = run("trend", str(tmp_path), "--format", format)[0]
        for target in ("gfx90a", "gfx942"):
            lines = [line for line in out.splitlines() if f"lib{target}.so" in line]
            assert lines
            assert any("any_block" in line and target in line for line in lines)


def test_a_wheel_s_kernels_name_their_file(tmp_path: Path) -> None:
    """Without its version; `--by library` sums up the wheel."""
    rows = kernels()
    for build, of in (("1.0", rows), ("2.0", [worse(rows[0]), *rows[1:]])):
        member = f"demo/lib/librows.so.{build}/hipv4-amdgcn-amd-amdhsa--gfx90a"
        built = [row | {"Member": member} for row in of]
        add(tmp_path, build, built, f"demo-{build}-py3-none-any.whl")
    markdown = run("trend", str(tmp_path), "--format", "markdown")[0]
    assert "| demo › librows.so | gfx942 | 1 |" in markdown
    assert "in demo › librows.so on gfx942:" in run("trend", str(tmp_path))[0]


def test_many_builds_are_folded_to_those_that_moved(tmp_path: Path) -> None:
    rows = kernels()
    for number in range(1, 31):
        add(tmp_path, str(number), [worse(rows[0]) if number > 17 else rows[0], *rows[1:]])
    lines = run("trend", str(tmp_path))[0].splitlines()
    assert [line.split()[0] for line in lines[3:8]] == ["1", "…", "18", "…", "30"]
    assert "16 builds without a kernel affected" in lines[4]
    assert lines[-1].split()[1] == "█" * 9 + "▅" * 7


@pytest.mark.parametrize("labels", ["", "[]", "7", "{", '"x"', "[" * 100_000, '{"a": {"b": 1}}'])
def test_damaged_labels_are_left_out(labels: str, tmp_path: Path) -> None:
    for build in ("1", "2"):
        add(tmp_path, build, kernels(), Labels=labels)
    assert run("trend", str(tmp_path))[2] == 0


def test_a_version_in_every_name_costs_nothing(tmp_path: Path) -> None:
    """51 builds of 20,040 kernels. In CPU time, the least of three tries each; and in memory."""
    from .many_nights import write

    least = {}
    for version in (False, True):
        fleet = tmp_path / str(version)
        write(fleet, kernels()[0], builds=51, libraries=40, symbols=167, version=version)
        command = [sys.executable, "-m", "kernelinfo", "trend", str(fleet)]
        costs = [cost(command, Path.cwd()) for _ in range(3)]
        assert [one.exit for one in costs] == [0] * 3
        assert max(one.megabytes for one in costs) < 600
        least[version] = min(one.cpu_seconds for one in costs)
    assert least[True] <= 1.5 * least[False]
    found = json.loads(run("trend", str(tmp_path / "True"), "--format", "json")[0])
    assert [build["kernels"] for build in found["builds"]] == [20_040] * 51
    assert [(one["library"], one["status"]) for one in found["kernels"]] == [
        ("liblib0.so", "worse")
    ] * 3


@pytest.mark.parametrize("width", [60, 80])
def test_text_keeps_to_the_width(width: int, tmp_path: Path) -> None:
    five(tmp_path)
    out, _, code = run("trend", str(tmp_path), "--width", str(width))
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > width] == []
    below = [line for line in out.splitlines() if line.strip() == "affected: 1 worse"]
    assert len(below) == 1, "what happened since the build before stands whole, below its row"


def wandering(fleet: Path) -> Rows:
    """Six builds in which kernels move within their steps; one is affected, one renamed. Adds the
    rows of the last two as reports to compare."""
    rows = kernels()
    for number in range(6):
        if number == 2:
            rows[0] = worse(rows[0])
        if number == 4:
            name = {"Symbol": "_ZN2v24scanEPf", "Kernel_Name": "v2::scan(float*)"}
            rows[1] = rows[1] | name | {"Code_Size": 4}
        for place in range(2, 3 + 2 * number):
            rows[place] = rows[place] | {"Code_Size": rows[place]["Code_Size"] + 4}
        rows[0] = rows[0] | {"Code_Size": rows[0]["Code_Size"] + 4}
        if number == 3:
            rows[1] = rows[1] | {"Symbol": "_ZN2v14scanEPf", "Kernel_Name": "v1::scan(float*)"}
        add(fleet, f"n{number}", rows)
    return rows


def test_the_count_of_a_pair_is_one_number_in_every_window(tmp_path: Path) -> None:
    wandering(tmp_path / "fleet")
    names = [f"n{number}" for number in range(6)]
    counted: dict[tuple[str, ...], set[str]] = {}
    for first in (0, 2, 4):
        for last in {first + 1, 5}:
            for more in ((), ("--moved",)) if first else ((),):
                window = ",".join(names[first : last + 1])
                found = document(tmp_path / "fleet", "--builds", window, *more)
                for step in found["steps"]:
                    pair = step["old"], step["new"]
                    counted.setdefault(pair, set()).add(json.dumps(step["counts"]))
                out, _, _ = run("trend", str(tmp_path / "fleet"), "--builds", window, *more)
                whole = out.splitlines()[0].partition(" · affected")[2] or out.splitlines()[0]
                counted.setdefault((names[first], names[last], "headline"), set()).add(
                    whole.partition("within")[0]
                )
    assert {pair: len(found) for pair, found in counted.items()} == dict.fromkeys(counted, 1)
    assert json.loads(counted["n4", "n5"].pop())["moved"] == 12


def test_the_count_of_a_pair_is_that_of_diff(tmp_path: Path) -> None:
    rows = kernels()
    moved = [row | {"Code_Size": row["Code_Size"] + place % 3} for place, row in enumerate(rows)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in moved))
    for build, of in (("a", rows), ("b", moved), ("c", [worse(row) for row in moved])):
        add(tmp_path / "fleet", build, of)
    sides = (str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    compared = json.loads(run("diff", *sides, "--format", "json")[0])
    number = sum(one["status"] == "moved" for one in compared["kernels"])
    assert document(tmp_path / "fleet")["steps"][0]["counts"] == {"moved": number}


CUT = "ELF file cut off at byte 4096"


@pytest.mark.parametrize("at", [0, 1, 2, 3], ids="gap at {}".format)
def test_a_damaged_file_is_a_gap_and_the_loss_keeps_its_date(at: int, tmp_path: Path) -> None:
    """Half of the library's kernels are missing in one of five builds; one loses waves in n2."""
    before = kernels()
    after = [worse(before[0]), *before[1:]]
    nights = [before, before, after, after, after]
    for number, rows in enumerate(nights):
        cut = {"damage": CUT} if number == at else {}
        add(tmp_path, f"n{number}", rows[len(rows) // 2 :] if cut else rows, **cut)
    out, err, code = run("trend", str(tmp_path), "--format", "json")
    name = f"{tmp_path}: 1 problem in n{at} (incomplete: librows.so)"
    assert (err, code) == (f"{name}: kernels may be missing there\n", 0)
    found = json.loads(out)
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(found)
    assert [build["gaps"] for build in found["builds"]][at] == ["librows.so"]
    (loss,) = found["kernels"]
    assert (loss["status"], loss["moved_in"]) == ("worse", ["n3" if at == 2 else "n2"])
    assert [one is None for one in waves(loss)] == [number == at for number in range(5)]
    assert run("trend", str(tmp_path), "--fail-on", "regression")[2] == 1
    assert "gap: librows.so" in run("trend", str(tmp_path))[0]


def test_a_kernel_that_ends_behind_a_gap_is_gone_when_that_is_seen(tmp_path: Path) -> None:
    rows = kernels()
    add(tmp_path, "n0", rows)
    add(tmp_path, "n1", [], damage=CUT)
    add(tmp_path, "n2", rows[1:])
    found = json.loads(run("trend", str(tmp_path), "--format", "json")[0])
    assert [(one["status"], one["moved_in"]) for one in found["kernels"]] == [("gone", ["n2"])]


def test_a_problem_of_every_build_is_no_gap(tmp_path: Path) -> None:
    rows = kernels()
    for build, of in (("n0", rows), ("n1", rows[1:]), ("n2", rows[1:])):
        add(tmp_path, build, of, damage=CUT)
    out, err, code = run("trend", str(tmp_path), "--format", "json")
    assert ("a gap" in err, code) == (False, 2)
    (gone,) = json.loads(out)["kernels"]
    assert (gone["status"], gone["moved_in"]) == ("gone", ["n1"])


def test_the_last_build_cannot_be_judged_if_it_is_damaged(tmp_path: Path) -> None:
    rows = kernels()
    add(tmp_path, "n0", rows)
    add(tmp_path, "n1", rows[1:], damage=CUT)
    out, err, code = run("trend", str(tmp_path), "--format", "json")
    assert (json.loads(out)["kernels"], code) == ([], 2)
    assert "1 problem in n1 (incomplete: librows.so): kernels may be missing there" in err


def labelled(number: int) -> str:
    return json.dumps({"commit": f"c{number:03}"})


@pytest.mark.parametrize("builds", [2, 20, 300])
def test_a_loss_has_its_commits_whatever_the_window(builds: int, tmp_path: Path) -> None:
    """It is between the last build that was read and the one that has it, and a pair of builds
    counts the same however many there are."""
    rows, lost, damaged = kernels()[:6], builds - builds // 4 - 1 or 1, builds // 2
    after = [worse(rows[0]), *(row | {"Code_Size": row["Code_Size"] + 4} for row in rows[1:])]
    for number in range(builds):
        cut = {"damage": CUT} if number == damaged and builds > 2 else {}
        night = rows if number < lost else after
        name = f"n{number:03}"
        add(tmp_path, name, night[3:] if cut else night, Labels=labelled(number), **cut)
    commits = f"c{lost - 1:03}..c{lost:03}"
    windows = [(), ("--builds", f"n{lost - 1:03},n{lost:03}"), ("--since", f"n{lost - 1:03}")]
    for window in windows:
        found = json.loads(run("trend", str(tmp_path), "--format", "json", *window)[0])
        (loss,) = found["kernels"]
        assert (loss["moved_in"], loss["commits"]) == ([f"n{lost:03}"], [commits])
        counts = {step["new"]: step["counts"] for step in found["steps"]}
        assert counts.pop(f"n{lost:03}") == {"worse": 1, "moved": 5}
        assert not any(counts.values())
    place = f"n{lost:03} {commits}"
    assert place in run("trend", str(tmp_path))[0]
    assert f"| {place} |" in run("trend", str(tmp_path), "--format", "markdown")[0]
    assert place in run("trend", str(tmp_path), "--format", "html")[0]
    out = run("trend", str(tmp_path), "--format", "csv")[0]
    assert {row["Commits"] for row in csv.DictReader(io.StringIO(out))} == {commits}


@pytest.mark.parametrize(
    ("labels", "gaps", "commits"),
    [
        (["a", "b", "c", "d"], [], "b..c"),
        (["a", "b", "c", "d"], [1], "a..c"),
        (["a", None, "c", "d"], [], "a..c"),
        (["a", "b", None, "d"], [], "b..d"),
        ([None, None, "c", "d"], [], None),
        (["a", "b", None, None], [], None),
        (["f" * 40, "b" * 40, "c" * 40, "d" * 40], [], f"{'b' * 40}..{'c' * 40}"),
    ],
)
def test_the_range_of_commits_holds_the_one_that_did_it(
    labels: list[str | None], gaps: list[int], commits: str | None, tmp_path: Path
) -> None:
    rows = kernels()[:2]
    for number, label in enumerate(labels):
        night = [worse(rows[0]), rows[1]] if number > 1 else rows
        stated = json.dumps({"commit": label}) if label else None
        cut = {"damage": CUT} if number in gaps else {}
        add(tmp_path, f"n{number}", night[1:] if cut else night, Labels=stated, **cut)
    found = json.loads(run("trend", str(tmp_path), "--format", "json")[0])
    (loss,) = found["kernels"]
    assert (loss["moved_in"], loss["commits"]) == (["n2"], [commits])
    out = run("trend", str(tmp_path))[0]
    brief = ".." not in out.splitlines()[-1] if commits is None else "bbbb..cccc" in out
    assert brief or f"n2 {commits}" in out or f"n2 {'b' * 12}..{'c' * 12}  " in out
