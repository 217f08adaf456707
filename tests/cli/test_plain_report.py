"""`kernelinfo PATH...` says the same whoever reads its arguments."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

TEXT = str(FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s")
OBJECT = str(FIXTURES / "code_object" / "variety-clang22-gfx942.co")
BROKEN = str(FIXTURES / "broken" / "truncated.co")


@pytest.fixture(autouse=True)
def _nothing_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))


def answer(folder: Path, *arguments: str) -> tuple[str, str, int]:
    return run(*arguments, folder=folder)


@pytest.mark.parametrize(
    "arguments",
    [
        (TEXT,),
        (OBJECT, TEXT),
        (BROKEN, OBJECT),
        (OBJECT, "--format", "jsonl"),
        ("--format", "jsonl", OBJECT, BROKEN),
        ("nowhere.co",),
        (str(FIXTURES / "code_object" / "tiny*"), "--format", "jsonl"),
        ("-",),
        ("",),
        ("report", OBJECT),
        ("report", TEXT, "--format", "csv"),
        ("--format", "markdown", "check"),
        ("report", "report", "--format", "json"),
        (TEXT, "--format", "html", "-o", "report.html"),
        (TEXT, "-o", "nowhere/report.txt"),
        ("check", TEXT),
        ("check",),
        ("check", "--exit-zero", TEXT, "--format", "sarif", "-o", "found.sarif"),
        ("check", OBJECT, BROKEN, "--format", "csv", "--exit-zero"),
        ("check", OBJECT, "--config", "nowhere.toml"),
        ("check", OBJECT, "--baseline", "nowhere.json"),
        ("check", OBJECT, "--format", "xml"),
    ],
    ids=lambda arguments: " ".join(Path(argument).name for argument in arguments),
)
def test_the_parser_of_options_says_the_same(arguments: tuple[str, ...], tmp_path: Path) -> None:
    # The default of an option, given, is the parser's.
    assert answer(tmp_path, *arguments) == answer(tmp_path, *arguments, "--color", "auto")


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        ((OBJECT,), {"typer", "lark", "rich"}),
        ((TEXT,), {"typer", "lark", "elftools", "msgpack", "dataclasses", "json"}),
        (("--version",), {"typer", "kernelinfo.analysis", "kernelinfo.model"}),
        (
            ("check", TEXT),
            {"elftools", "lark", "msgpack", "rich"},
        ),
        (("diff", TEXT, TEXT), {"elftools", "lark", "msgpack", "rich"}),
        (("limits", "gfx942"), {"elftools", "lark", "msgpack", "rich"}),
    ],
    ids=["object", "text", "version", "check", "diff", "limits"],
)
def test_a_command_imports_no_more_than_it_uses(
    arguments: tuple[str, ...], absent: set[str], tmp_path: Path
) -> None:
    if TEXT in arguments and not list((FIXTURES.parent / "grammars").glob("*.tables")):
        pytest.skip("only an install compiles the grammars, and none was made of this tree")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "kernelinfo"\n[tool.other]\n')
    code = (
        "import sys\nfrom kernelinfo.cli import app\ntry:\n    app()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    imported = set(done.stderr.split())
    assert "kernelinfo.cli" in imported
    assert not absent & imported


@pytest.mark.parametrize("folder", ["", "below/deeper"])
def test_a_configuration_is_heeded(folder: str, tmp_path: Path) -> None:
    (tmp_path / "kernelinfo.toml").write_text('ignore = ["KI"]\n')
    place = tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    assert "KI302" not in answer(place, TEXT)[0]
    (tmp_path / "kernelinfo.toml").unlink()
    assert "KI302" in answer(place, TEXT)[0]


def test_what_configures_another_tool_need_not_be_valid(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other\n")
    assert answer(tmp_path, TEXT)[1:] == answer(tmp_path, TEXT, "--color", "auto")[1:] == ("", 0)


@pytest.mark.parametrize("arguments", [("--format", "xml"), ("--format",), ("-o",), ("-o", "")])
def test_what_means_nothing_is_refused(arguments: tuple[str, ...], tmp_path: Path) -> None:
    _, err, code = answer(tmp_path, OBJECT, *arguments)
    assert (bool(err), code) == (True, 2)


@pytest.mark.parametrize("arguments", [("--format=csv",), ("--format=jsonl",), ("-q",)])
def test_other_options_are_the_parsers(arguments: tuple[str, ...], tmp_path: Path) -> None:
    out, _, code = answer(tmp_path, OBJECT, *arguments)
    assert (bool(out), code) == (True, 0)
    assert out != answer(tmp_path, OBJECT)[0]
