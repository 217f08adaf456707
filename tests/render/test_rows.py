"""CSV, JSON lines and `Report.rows()` have the same rows, each with its own key."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kernelinfo import Options, Report, analyse, load
from kernelinfo.compare.saved_rows import rows_of_csv
from kernelinfo.kernel import Result
from kernelinfo.kernel.rows import row
from kernelinfo.render import View, renderer
from kernelinfo.render.csv import line
from tests.conftest import FIXTURES, every_file
from tests.test_golden import run

SCHEMA = json.loads(
    Path(sys.modules["kernelinfo"].__path__[0], "render", "row-schema.json").read_text("utf-8")
)
COLUMNS = list(SCHEMA["properties"])
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/librocsparse.so.0")
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


def test_every_row_of_every_file() -> None:
    """Valid, the same in each format, and none with the key of another."""
    validator, kernels = Draft202012Validator(SCHEMA), 0
    for path in every_file():
        report = Report.of(analyse([path], Options()))
        rows = json.loads(json.dumps(report.rows()))
        lines = [json.loads(line) for line in written(report, "jsonl").splitlines()]
        assert lines == rows
        for one in rows:
            assert list(one) == COLUMNS
            validator.validate(one)
        if not path.endswith(REPEATS_ITSELF):
            assert max(keys(rows).values(), default=1) == 1, path
        kernels += len(rows)
    assert kernels > 300


@pytest.mark.skipif(not LIBRARY.exists(), reason="librocsparse is not installed")
def test_no_two_kernels_of_a_library_share_a_key() -> None:
    """Of its first 10,000; `python -m tests.render.test_rows` counts all 88,137."""
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
    assert result.kernel.code_size
    unsaid = result._replace(kernel=result.kernel._replace(code_size=None))
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


if __name__ == "__main__":
    counted = keys_of_library(None)
    print(f"{counted.total()} kernels, {len(counted)} keys")


@pytest.mark.parametrize("name", ["=1+1", " =1", "\u3000=1", "＝1", "@x", "'=1", "' -1", "k", " k"])
def test_no_cell_is_a_formula(name: str) -> None:
    """Spreadsheets trim cells, and some take full-width signs; what is guarded reads back."""
    [(cell,)] = csv.reader([line([name]).rstrip("\n")])
    assert cell.lstrip()[:1] not in tuple("=+-@＝＋－＠")
    [row] = rows_of_csv("Symbol\n" + line([name]))
    assert row["Symbol"] == name.replace("\u3000", "\\u3000")
