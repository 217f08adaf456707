"""One file is read once, whatever names it has in a run."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from hashlib import md5
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..containers import OBJECT, TABLES
from ..messages import says
from ..test_golden import run

TEXT = FIXTURES / "assembly" / "tiny-v6-clang22-gfx90a.s"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    shutil.copy(TEXT, tmp_path / "out" / "a.s")
    os.symlink("a.s", tmp_path / "out" / "z.s")
    os.symlink("out", tmp_path / "link")
    return tmp_path


def symbols(*arguments: str, folder: Path) -> list[str]:
    out, err, code = run(*arguments, "--format", "jsonl", folder=folder)
    assert (err, code) == ("", 0)
    return [json.loads(line)["Symbol"] for line in out.splitlines()]


@pytest.mark.parametrize(
    "paths",
    [
        ("out/a.s", "out/a.s"),
        ("out/*.s", "out/a*"),
        ("out/a.s", "out/z.s"),
        ("out/a.s", "out/**/z.s"),
        ("out", "out/a.s", "link"),
        ("out", "link", "--jobs", "2"),
    ],
    ids=" ".join,
)
def test_a_file_of_several_names(paths: tuple[str, ...], build: Path) -> None:
    assert symbols("report", *paths, folder=build) == symbols("out/a.s", folder=build)


def test_standard_input_named_twice(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (build / "out" / "a.s").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert symbols("report", "-", "-", folder=build) == symbols("out/a.s", folder=build)


def test_other_commands_read_it_once(build: Path) -> None:
    code_object = FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co"
    shutil.copy(code_object, build / "out" / "b.co")
    paths = "out", "out/b.co", "link/*.co", "--all-copies"
    kernels = len(symbols("out", "--all-copies", folder=build))
    _, err, code = run("check", *paths, "--min-kernels", str(kernels + 1), folder=build)
    assert (f"{kernels} kernels found" in err, code) == (True, 2)
    assert run("extract", *paths[:3], "-o", "codes", folder=build)[2] == 0
    assert len(list((build / "codes").iterdir())) == 1


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A database of MIOpen with one row in it, and one in its write-ahead log."""
    (tmp_path / "cache").mkdir()
    path = tmp_path / "cache" / "cache.kdb"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"CREATE TABLE kern_db {TABLES['kern_db']}")
    for name in ("a.o", "b.o"):
        connection.execute(
            "INSERT INTO kern_db (kernel_name, kernel_args, kernel_blob, kernel_hash, "
            "uncompressed_size) VALUES (?, ?, ?, ?, ?)",
            (name, "-mcpu=x", OBJECT, md5(OBJECT).hexdigest(), 0),
        )
        connection.commit()
        if name == "a.o":
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("cache.kdb", "cache.kdb-wal"):  # closing would empty the log
        shutil.copy(tmp_path / "cache" / name, tmp_path / name)
    connection.close()
    shutil.rmtree(tmp_path / "cache")
    return tmp_path


@pytest.mark.parametrize(
    "paths",
    [(".",), ("cache.*",), ("cache.kdb-wal", "cache.kdb"), ("cache.kdb",)],
    ids=" ".join,
)
def test_a_database_is_read_with_its_log(paths: tuple[str, ...], cache: Path) -> None:
    assert len(symbols("report", *paths, folder=cache)) == 4


def test_a_log_alone_is_searched(cache: Path) -> None:
    _, err, code = run("cache.kdb-wal", folder=cache)
    assert (says(err, "code-damaged-by-header"), code) == (True, 2)
