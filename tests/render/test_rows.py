"""CSV, JSON lines and `Report.rows()` have the same rows, each with its own key."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kernelinfo import Options, Report, analyse, load
from kernelinfo.compare.saved_rows import rows_of_csv
from kernelinfo.kernel import Result
from kernelinfo.kernel.rows import row
from kernelinfo.render import View, renderer
from kernelinfo.render.csv import line
from tests.conftest import FIXTURES, every_file, fixtures_and_shared
from tests.test_golden import run

SCHEMA = json.loads(
    Path(sys.modules["kernelinfo"].__path__[0], "render", "row-schema.json").read_text("utf-8")
)
COLUMNS = list(SCHEMA["required"])
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
LIBRARY = LIBRARIES / "librocsparse.so.0"
REPEATS_ITSELF = "hostile/bundle/duplicate-ids.hipfb"
"""Its table names the same bytes twice under one id."""
FEATURED = "code_object/tiny-v5-clang19-gfx90a-features.co"
PADDED = "code_object/occupancy-clang22-gfx90a.co"


def written(report: Report, format: str) -> str:
    return "".join(renderer(format)(report.results, View()))


def keys(rows: Iterable[Mapping[str, object]]) -> Counter[tuple[object, ...]]:
    return Counter(
        tuple(one[name] for name in ("Path", "Member", "Offset", "Symbol")) for one in rows
    )


@fixtures_and_shared
def test_every_row_of_every_file(roots: Sequence[str]) -> None:
    """Valid, the same in each format, and none with the key of another."""
    validator, kernels = Draft202012Validator(SCHEMA), 0
    for path in every_file(roots):
        report = Report.of(analyse([path], Options()))
        rows = json.loads(json.dumps(report.rows()))
        lines = [json.loads(line) for line in written(report, "jsonl").splitlines()]
        assert lines == rows
        assert_documented(report)
        for one in rows:
            assert list(one) == COLUMNS
            validator.validate(one)
        if not path.endswith(REPEATS_ITSELF):
            assert max(keys(rows).values(), default=1) == 1, path
        kernels += len(rows)
    assert kernels > 300


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


def assert_documented(report: Report) -> None:
    """Rows have the numbers of the document."""
    kernels = json.loads(written(report, "json"))["kernels"]
    lines = written(report, "jsonl").splitlines()
    for kernel, text in zip(kernels, lines, strict=True):
        one, expected = json.loads(text), numbers(kernel)
        assert {name: one[name] for name in expected} == expected


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("rocrand.so.1", marks=pytest.mark.needs("librocrand")),
        pytest.param("rocsparse.so.0", marks=pytest.mark.needs("librocsparse")),
    ],
)
def test_rows_of_libraries_have_the_numbers_of_the_document(library: str) -> None:
    """The first thousand kernels; many state the same numbers. `python -m
    tests.render.test_rows` tries all of librocsparse."""
    path = LIBRARIES / f"lib{library}"
    report = Report.of(islice(analyse([str(path)], Options()), 1000))
    assert len(report.results) > 500
    assert_documented(report)


@pytest.mark.needs("librocsparse")
def test_no_two_kernels_of_a_library_share_a_key() -> None:
    """Keys of the first 10,000 kernels; `python -m tests.render.test_rows` tries all 88,137."""
    assert max(keys_of_library(10_000).values()) == 1


def keys_of_library(most: int | None) -> Counter[tuple[object, ...]]:
    items = islice(analyse([str(LIBRARY)], Options()), most)
    return keys(row(item) for item in items if isinstance(item, Result))


@pytest.mark.parametrize("folder", ["assembly", "code_object", "container"])
def test_csv_holds_the_values_of_the_lines(folder: str) -> None:
    report = Report.of(analyse([str(FIXTURES / folder)], Options()))
    rows = json.loads(json.dumps(report.rows()))
    text = written(report, "csv")
    assert list(rows_of_csv(text)) == rows
    assert {len(cells) for cells in csv.reader(io.StringIO(text))} == {len(COLUMNS)}


def test_equal_kernels_but_for_a_size_that_one_does_not_state() -> None:
    (result, *_) = load(FIXTURES / PADDED).results
    assert result.kernel.code_bytes
    unsaid = result._replace(kernel=result.kernel._replace(code_bytes=None))
    report = Report((result, unsaid, result), ())
    sizes = [json.loads(line)["Code_Size"] for line in written(report, "jsonl").splitlines()]
    assert sizes == [result.kernel.code_bytes, None, result.kernel.code_bytes]


def test_the_target_is_where_it_runs_and_says_its_features() -> None:
    (own, *_) = load(FIXTURES / FEATURED).rows()
    assert own["Target"] == own["Compiled_For"] == "gfx90a:sramecc+:xnack-"
    (elsewhere, *_) = load(FIXTURES / PADDED, Options(run_as="gfx950")).rows()
    assert (elsewhere["Target"], elsewhere["Compiled_For"]) == ("gfx950", "gfx90a")


def test_names_are_as_asked_for() -> None:
    for format in ("csv", "jsonl"):
        out, _, _ = run("assembly/variety-clang22-gfx942.s", "--format", format, "--names", "short")
        assert "stride<unsigned long, -2>" in out
        assert "(unsigned long*)" not in out


@pytest.mark.parametrize("name", ["=1+1", " =1", "\u3000=1", "＝1", "@x", "'=1", "' -1", "k", " k"])
def test_no_cell_is_a_formula(name: str) -> None:
    """Spreadsheets trim cells, and some take full-width signs; what is guarded reads back."""
    [(cell,)] = csv.reader([line([name]).rstrip("\n")])
    assert cell.lstrip()[:1] not in tuple("=+-@＝＋－＠")
    [row] = rows_of_csv("Symbol\n" + line([name]))
    assert row["Symbol"] == name.replace("\u3000", "\\u3000")


if __name__ == "__main__":
    counted = keys_of_library(None)
    print(f"{counted.total()} kernels, {len(counted)} keys")
    items = analyse([str(LIBRARY)], Options())
    while found := [*islice(items, 1000)]:
        assert_documented(Report.of(found))
    print("rows have the numbers of the document")
