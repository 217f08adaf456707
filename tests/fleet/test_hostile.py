"""Servers, folders and datasets that mean harm: bounded, and each bad entry a row of problems."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import require
from ..messages import codes, says
from ..robustness.measure import measured
from ..test_golden import run
from .nights import NIGHTS, add, five, kernels
from .scans import OBJECTS, comparable, kernelinfo, process, reported, rows
from .servers import free_port, wait_for

require("duckdb")

HOSTILE_SERVER = Path(__file__).with_name("hostile_server.py")
OBJECT = OBJECTS / "handwritten.co"
MESSAGES = {
    "./a::b.co": "name-of-two-addresses",
    "bomb.co": "67108864",
    "control%01\\x1b[31m.co": "name-not-printable",
    "endless.co": "fetch-too-large 100000000",
    "endless/": "16777216",
    "gone.co": "404",
    "l" * 300 + ".co": "name too long",
    "local.co": "file:///etc/passwd",
    "longer.co": "fetch-incomplete",
    "mute.co": "store-silent",
    "self/" + "deeper/" * 32: "folders-nested 32",
    "shorter.co": "not completed",
    "slow.co": "store-silent",
    "tag.co": "more than 8190 bytes",
}
"""By the name of the entry, a part of the line about it."""


def test_each_bad_entry_of_a_server_is_a_row_and_the_rest_is_there(tmp_path: Path) -> None:
    port, fleet, log = free_port(), tmp_path / "fleet", tmp_path / "err"
    with process(HOSTILE_SERVER, port, OBJECT, quiet=True):
        wait_for(port)
        command = [sys.executable, "-m", "kernelinfo", "scan", f"http://127.0.0.1:{port}/"]
        command += ["--to", str(fleet), "--build", "b"]
        command += ["--timeout", "6", "--bound", "fetch=100000000"]
        with log.open("wb") as err_file, open(os.devnull, "wb") as nothing:
            cost = measured(command, Path.cwd(), stdout=nothing, stderr=err_file)
    code, _, _, megabytes = cost
    err = log.read_text("utf-8")
    told = dict(line.partition(f"127.0.0.1:{port}/")[2].split(": ", 1) for line in err.splitlines())
    assert code == 2
    assert told.keys() == {name.removeprefix("./") for name in MESSAGES}
    for name, message in MESSAGES.items():
        line = told[name.removeprefix("./")]
        plain = line.lower().replace("file name", "name")  # of the system and of aiohttp
        assert says(line, message) or message in plain, name
    assert {row["Path"] for row in rows(fleet)} == {"honest.co", "a", "a/b.co"}
    assert len(rows(fleet, table="problems")) == len(MESSAGES)
    assert megabytes < 488  # 512,000,000 bytes


def test_each_bad_entry_of_a_folder_is_a_row_and_the_rest_is_there(tmp_path: Path) -> None:
    folder, fleet = tmp_path / "build", tmp_path / "fleet"
    (folder / "deep").mkdir(parents=True)
    for name in ("honest.co", "a::b.co", "deep/[x].co"):
        shutil.copy(OBJECT, folder / name)
    expected = reported(folder)
    (folder / "self").symlink_to(".")
    (folder / "deep" / "up").symlink_to("..")
    (folder / "nowhere.co").symlink_to("gone.co")
    os.mkfifo(folder / "fifo.co")
    (folder / "cut.co").write_bytes(OBJECT.read_bytes()[:100])
    (folder / os.fsdecode(b"\xff.co")).write_bytes(OBJECT.read_bytes())
    given = (folder, folder / "nowhere.co", tmp_path / "nothing")
    _out, err, code = kernelinfo("scan", *given, "--to", fleet, "--build", "b")
    assert code == 2
    named = ("nowhere.co", "cut.co", "udcff.co", "nothing")
    assert all(any(name in line for line in err.splitlines()) for name in named), err
    assert comparable(rows(fleet)) == expected
    assert {"cut.co", "nowhere.co"} <= {
        Path(row["Path"]).name for row in rows(fleet, "b", "problems")
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "x", "--to", "y", "--build", "b"),
        ("scan", "/dev/null", "--to", "y", "--build", "b"),
        ("trend", "y"),
    ],
)
def test_a_deleted_current_folder_is_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    shell = f'mkdir "{tmp_path}/x" && cd "{tmp_path}/x" && rmdir "$PWD" && exec "$@"'
    command = ["sh", "-c", shell, "sh", sys.executable, "-m", "kernelinfo", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode, done.stderr.count("\n")) == ("", 2, 1), done.stderr
    assert codes(done.stderr) == ["folder-deleted"]


def test_what_is_not_there_makes_no_build(tmp_path: Path) -> None:
    out, err, code = kernelinfo(
        "scan", tmp_path / "nope", "--to", tmp_path / "fleet", "--build", "v3"
    )
    assert (out, code, err.count("\n")) == ("", 2, 1)
    assert "nope: no such file" in err
    assert not (tmp_path / "fleet").exists()
    out, err, code = run("trend", str(tmp_path / "fleet"))
    assert (out, code) == ("", 2)
    assert "dataset-empty" in codes(err)


@pytest.mark.parametrize("name", ["*", "night-?", "[n]ight-8", "a\x1b[31m", "a\nb", "night-8,x"])
def test_a_pattern_in_the_name_of_a_build_is_a_name(name: str, tmp_path: Path) -> None:
    five(tmp_path)
    for table in ("inputs", "kernels"):
        shutil.copytree(tmp_path / table / "Build=night-8", tmp_path / table / f"Build={name}")
    out, err, code = run("trend", str(tmp_path))
    assert (err, code) == ("", 0)
    assert "\x1b" not in out
    assert out.startswith("6 builds, ")
    shown = name.encode("unicode_escape").decode()
    (row,) = (line for line in out.splitlines() if line.startswith(f" {shown} "))
    assert row.removeprefix(f" {shown} ").split()[0] == "26"


def test_a_pattern_in_the_path_is_a_path(tmp_path: Path) -> None:
    for name in ("fleet[12]", "fleet1", "what?", "all*"):
        five(tmp_path / name)
    [file] = (tmp_path / "fleet1" / "inputs" / "Build=night-8").iterdir()
    file.write_bytes(b"not to be read")
    for name in ("fleet[12]", "what?", "all*"):
        out, err, code = run("trend", str(tmp_path / name))
        assert (err, code) == ("", 0)
        assert "affected: 1 worse · 1 only renamed" in out


@pytest.mark.parametrize("table", ["kernels", "inputs", "problems"])
def test_a_fifo_is_not_waited_for(table: str, tmp_path: Path) -> None:
    five(tmp_path)
    folder = tmp_path / table / "Build=night-8"
    folder.mkdir(exist_ok=True, parents=True)
    os.mkfifo(folder / "part.parquet")
    out, err, code = run("trend", str(tmp_path))
    assert (out, code, codes(err)) == ("", 2, ["dataset-not-regular"])


def test_columns_of_lists_are_one_line(tmp_path: Path) -> None:
    """Lists cannot be added up for a build; a column that is not read changes nothing."""
    import duckdb

    five(tmp_path)
    usual, refused = run("trend", str(tmp_path)), set()
    [file] = (tmp_path / "kernels" / f"Build={NIGHTS[2]}").glob("*.parquet")
    honest, other = file.read_bytes(), tmp_path / "other.parquet"
    names = [name for name, *_ in duckdb.sql(f"DESCRIBE FROM '{file}'").fetchall()]
    for name in (name for name in names if name not in ("Limiters", "Findings")):
        for value in (f'["{name}"]', f"{{'{name}': \"{name}\"}}", "'x'::BLOB", "now()"):
            query = f"SELECT * REPLACE ({value} AS \"{name}\") FROM '{file}'"
            duckdb.sql(f"COPY ({query}) TO '{other}' (FORMAT parquet)")
            other.replace(file)
            out, err, code = found = run("trend", str(tmp_path))
            if found != usual:
                assert (out, code, err.count("\n")) == ("", 2, 1), (name, value, err)
                refused.add(name)
            file.write_bytes(honest)
    assert len(refused) > 15


def test_millions_of_equal_rows_are_one_line(tmp_path: Path) -> None:
    """7.8 million rows in a megabyte, which only one of two builds has."""
    import duckdb

    add(tmp_path, "1", kernels()[:1])
    add(tmp_path, "2", kernels()[:1])
    [file] = (tmp_path / "kernels" / "Build=2").glob("*.parquet")
    other = tmp_path / "other.parquet"
    query = f"SELECT t.* FROM '{file}' t, range(7800000)"
    duckdb.sql(f"COPY ({query}) TO '{other}' (FORMAT parquet, COMPRESSION zstd)")
    assert other.stat().st_size < 10_000_000
    other.replace(file)
    out, err, code = kernelinfo("trend", tmp_path)
    assert (out, code, err.count("\n")) == ("", 2, 1)
    assert "claims 7800000 rows" in err
