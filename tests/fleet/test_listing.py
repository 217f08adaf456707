"""The stored form of URLs, and groups of files that are read together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ..conftest import require

require("fsspec")

from kernelinfo.analysis.options import Options
from kernelinfo.fleet.listing import SHARED_BYTES, InputFile, address, find, tasks, units
from kernelinfo.fleet.scanning import list_files, make_request


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("https://user:word@host:1/a/b.so?token=x#y", "https://host:1/a/b.so"),
        ("s3://bucket/a?b#c.co", "s3://bucket/a?b#c.co"),
        ("sftp://me:word@host/a.co", "sftp://host/a.co"),
        ("file:///a/b.co", "/a/b.co"),
        ("a/../b.co", os.path.abspath("b.co")),
    ],
)
def test_secrets_are_not_stored(url: str, stored: str) -> None:
    assert address(url) == stored


def file(url: str, size: int = 1) -> InputFile:
    return InputFile(url, url, size, "1", named=False)


def test_what_belongs_together_is_read_together() -> None:
    names = ("/c/k.json", "/c/k.hsaco", "/c/other.co", "/d/k.co", "s3://b/x.s", "s3://b/y.o")
    assert [[one.url for one in unit] for unit in units(map(file, names))] == [
        ["/c/k.json", "/c/k.hsaco"],
        ["/c/other.co"],
        ["/d/k.co"],
        ["s3://b/x.s", "s3://b/y.o"],
    ]


def test_large_files_are_shared_and_small_ones_gathered() -> None:
    large, *small = file("/l.so", 2 * SHARED_BYTES + 1), *(file(f"/{n}.co") for n in range(1000))
    found = tasks(units([large, *small]), 2, "run")
    assert [(task.share, task.shares) for task in found if large in task.files] == [
        (0, 3), (1, 3), (2, 3),
    ]  # fmt: skip
    rest = [one for task in found if large not in task.files for one in task.files]
    assert sorted(rest) == sorted(small)
    assert len(found) < 30


def test_local_files_are_relative_to_what_was_given(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.co").touch()
    for given in (tmp_path, tmp_path / "lib", tmp_path / "lib" / "a.co", tmp_path / "lib" / "*.co"):
        (found,) = find(str(given), 60, set())
        assert isinstance(found, InputFile)
        assert found.url == str(tmp_path / "lib" / "a.co")
        assert found.path == ("lib/a.co" if given == tmp_path else "a.co")


def test_a_file_of_two_roots_is_read_once_and_neither_root_is_without_kernels(
    tmp_path: Path,
) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("a.co", "c.kdb", "c.kdb-wal"):
        (tmp_path / "lib" / name).write_bytes(name.encode())
    (tmp_path / "link").symlink_to("lib")
    roots = [str(tmp_path / name) for name in ("lib", "link", "lib/a.co")]
    request = make_request(roots, str(tmp_path / "fleet"), "b", Options(), rows=None)
    listing = list_files(request)
    assert [one.path for one in listing.files] == ["a.co", "c.kdb", "c.kdb-wal"]
    assert [one.url for one in units(listing.files)[1]] == [
        str(tmp_path / "lib" / name) for name in ("c.kdb", "c.kdb-wal")
    ]
    assert listing.repeating == {*roots[1:3]}
