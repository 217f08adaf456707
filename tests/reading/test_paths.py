"""Patterns of paths: what they match, and in how many steps."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path

import pytest

from kernelinfo.reading import paths
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.containers import files
from kernelinfo.reading.paths import configurations, fits
from kernelinfo.watch.files import FolderTree

from ..test_golden import run


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b/c.s", "**/c.s", True),
        ("c.s", "**/c.s", True),
        ("a/b/c.s", "a/**/**/c.s", True),
        ("a/b/c.s", "**/b/**", True),
        ("a/b/c.s", "a/b", True),  # a folder above
        ("a/b/c.s", "**", True),
        ("a/b/c.s", "**/b/*/d", False),
        ("a/b/c.s", "b/**", False),
        ("a/b", "a/b/**/c", False),
        ("a/b", "a/b/**", True),
        ("a/**/c", "a/[*][*]/c", True),
        ("a", "?" * 5000, False),
        ("a", "", False),
    ],
)
def test_a_pattern_matches_a_path_or_a_folder_above(
    path: str, pattern: str, expected: bool
) -> None:
    assert fits(path, pattern) is expected


@pytest.mark.parametrize(
    "pattern",
    ["**/" * 14 + "x", "**/a/" * 14 + "x", "**/*/" * 14 + "x", "**/a*/**/*a/" * 7 + "x"],
)
def test_a_name_is_compared_once_with_each_part(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def match(name: str, part: str) -> bool:
        compared.append(part)
        return fnmatchcase(name, part)

    monkeypatch.setattr(paths, "fnmatchcase", match)
    assert not fits("/".join("a" * 60), pattern)
    assert len(compared) <= 60 * len(pattern.split("/"))


def test_patterns_of_a_thousand_parts_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the command line, in a configuration and in a `.gitignore`."""
    monkeypatch.chdir(tmp_path)
    deep = Path(*"abcdefghijklmnopqrstuvwxyz")
    deep.mkdir(parents=True)
    (deep / "k.s").touch()
    for pattern in ("**/" * 1000 + "x.s", "**/*/" * 300 + "x.s", "*/" * 1000 + "x.s"):
        _, err, code = run(pattern, folder=tmp_path)
        assert (code, err.count("\n")) == (2, 1)
        assert "matches no file" in err
        Path("kernelinfo.toml").write_text(f'paths = ["{pattern}"]\n')
        assert run("check", folder=tmp_path)[2] == 2
        (tmp_path / ".gitignore").write_text(f"{pattern}\n")
        assert FolderTree(".").snapshot().keys() > {f"./{deep}/k.s"}


def test_a_glob_finds_what_the_shell_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a/k.s", "a/b/k.s", "b/k.s", ".h/k.s", "a/.k.s", "[x]/k.s"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    os.symlink("a", "link")
    os.symlink("nothing", "dangling.s")
    for pattern in ("*/k.s", "*/*/k.s", "a/*.s", ".*/*", "[ab]/k.s", "[[]x]/*", "d*", "./*/k.s"):
        for start in ("", f"{tmp_path}/"):
            found = files._expanded(start + pattern)[0]
            assert [*map(os.path.normpath, found)] == sorted(
                map(os.path.normpath, glob(start + pattern))
            )


def test_links_do_not_multiply_what_a_glob_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_MOST_MATCHES", 100)
    os.symlink(".", tmp_path / "one")
    os.symlink(".", tmp_path / "two")
    (found,) = files.find(f"{tmp_path}/" + "*/" * 30 + "k.s")
    assert isinstance(found, Problem)
    assert found.message == "matches more than 100 files or folders; give a narrower pattern"


def test_folders_are_nested_deeper_than_python_recurses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernelinfo.toml").touch()
    deep = f"{tmp_path}/" + "a/" * 1500
    assert str(tmp_path / "kernelinfo.toml") in configurations(deep + "a")
    assert FolderTree(deep).snapshot() == {}
