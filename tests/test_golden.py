"""The whole output for every fixture; `pytest --regen` rewrites it for review."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kernelinfo.__main__ import main

from .conftest import FIXTURES

EXPECTED = FIXTURES / "expected"
INPUTS = sorted(
    path.relative_to(FIXTURES).as_posix()
    for folder in ("assembly", "code_object", "container", "broken")
    for path in (FIXTURES / folder).iterdir()
)
OCCUPANCY = "occupancy-hip-amdgcn-amd-amdhsa-gfx90a"
DOCUMENTS = (
    f"assembly/{OCCUPANCY}.s",
    f"code_object/{OCCUPANCY}.out",
    "code_object/handwritten.co",
    "container/libtwo.so",
    "broken/unknown-target.s",
)
VARIETY = [f"assembly/variety-clang{name}.s" for name in ("15-gfx90a", "22-gfx90a", "22-gfx942")]
DIFFS = {
    "compilers": VARIETY[:2],
    "targets": [*VARIETY[1:], "--across-targets"],
    "subset": ["container/tiny.hipfb", "code_object/tiny-v6-clang22-gfx90a.co"],
}
SCHEMA = json.loads(
    Path(sys.modules["kernelinfo"].__path__[0], "render", "report-schema.json").read_text("utf-8")
)


def run(*arguments: str, folder: Path = FIXTURES) -> tuple[str, str, int]:
    """Standard output, standard error and exit code of the command line."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    before = sys.argv
    sys.argv = ["kernelinfo", *arguments]
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        finally:
            sys.argv = before
    return out.getvalue(), err.getvalue(), code


def compare(name: str, text: str, regenerate: bool) -> None:
    path = EXPECTED / name
    if regenerate:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("name", INPUTS)
def test_report(name: str, regenerate: bool) -> None:
    out, err, code = run(name)
    compare(f"{name}.txt", f"{out}--- standard error, exit code {code}\n{err}", regenerate)
    assert (code == 2) == bool(err)
    assert out or code == 2


@pytest.mark.parametrize("name", DOCUMENTS)
def test_json(name: str, regenerate: bool) -> None:
    out, _, _ = run(name, "--format", "json")
    compare(f"{name}.json", out, regenerate)
    Draft202012Validator(SCHEMA).validate(json.loads(out))


@pytest.mark.parametrize("name", INPUTS)
def test_json_of_every_fixture_is_valid(name: str) -> None:
    out, _, _ = run(name, "--format", "json")
    document = json.loads(out)
    Draft202012Validator(SCHEMA).validate(document)
    assert document["summary"]["kernels"] == len(document["kernels"])


@pytest.mark.parametrize("kernel", ["empty", "vgprbound", "ldsbound", "sgprbound"])
def test_explain(kernel: str, regenerate: bool) -> None:
    out, err, code = run("explain", f"assembly/{OCCUPANCY}.s", kernel, "--block", "256")
    assert (err, code) == ("", 0)
    compare(f"explain/{kernel}.txt", out, regenerate)


@pytest.mark.parametrize("target", ["gfx90a", "gfx906", "gfx1100", "gfx1250"])
def test_limits(target: str, regenerate: bool) -> None:
    out, _, code = run("limits", "--arch", target)
    assert code == 0
    compare(f"limits/{target}.txt", out, regenerate)


@pytest.mark.parametrize("name", DIFFS)
def test_diff(name: str, regenerate: bool) -> None:
    for format, ending in (("text", "txt"), ("markdown", "md")):
        out, err, code = run("diff", *DIFFS[name], "--format", format)
        assert (err, code) == ("", 0)
        compare(f"diff/{name}.{ending}", out, regenerate)


def test_markdown(regenerate: bool) -> None:
    out, err, code = run(VARIETY[1], "--format", "markdown", "--top", "10")
    assert (err, code) == ("", 0)
    compare(f"{VARIETY[1]}.md", out, regenerate)


def test_nothing_else_is_expected() -> None:
    """A golden file without its test would never be looked at again."""
    reports = {f"{name}.txt" for name in INPUTS} | {f"{name}.json" for name in DOCUMENTS}
    reports |= {f"{VARIETY[1]}.md", "messages.txt"} | {
        f"diff/{name}.{end}" for name in DIFFS for end in ("md", "txt")
    }
    found = {path.relative_to(EXPECTED).as_posix() for path in EXPECTED.rglob("*.*")}
    others = ("explain/", "limits/", "pressure/")
    assert {name for name in found if not name.startswith(others)} == reports
