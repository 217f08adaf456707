"""Choosing rules: on the command line and in configuration files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from kernelinfo.reading.paths import may_configure
from tests.conftest import FIXTURES
from tests.test_golden import run

TEXT = str(FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s")


def rules(folder: Path, *arguments: str) -> list[tuple[str, str]]:
    out, err, code = run(TEXT, "--format", "json", *arguments, folder=folder)
    assert (err, code) == ("", 0)
    return [(f["rule"], f["severity"]) for k in json.loads(out)["kernels"] for f in k["findings"]]


BY_DEFAULT = [("KI106", "warning"), ("KI302", "warning")]


def test_by_default(tmp_path: Path) -> None:
    assert rules(tmp_path) == BY_DEFAULT


@pytest.mark.parametrize("select", ["KI3", "KI302", "at-cap-and-spilling", "KI201, KI302"])
def test_select_takes_numbers_their_beginnings_and_names(tmp_path: Path, select: str) -> None:
    assert rules(tmp_path, "--select", select) == [("KI302", "warning")]


def test_ignore_and_severity(tmp_path: Path) -> None:
    options = ("--ignore", "KI3", "--severity", "KI106=error")
    assert rules(tmp_path, *options) == [("KI106", "error")]


def test_a_file_says_the_same_and_the_command_line_overrides_it(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "kernels"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.kernelinfo]\nignore = ["KI106"]\nseverity = { KI302 = "error" }\n'
    )
    (tmp_path / "src" / "pyproject.toml").write_text("[tool.other]\n")
    assert rules(inner) == [("KI302", "error")]
    assert rules(inner, "--ignore", "KI5") == [("KI106", "warning"), ("KI302", "error")]
    assert rules(inner, "--severity", "KI3=note")[-1] == ("KI302", "note")
    (inner / "kernelinfo.toml").write_text('select = ["KI106"]\n')
    assert rules(inner) == [("KI106", "warning")]
    assert rules(inner, "--config", str(tmp_path / "pyproject.toml"))[-1] == ("KI302", "error")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selects = []", "1: selects: unknown key; did you mean select?"),
        ('select = "KI101"', 'select: \'KI101\'; write a list such as ["KI101", "KI2"]'),
        ('ignore = ["KI9"]', "1: ignore[0]: 'KI9': no such rule; `kernelinfo rules` lists them"),
        (
            'severity = { KI101 = "loud" }',
            '1: severity.KI101: \'loud\'; write "note", "warning" or "error"',
        ),
        ('severity = { KI9 = "note" }', "1: severity.KI9: 'KI9': no such rule"),
        ("select = [", "write valid TOML"),
    ],
)
def test_a_wrong_file_is_named_with_key_and_cure(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "kernelinfo.toml").write_text(text)
    out, err, code = run(TEXT, folder=tmp_path)
    assert (out, code) == ("", 2)
    assert "kernelinfo.toml:" in err
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--select", "KI9"), "'KI9': no such rule; `kernelinfo rules` lists them"),
        (("--select", ""), "'': no such rule"),
        (("--severity", "KI101"), "write RULE=error, RULE=warning or RULE=note"),
        (("--severity", "KI101=loud"), "write RULE=error, RULE=warning or RULE=note"),
        (("--config", "none.toml"), "none.toml: No such file or directory; give another file"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    out, err, code = run(TEXT, *options, folder=tmp_path)
    assert (out, code) == ("", 2)
    assert message in err


def test_every_rule_is_listed_in_one_line() -> None:
    out, _, code = run("rules")
    rows = json.loads(run("rules", "--format", "json")[0])["rules"]
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [row["rule"] for row in rows]
    assert {"KI101", "KI106", "KI302"} <= {row["rule"] for row in rows}


def test_explain_has_the_same_options(tmp_path: Path) -> None:
    out, _, code = run("explain", TEXT, "sgprbound", "--ignore", "KI3", folder=tmp_path)
    assert code == 0
    assert "KI106" in out
    assert "KI302" not in out
    assert "14 of these in loop .LBB3_2 at depth 1" in out


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ('[project]\nname = "kernelinfo"\n[tool.ruff]\ntyping-modules = ["kernelinfo.x"]\n', False),
        ("[tool.kernelinfo]\n", True),
        ("[[tool.kernelinfo.budget]]\n", True),
        ("[ tool . 'kernelinfo' ]\n", True),
        ('[tool]\nkernelinfo.select = ["KI001"]\n', True),
        ('tool = { "kernelinfo" = { min-kernels = 1 } }\n', True),
        ("tool.kernelinfo.min-kernels = 1\n", True),
    ],
)
def test_a_project_of_the_name_alone_configures_nothing(text: str, may: bool) -> None:
    assert may_configure(text.encode()) is may
    assert ("kernelinfo" in tomllib.loads(text).get("tool", {})) is may
