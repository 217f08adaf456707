"""Advice on launch bounds speaks the language of the source, and names a sweep that can run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..sweep.compilers import script
from ..test_golden import run

SPILLS = (FIXTURES / "assembly" / "spills-clang22-gfx90a.s").read_text()
STAMP = re.compile(r'\t\.ident\t"Debian clang [^"]*"\n')
LAUNCH_BOUNDS = "__launch_bounds__"


def advice(folder: Path, text: str, *others: str) -> str:
    """The advice of KI302 and KI303 on kernels of assembly."""
    (folder / "k.s").write_text(text)
    out, _, _ = run("k.s", "--select", "KI302,KI303", "--format", "json", *others, folder=folder)
    kernels = json.loads(out)["kernels"]
    return "\n".join(finding["hint"] for one in kernels for finding in one["findings"])


def line_of(file: str) -> str:
    """Assembly whose kernels are of a file."""
    return re.sub(r"(?m)^(_Z\w+:.*)$", rf'\1\n\t.file\t1 "/src" "{file}"\n\t.loc\t1 9 0', SPILLS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STAMP.sub("", SPILLS), ("loosen the launch bound", "size with the launch bound")),
        (line_of("k.cl"), ("amdgpu_flat_work_group_size", "reqd_work_group_size")),
        (line_of("k.py"), ("waves_per_eu or num_warps", "with num_warps")),
    ],
    ids=["unknown", "OpenCL", "Triton"],
)
def test_launch_bounds_are_named_to_hip_alone(
    text: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    assert LAUNCH_BOUNDS in advice(tmp_path, SPILLS)
    hints = advice(tmp_path, text)
    assert LAUNCH_BOUNDS not in hints
    assert all(word in hints for word in words)


def test_a_source_has_the_command_that_shows_looser_bounds(tmp_path: Path) -> None:
    (tmp_path / "k 1.hip").touch()
    (tmp_path / "made.s").write_text(SPILLS)
    copy = f'while [ "$1" != -o ]; do shift; done; cp "{tmp_path}/made.s" "$2"'
    compiler = script(tmp_path / "clang++", copy)
    words = ("k 1.hip", "--arch", "gfx90a", "--compiler", compiler, "-k", "without_bound")
    out, _, code = run(*words, "--width", "900", "--", "-DN=3", folder=tmp_path)
    assert code == 0
    bound = "without_bound --launch-bounds 64 --arch gfx90a"
    assert out.count(f"sweep 'k 1.hip' {bound} --compiler {compiler} -- -DN=3`") == 2
    out, _, _ = run("explain", *words, "--width", "900", "--", "-DN=3", folder=tmp_path)
    assert "128, a launch of 512 allows 256" in out
    bound = bound.replace("64", "512")
    assert f"`kernelinfo sweep 'k 1.hip' {bound} --compiler {compiler} -- -DN=3`" in out


def test_bounds_of_explain_are_those_of_the_language(tmp_path: Path) -> None:
    for text, words in ((SPILLS, "__launch_bounds__(N)"), (STAMP.sub("", SPILLS), "bound of N")):
        (tmp_path / "k.s").write_text(text)
        assert words in run("explain", "k.s", "hint_reached", folder=tmp_path)[0]
