"""Names of kernels and files are no commands to a CI service that shows what is printed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.fuzz.specimens import Specimen, code_object
from tests.test_golden import run

NAMES = ["::error::owned", " ::error file=a::b", "##[error]owned", "###[group]x", "##vso[task]"]
FILE = "##[error]::warning::k.co"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kernels = [Specimen(name, 64, 8, 40, 1024, 64, 256) for name in NAMES]
    (tmp_path / FILE).write_bytes(code_object(kernels))
    return tmp_path


@pytest.mark.parametrize("format", ["text", "json", "jsonl", "csv", "markdown", "html", "junit"])
@pytest.mark.parametrize("command", [["report", FILE], ["diff", FILE, FILE], ["check", FILE]])
def test_no_line_is_a_command(command: list[str], format: str, folder: Path) -> None:
    out, err, _ = run(*command, "--format", format, folder=folder)
    if (command[0], format) in (("report", "csv"), ("report", "html"), ("check", "junit")):
        assert "owned" in out
    assert "##[" not in out + err
    assert "##vso[" not in out + err
    assert not [line for line in (out + err).splitlines() if line.lstrip().startswith("::")]


@pytest.mark.parametrize("format", ["json", "sarif", "gitlab"])
def test_documents_of_the_gate(format: str, folder: Path) -> None:
    out, _, _ = run("check", FILE, "--format", format, folder=folder)
    json.loads(out)
    assert "##[" not in out


@pytest.mark.parametrize("format", ["csv", "markdown", "jsonl", "html"])
def test_a_file_has_the_names_as_they_are(format: str, folder: Path) -> None:
    run("report", FILE, "--format", format, "-o", "out", folder=folder)
    assert "##[error]owned" in (folder / "out").read_text("utf-8")


def test_json_reads_back(folder: Path) -> None:
    out, _, _ = run("report", FILE, "--format", "json", folder=folder)
    assert {kernel["symbol"] for kernel in json.loads(out)["kernels"]} == set(NAMES)


def test_rows_of_csv_begin_no_command(folder: Path) -> None:
    out, _, _ = run("report", FILE, "--format", "csv", folder=folder)
    symbols = [row["Symbol"] for row in csv.DictReader(io.StringIO(out))]
    assert symbols[:2] == ["'::error::owned", "' ::error file=a::b"]
