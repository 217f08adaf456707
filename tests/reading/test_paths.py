"""Patterns of paths: what they match, and in how many steps."""

from __future__ import annotations

import json
import os
from glob import glob
from pathlib import Path

import pytest

from kernelinfo.watch import FileTree

from ..messages import codes, do_lines_match
from ..test_golden import run

TEXT = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\nk:\n s_endpgm\n; Kernel info:\n; NumVgprs: 8\n'


def read_by(pattern: str, folder: Path) -> list[str]:
    """Paths of the files that are read."""
    out, _, _ = run(pattern, "--format", "json", folder=folder)
    return [item["path"] for item in json.loads(out)["inputs"]]


def test_a_pattern_matches_a_path_or_a_folder_above(tmp_path: Path) -> None:
    for name in ("a/b/c.s", "a/**/c.s"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(TEXT)
    for pattern, found in (
        *(("**/c.s", 2), ("a/**/**/c.s", 2), ("**/b/**", 1), ("a/b", 1), ("**", 2), ("a/b/**", 1)),
        *(("**/b/*/d", 0), ("b/**", 0), ("a/b/**/c", 0), ("a/[*][*]/c.s", 1), ("?" * 5000, 0)),
    ):
        assert len(read_by(pattern, tmp_path)) == found, pattern


def test_patterns_of_a_thousand_parts_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the command line, in a configuration and in a `.gitignore`."""
    monkeypatch.chdir(tmp_path)
    deep = Path(*"abcdefghijklmnopqrstuvwxyz")
    deep.mkdir(parents=True)
    (deep / "k.s").touch()
    for pattern in ("**/" * 1000 + "x.s", "**/*/" * 300 + "x.s", "*/" * 1000 + "x.s"):
        _, err, code = run(pattern, folder=tmp_path)
        assert (code, codes(err)) == (2, ["glob-without-match"])
        Path("kernelinfo.toml").write_text(f'paths = ["{pattern}"]\n')
        assert run("check", folder=tmp_path)[2] == 2
        (tmp_path / ".gitignore").write_text(f"{pattern}\n")
        assert FileTree(".").snapshot().keys() > {f"./{deep}/k.s"}


def test_a_glob_finds_what_the_shell_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a/k.s", "a/b/k.s", "b/k.s", ".h/k.s", "a/.k.s", "[x]/k.s"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(TEXT)
    os.symlink("nothing", "dangling.s")
    for pattern in ("*/k.s", "*/*/k.s", "a/*.s", ".*/*", "[ab]/k.s", "[[]x]/*", "d*", "./*/k.s"):
        for start in ("", f"{tmp_path}/"):
            found = [os.path.normpath(path) for path in read_by(start + pattern, tmp_path)]
            files = [path for path in glob(start + pattern) if os.path.isfile(path)]
            assert {*found} == {*map(os.path.normpath, files)}, pattern


def test_links_do_not_multiply_what_a_glob_matches(tmp_path: Path) -> None:
    for number in range(41):  # 41³ is a little more than 65,536
        os.symlink(".", tmp_path / str(number))
    _, err, code = run("*/" * 30 + "k.s", folder=tmp_path)
    assert (code, do_lines_match(err, "glob-too-wide 65536")) == (2, True)


def test_folders_are_nested_deeper_than_python_recurses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernelinfo.toml").write_text("paths = 3\n")
    deep = f"{tmp_path}/" + "a/" * 1500
    _, err, code = run("check", f"{deep}k.s", folder=tmp_path)
    assert (code, "kernelinfo.toml" in err) == (2, True)
    assert FileTree(deep).snapshot() == {}
