"""Every JSON document names its schema in one way, ships it, and follows it."""

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

RENDER = Path(kernelinfo.__path__[0], "render")
SCHEMAS = {
    found["$id"]: found
    for found in (json.loads(path.read_text("utf-8")) for path in RENDER.rglob("*-schema.json"))
}
OBJECT = "code_object/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"
TEXT = "assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
VARIETY = "assembly/variety-clang22-gfx90a.s"
LINES = {
    "report": ("report", TEXT),
    "diff": ("diff", TEXT, OBJECT),
    "pressure": ("pressure", TEXT),
    "calc": ("calc", "gfx942", "--vgpr", "96", "--lds", "16k"),
    "calc with a device": ("calc", "--device", "MI300X", "--vgpr", "96", "--grid", "1000"),
    "calc as compilers": ("calc", "gfx90a", "--vgpr", "96", "--as-llvm", "19", "--as-hip", "after"),
    "curve": ("calc", "gfx942", "--vary", "vgpr,lds"),
    "curve of sizes": ("calc", "gfx1100", "--vgpr", "96", "--best"),
    "limits": ("limits", "RX 7900 XTX"),
    "arch": ("arch",),
    "arch with a target": ("arch", "gfx942"),
    "rules": ("rules",),
    "counts": ("report", VARIETY, "--by", "limiter"),
    "counts by waves": ("report", VARIETY, "--by", "waves"),
    "counts by library": ("report", VARIETY, TEXT, "--by", "library"),
    "columns": ("report", VARIETY, "--columns", "kernel,waves,limiters,exact,findings,member"),
    "diff-counts": ("diff", TEXT, VARIETY, "--by", "target"),
    "diff-targets": ("diff", TEXT, OBJECT, "--as", "gfx90a,MI300X"),
    "diff-targets without a pair": ("diff", TEXT, VARIETY, "--as", "gfx90a,gfx950"),
    "compare-profile": ("compare-profile", "profile/kernel_trace.csv", OBJECT),
    "compare-profile with a device": (
        *("compare-profile", "profile/kernel_trace.csv", OBJECT, "--device", "MI250"),
    ),
}
"""Schema, and a case of it -> the command line of a document."""


@pytest.mark.parametrize("case", LINES)
def test_a_document_follows_the_schema_that_it_names(case: str) -> None:
    out, _, code = run(*LINES[case], "--format", "json")
    assert code == 0
    document = json.loads(out)
    assert document["schema"].startswith(f"kernelinfo/{case.partition(' ')[0]}/")
    assert list(document)[:2] == ["schema", "version"]
    Draft202012Validator(SCHEMAS[document["schema"]]).validate(document)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_says_what_it_is(name: str) -> None:
    family, _, version = name.removeprefix("kernelinfo/").partition("/")
    assert name.startswith("kernelinfo/")
    assert family
    assert version.isdecimal()
    Draft202012Validator.check_schema(SCHEMAS[name])
    for key, about in properties(SCHEMAS[name]):
        assert about.get("description") or "$ref" in about, (name, key)


def test_lines_of_pressure_are_its_rows() -> None:
    schema = SCHEMAS["kernelinfo/pressure-row/1"]
    out, err, code = run("pressure", VARIETY, "--format", "jsonl")
    assert (err, code) == ("", 0)
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        Draft202012Validator(schema).validate(line)
    rows = [*csv.DictReader(io.StringIO(run("pressure", VARIETY, "--format", "csv")[0]))]
    assert len(rows) == len(lines) == 26
    assert [*rows[0]] == [*lines[0]] == schema["required"]
    assert [row["Vector_Peak"] for row in rows] == [str(line["Vector_Peak"]) for line in lines]


def properties(schema: Any) -> list[tuple[str, Any]]:
    """All keys of objects in a schema, with what it says of them."""
    if isinstance(schema, list):
        return [pair for one in schema for pair in properties(one)]
    if not isinstance(schema, dict):
        return []
    own = schema.get("properties")
    found = [*own.items()] if isinstance(own, dict) else []
    return found + [pair for one in schema.values() for pair in properties(one)]


def test_reports_and_baselines_of_older_names_are_read(tmp_path: Path) -> None:
    saved, baseline = tmp_path / "saved.json", tmp_path / "baseline.json"
    run(TEXT, "-o", str(saved))
    run("check", TEXT, "--baseline", str(baseline), "--update-baseline")
    for file, name, older in (
        (saved, "kernelinfo/report/1", "kernelinfo/1"),
        (baseline, "kernelinfo/baseline/2", "kernelinfo-baseline/2"),
    ):
        text = file.read_text("utf-8")
        assert f'"schema": "{name}"' in text
        file.write_text(text.replace(f'"{name}"', f'"{older}"'), "utf-8")
        out, _, code = run("diff", str(file), TEXT)
        assert ("none affected" in out, code) == (True, 0)
    assert run("check", TEXT, "--baseline", str(baseline), "--exit-zero")[2] == 0
