"""Names made to act on what shows them are only names: on a terminal, a page, a CI log."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from ..fuzz.promise import is_harmless
from ..fuzz.specimens import Specimen, code_object
from ..test_golden import run

NAMES = [
    "\x1b]0;title\x07\x1b[31mred",
    "\u202egnp.exe",
    "line\nbreak\rreturn",
    "=HYPERLINK(1)",
    "@SUM(A1)",
    "[bold]markup[/bold]",
    "<script>alert(1)</script>",
    "::error file=a::b",
    "a|b`c`<img src=x onerror=alert(1)>",
    "%0A::warning::x",
    "]]>&lt;\x0b",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kernels = [Specimen(name, 512, 0, 100, 65536, 64, 1024) for name in NAMES]
    data = code_object(kernels).replace(b"clang\0", b"\x1b[1m!\0")  # who compiled it
    (tmp_path / "k.co").write_bytes(data)
    (tmp_path / "kernelinfo.toml").write_text('[[budget]]\nkernel = "*"\nvgpr = "<=8"\n')
    return tmp_path


@pytest.mark.parametrize(
    "format",
    ["text", "json", "jsonl", "csv", "markdown", "sarif", "github", "gitlab", "junit"],
)
def test_check(format: str, folder: Path) -> None:
    out, err, code = run("check", "k.co", "--format", format, folder=folder)
    assert code == 1
    assert is_harmless(out + err)
    if format in ("json", "sarif", "gitlab"):
        assert json.loads(out)
    elif format == "junit":
        assert ElementTree.fromstring(out).tag == "testsuites"
    elif format == "markdown":
        assert "<script" not in out.replace("`<script>alert(1)</script>`", "")
        assert "<img" not in out
    elif format == "github":
        commands = [line for line in out.splitlines() if line.startswith("::")]
        assert all(
            line.startswith(("::error file=k.co", "::warning file=k.co")) for line in commands
        )
        assert "\nk.co: warning KI001" in out
        # GitHub decodes percent signs of commands alone; beyond the tenth they are lines of text.
        assert not any("%0A::warning" in line for line in commands)
        assert any("%250A::warning" in line for line in commands)


@pytest.mark.parametrize("command", [["report", "k.co"], ["diff", "k.co", "k.co"]])
@pytest.mark.parametrize("format", ["text", "json", "jsonl", "csv", "markdown", "html"])
def test_report_and_diff(command: list[str], format: str, folder: Path) -> None:
    out, err, _ = run(*command, "--format", format, folder=folder)
    assert is_harmless(out + err)
    if format in ("markdown", "html"):
        assert "<img src" not in out
        assert "<script>alert" not in out.replace("`<script>alert(1)</script>`", "")
    elif format == "csv":
        cells = [cell for row in csv.reader(out.splitlines()) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
