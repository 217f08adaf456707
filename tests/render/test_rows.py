"""JSON, JSON lines, CSV and `Report.rows()` have the same kernels, each with its own key."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kernelinfo
from kernelinfo import Options, Report, Result, analyse
from kernelinfo.kernel import Item
from kernelinfo.render import View

from ..conftest import FIXTURES, every_file, fixtures_and_shared
from ..outputs import outputs
from ..test_golden import run
from .fleets import fleet

SCHEMAS = {
    path.name: json.loads(path.read_text("utf-8"))
    for path in Path(kernelinfo.__path__[0], "render").rglob("*-schema.json")
}
COLUMNS = list(SCHEMAS["row-schema.json"]["required"])
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
REPEATS_ITSELF = "hostile/bundle/duplicate-ids.hipfb"
"""Its table names the same bytes twice under one id."""


def written(items: Iterable[Item], format: str) -> str:
    return "".join(outputs("report")[format](items, View()))


def keys(rows: Iterable[Mapping[str, object]]) -> Counter[tuple[object, ...]]:
    return Counter(
        tuple(one[name] for name in ("Path", "Member", "Offset", "Symbol")) for one in rows
    )


@fixtures_and_shared
def test_every_row_of_every_file(roots: Sequence[str]) -> None:
    """The same in each format, none with the key of another; each new shape of row is valid."""
    validator, shapes = Draft202012Validator(SCHEMAS["row-schema.json"]), set()
    for path in every_file(roots):
        report = Report.of(analyse([path], Options()))
        rows = json.loads(json.dumps(report.rows()))
        assert [json.loads(line) for line in written(report.results, "jsonl").splitlines()] == rows
        document = written((*report.results, *report.problems), "json")
        assert_one_line_each(document)
        assert_documented(rows, json.loads(document)["kernels"])
        for row in rows:
            assert list(row) == COLUMNS
            shape = tuple(type(value) for value in row.values())
            if shape not in shapes:
                validator.validate(row)
                shapes.add(shape)
        if not path.endswith(REPEATS_ITSELF):
            assert max(keys(rows).values(), default=1) == 1, path
    assert len(shapes) > 20


def assert_one_line_each(document: str) -> None:
    """Kernels, inputs and problems stand on lines of their own, as json writes them."""
    lines = [line.removesuffix(",") for line in document.splitlines()]
    values = json.loads(document)
    for one in (*values["kernels"], *values["inputs"], *values["problems"]):
        assert f"  {json.dumps(one)}" in lines


def assert_documented(rows: list[dict[str, Any]], kernels: list[dict[str, Any]]) -> None:
    """Rows have the numbers of the document."""
    for row, kernel in zip(rows, kernels, strict=True):
        expected = numbers(kernel)
        assert {name: row[name] for name in expected} == expected


def numbers(kernel: dict[str, Any]) -> dict[str, object]:
    """Numbers of a row, taken from the JSON document."""
    used, spills, occupancy = kernel["used"], kernel["spills"], kernel["occupancy"] or {}
    allocated = (kernel["allocated"] if occupancy else None) or {}
    step: dict[str, Any] = next(iter(occupancy.get("next", ())), {})
    return {
        "Kernel_Name": kernel["name"],
        "Symbol": kernel["symbol"],
        "Wave_Size": kernel["wave_size"],
        "Workgroup_Size": kernel["workgroup"]["assumed"] if occupancy else None,
        "VGPR_Count": allocated.get("arch_vgprs"),
        "Accum_VGPR_Count": allocated.get("agprs"),
        "SGPR_Count": allocated.get("sgprs"),
        "LDS_Block_Size": allocated.get("lds_bytes"),
        "Scratch_Size": used["scratch_bytes_per_lane"],
        "Dynamic_Stack": kernel["flags"]["dynamic_stack"],
        "VGPR_Used": used["vgprs"],
        "AGPR_Used": used["agprs"],
        "SGPR_Used": used["sgprs"],
        "VGPR_Spills": spills["vgprs"],
        "SGPR_Spills": spills["sgprs"],
        "Code_Size": kernel["code_bytes"],
        "Waves_Per_SIMD": occupancy.get("waves_per_simd"),
        "Occupancy_Percent": occupancy.get("percent"),
        "Exact": occupancy.get("exact"),
        "Launchable": occupancy.get("launchable"),
        "Limiters": occupancy.get("limiters"),
        "Next_Resource": step.get("resource"),
        "Next_Change": step.get("change"),
        "Next_Waves_Per_SIMD": step.get("waves_per_simd"),
        "Findings": [finding["rule"] for finding in kernel["findings"]],
    }


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("rocrand.so.1", marks=pytest.mark.needs("librocrand")),
        pytest.param("rocsparse.so.0", marks=pytest.mark.needs("librocsparse")),
    ],
)
def test_rows_of_libraries_have_the_numbers_of_the_document(library: str) -> None:
    """Of the first thousand kernels, many of which state the same numbers."""
    path = LIBRARIES / f"lib{library}"
    report = Report.of(islice(analyse([str(path)], Options()), 1000))
    rows = [json.loads(line) for line in written(report.results, "jsonl").splitlines()]
    assert len(rows) > 500
    assert max(keys(rows).values()) == 1
    assert_documented(rows, json.loads(written(report.results, "json"))["kernels"])


def test_csv_holds_the_values_of_the_lines() -> None:
    report = Report.of(analyse([str(FIXTURES / "container")], Options()))
    table = [*csv.DictReader(io.StringIO(written(report.results, "csv")))]
    for cells, row in zip(table, report.rows(), strict=True):
        assert list(cells) == COLUMNS
        assert cells["Symbol"] == row["Symbol"]
        for name, value in row.items():
            if isinstance(value, int | float) or value is None:
                shown = "" if value is None else json.dumps(value)
                assert cells[name].lower() == shown, name


def test_equal_kernels_but_for_a_size_that_one_does_not_state() -> None:
    (result, *_) = kernelinfo.load(FIXTURES / "code_object/occupancy-clang22-gfx90a.co").results
    unsaid = result._replace(kernel=result.kernel._replace(code_bytes=None))
    lines = written([result, unsaid, result], "jsonl").splitlines()
    size = result.kernel.code_bytes
    assert [json.loads(line)["Code_Size"] for line in lines] == [size, None, size]


def test_any_name_is_written_as_json_writes_it() -> None:
    [result, *_] = (item for item in fleet(1) if isinstance(item, Result))
    for name in ("", "größe", '"\\\n\t\x1b', "\udcff", "𝄞"):
        kernel = result.kernel._replace(name=name, symbol=name)
        document = written([result._replace(kernel=kernel)], "json")
        assert_one_line_each(document)
        assert json.loads(document)["kernels"][0]["name"] == name


def test_no_cell_is_a_formula() -> None:
    """Spreadsheets trim cells, and some take full-width signs."""
    [result, *_] = (item for item in fleet(1) if isinstance(item, Result))
    for name in ("=1+1", " =1", "\u3000=1", "＝1", "@x", "'=1", "' -1", "k", " k"):
        text = written([result._replace(kernel=result.kernel._replace(symbol=name))], "csv")
        (row,) = csv.DictReader(io.StringIO(text))
        assert row["Symbol"].lstrip()[:1] not in tuple("=+-@＝＋－＠"), name
        assert row["Symbol"].endswith(name[-1])


def test_lines_of_pressure_follow_their_schema() -> None:
    validator = Draft202012Validator(SCHEMAS["pressure-row-schema.json"])
    out, _, _ = run("pressure", "assembly/variety-clang22-gfx90a.s", "--format", "jsonl")
    for line in out.splitlines():
        validator.validate(json.loads(line))


def test_every_key_of_a_schema_says_what_it_is() -> None:
    """Rows of tests/contract hold documents to the schemas that they name."""
    for file, schema in SCHEMAS.items():
        family, _, version = schema["$id"].removeprefix("kernelinfo/").partition("/")
        assert file.startswith(family)
        assert version.isdecimal()
        Draft202012Validator.check_schema(schema)
        for key, about in properties(schema):
            assert about.get("description") or "$ref" in about, (file, key)


def properties(schema: Any) -> list[tuple[str, Any]]:
    """All keys of objects in a schema, with what it says of them."""
    if isinstance(schema, list):
        return [pair for one in schema for pair in properties(one)]
    if not isinstance(schema, dict):
        return []
    own = schema.get("properties")
    pairs = [*own.items()] if isinstance(own, dict) else []
    return pairs + [pair for one in schema.values() for pair in properties(one)]
