"""A dozen whole texts, one of each shape, and the numbers of every kernel of every fixture.

`pytest --regen` rewrites them for review.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

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
VARIETY = [f"assembly/variety-clang{name}.s" for name in ("15-gfx90a", "22-gfx90a", "22-gfx942")]
OLD, NEW, _ = VARIETY
TEXTS = {
    "report.txt": f"assembly/{OCCUPANCY}.s",
    "report-of-many.txt": NEW,
    "report-of-a-library.txt": "container/libtwo.so",
    "report.md": f"{NEW} --format markdown --top 10",
    "report.json": "code_object/handwritten.co --format json",
    "problem.txt": "broken/unknown-target.s",
    "explain.txt": f"explain assembly/{OCCUPANCY}.s vgprbound --block 256",
    "limits.txt": "limits --arch gfx90a",
    "diff.txt": f"diff {OLD} {NEW}",
    "diff.md": f"diff {OLD} {NEW} --format markdown",
}
"""File in fixtures/expected/ -> the command line that writes it."""
SCHEMA = json.loads(
    Path(sys.modules["kernelinfo"].__path__[0], "render", "report-schema.json").read_text("utf-8")
)
_OBJECTS = ("<bound method ", "<function ", "<class '", "<generator object ", " object at 0x")
"""How Python prints what was never meant to be text."""


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
    for text in (out.getvalue(), err.getvalue()):
        printed = [words for words in _OBJECTS if words in text]
        assert not printed, f"{shlex.join(arguments)} prints a Python object: {printed}"
    return out.getvalue(), err.getvalue(), code


def compare(name: str, text: str, regenerate: bool) -> None:
    path = EXPECTED / name
    if regenerate:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


def test_whole_texts(regenerate: bool) -> None:
    """Their sentences are codes and facts: see tests/whole_texts.py."""
    command = [sys.executable, "-m", "tests.whole_texts"]
    done = subprocess.run(command, cwd=FIXTURES.parent, capture_output=True, text=True, check=True)
    texts = json.loads(done.stdout)
    for name in TEXTS:
        compare(name, texts[name], regenerate)


def test_every_kernel_of_every_fixture(regenerate: bool) -> None:
    """Exit code and number of problems of each fixture, then its kernels."""
    validator, lines = Draft202012Validator(SCHEMA), []
    for name in INPUTS:
        out, err, code = run(name, "--format", "json")
        document = json.loads(out)
        if name.startswith(("container/", "broken/")):  # rows of tests/contract hold to it, too
            validator.validate(document)
        kernels = document["kernels"]
        assert document["summary"]["kernels"] == len(kernels)
        assert (code == 2) == bool(err)
        lines += [f"{name} {code} {len(err.splitlines())}", *map(_in_short, kernels)]
    compare("kernels.txt", "\n".join(lines) + "\n", regenerate)


def _in_short(kernel: dict[str, Any]) -> str:
    """The numbers of a kernel of a document, and by its first letter where each is from."""
    places = sorted(kernel["provenance"].items())
    numbers = [kernel[group] for group in ("used", "allocated", "spills", "flags")]
    occupancy = kernel["occupancy"] or {}
    steps = [f"{step['resource']}{step['change']:+}" for step in occupancy.get("next", ())]
    facts = (
        kernel["symbol"],
        kernel["target"],
        *(kernel["wave_size"], kernel["wgp_mode"], kernel["code_bytes"]),
        *(kernel["workgroup"]["declared_max"], kernel["workgroup"]["assumed"]),
        *("/".join(map(_brief, group.values())) if group else "-" for group in numbers),
        *(occupancy.get("waves_per_simd"), occupancy.get("exact")),
        *("+".join(occupancy.get("limiters", ())), "+".join(steps)),
        "/".join(map(_brief, (kernel["compiler_occupancy"] or {}).values())),
        "".join(place["from"][0] for _, place in places),
        "+".join(finding["rule"] for finding in kernel["findings"]),
    )
    return "  " + " ".join(map(_brief, facts))


def _brief(value: object) -> str:
    if isinstance(value, bool):
        return "y" if value else "n"
    return "-" if value in (None, "") else str(value)


def test_nothing_else_is_expected() -> None:
    """A golden file without its test would never be looked at again."""
    there = {path.relative_to(EXPECTED).as_posix() for path in EXPECTED.rglob("*.*")}
    others = {name for name in there if name.startswith("pressure/")}
    assert there - others == {*TEXTS, "kernels.txt", "messages.txt"}
