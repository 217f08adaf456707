"""A scan finds what one machine finds, wherever the files lie and whatever happens to workers."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ..conftest import FIXTURES, require
from ..containers import archive, member
from ..messages import codes, do_lines_match, tells
from .scans import (
    OBJECTS,
    comparable,
    descendants,
    kernelinfo,
    many_objects,
    one_compilation,
    process,
    reported,
    rows,
    scan,
)

require("duckdb")

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
FILES = len(list(OBJECTS.iterdir()))


@pytest.mark.parametrize(
    "source",
    [OBJECTS, FIXTURES / "container", LIBRARIES / "librocrand.so.1"],
    ids=lambda path: path.name,
)
def test_it_has_the_rows_of_one_machine(source: Path, tmp_path: Path) -> None:
    if not source.exists():
        pytest.skip(f"{source.name} is not installed")
    scan(source, to=tmp_path)
    assert comparable(rows(tmp_path)) == reported(source)


def test_it_counts_instructions_if_asked_and_reads_no_file_twice(tmp_path: Path) -> None:
    source = FIXTURES / "regression" / "before"
    scan(source, "--instructions", to=tmp_path)
    matrix = {row["Symbol"]: (row["Matrix"], row["Load_Bytes"]) for row in rows(tmp_path)}
    assert matrix == {"tile": (4, 80), "scale": (0, 16)}
    again = scan(source, "--instructions", to=tmp_path)
    assert "0 files read" in again


def test_problems_beyond_the_first_thousand_of_a_file_are_one_row(tmp_path: Path) -> None:
    members = [member(f"{number}.co/", b"\x7fELF") for number in range(1200)]
    path = tmp_path / "damaged.a"
    path.write_bytes(archive(*members))
    _, _, code = kernelinfo("scan", path, "--to", tmp_path / "fleet", "--build", "b")
    assert code == 2
    messages = [row["Message"] for row in rows(tmp_path / "fleet", table="problems")]
    assert len(messages) == 1001
    assert sum("200 more problems" in message for message in messages) == 1


def test_of_a_large_library_that_several_workers_share(tmp_path: Path) -> None:
    library = LIBRARIES / "librocsparse.so.0"
    require("librocsparse")
    scan(library, to=tmp_path)
    parts = list((tmp_path / "kernels" / "Build=b").iterdir())
    assert len({part.name.split(".")[1] for part in parts}) > 1
    assert comparable(rows(tmp_path)) == reported(library)


def test_of_three_thousand_objects(tmp_path: Path) -> None:
    folder = many_objects(tmp_path / "objects", 3000)
    scan(folder, to=tmp_path / "fleet")
    assert comparable(rows(tmp_path / "fleet")) == reported(folder)


def test_files_are_named_by_address_and_by_path_in_the_build(tmp_path: Path) -> None:
    scan(OBJECTS, to=tmp_path)
    name = "variety-clang22-gfx942.co"
    assert {(row["Url"], row["Path"]) for row in rows(tmp_path) if row["Path"] == name} == {
        (str(OBJECTS / name), name)
    }


def test_one_compilation_counts_once(tmp_path: Path) -> None:
    folder = one_compilation(tmp_path / "temporary")
    scan(folder, to=tmp_path / "fleet")
    found = rows(tmp_path / "fleet")
    assert comparable(found) == reported(folder)
    assert {Path(row["Path"]).suffix for row in found} == {".s"}


def test_a_second_run_reads_nothing(tmp_path: Path) -> None:
    scan(OBJECTS, to=tmp_path)
    before = sorted(tmp_path.rglob("*.parquet"))
    assert f"0 files read, {FILES} done before" in scan(OBJECTS, to=tmp_path)
    assert sorted(tmp_path.rglob("*.parquet")) == before


def test_what_changed_replaces_its_rows(tmp_path: Path) -> None:
    folder, fleet = tmp_path / "objects", tmp_path / "fleet"
    shutil.copytree(OBJECTS, folder)
    scan(folder, to=fleet)
    shutil.copy(folder / "spills-clang22-gfx90a.co", folder / "handwritten.co")
    assert f"1 file read, {FILES - 1} done before" in scan(folder, to=fleet)
    assert comparable(rows(fleet)) == reported(folder)


def test_other_options_read_again(tmp_path: Path) -> None:
    folder = OBJECTS / "variety-clang22-gfx942.co"
    scan(folder, to=tmp_path)
    scan(folder, "--no-trap-handler", to=tmp_path)
    assert comparable(rows(tmp_path)) == reported(folder, "--no-trap-handler")


def test_builds_stand_next_to_each_other(tmp_path: Path) -> None:
    scan(OBJECTS, to=tmp_path, build="7.1")
    scan(FIXTURES / "container", to=tmp_path, build="7.2")
    assert comparable(rows(tmp_path, "7.1")) == reported(OBJECTS)
    assert comparable(rows(tmp_path, "7.2")) == reported(FIXTURES / "container")


@contextmanager
def half_done(folder: Path, fleet: Path) -> Iterator[subprocess.Popen[str]]:
    """A scan that has written a first part."""
    arguments = ("-m", "kernelinfo", "scan", folder, "--to", fleet, "--build", "b", "--workers", 2)
    with process(*arguments) as running:
        while not [one for one in fleet.glob("inputs/*/*.parquet") if one.stem != "manifest"]:
            assert running.poll() is None
            time.sleep(0.05)
        yield running


def test_a_worker_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    folder, fleet = many_objects(tmp_path / "objects", 1500), tmp_path / "fleet"
    with half_done(folder, fleet) as running:
        os.kill(descendants(running.pid)[0], signal.SIGKILL)
        out, _ = running.communicate()
    assert (running.returncode, out.count("\n")) == (0, 1), out
    assert comparable(rows(fleet)) == reported(folder)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_a_run_that_is_ended_is_completed_by_the_next(
    number: signal.Signals, tmp_path: Path
) -> None:
    folder, fleet = many_objects(tmp_path / "objects", 1500), tmp_path / "fleet"
    with half_done(folder, fleet) as running:
        os.killpg(running.pid, number)
        out, _ = running.communicate()
    assert (running.returncode, out) == ({2: 130, 9: -9}[number], "")
    assert " 0 done before" not in scan(folder, to=fleet)
    assert comparable(rows(fleet)) == reported(folder)


_FATAL = """
import os, time
from kernelinfo.analysis import Analysis
from kernelinfo.__main__ import main
analyse = Analysis.results
def fatal(self, blob):
    if blob.path.endswith("killer.co"):
        os.kill(os.getpid(), 9)
    while blob.path.endswith("hanger.co"):
        time.sleep(1)
    if blob.path.endswith("failure.co"):
        raise RuntimeError("a bug")
    return analyse(self, blob)
Analysis.results = fatal
main()
"""
"""Code that makes a file end its worker, hang, or meet a bug."""


def test_a_file_that_ends_its_worker_is_a_problem(tmp_path: Path) -> None:
    folder, fleet = many_objects(tmp_path / "objects", 40), tmp_path / "fleet"
    expected = reported(folder)
    names = ("killer.co", "hanger.co", "failure.co")
    for name in names:
        shutil.copy(OBJECTS / "handwritten.co", folder / name)
    arguments = ("scan", folder, "--to", fleet, "--build", "b", "--workers", 2, "--timeout", 3)
    command = [sys.executable, "-c", _FATAL, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    err = done.stderr
    assert done.returncode == 2
    assert sorted(line.partition(": ")[0] for line in err.splitlines()) == sorted(
        str(folder / name) for name in names
    )
    assert [tells(line, "worker-ended 3 s") for line in sorted(err.splitlines())] == [0, 1, 1]
    assert tells(err, "bug RuntimeError: a bug")
    assert comparable(rows(fleet)) == expected
    assert {row["Url"] for row in rows(fleet, table="problems")} == {
        str(folder / name) for name in names
    }
    # The next run says the same, and reads nothing.
    assert kernelinfo(*arguments)[1:] == (err, 2)


def test_a_longer_timeout_reads_a_file_that_was_given_up(tmp_path: Path) -> None:
    folder, fleet = many_objects(tmp_path / "objects", 2), tmp_path / "fleet"
    shutil.copy(OBJECTS / "handwritten.co", folder / "hanger.co")
    arguments = ("scan", folder, "--to", fleet, "--build", "b", "--timeout")
    command = [sys.executable, "-c", _FATAL, *map(str, arguments), "1"]
    assert subprocess.run(command, capture_output=True, timeout=600).returncode == 2
    for seconds in ("1", "0.5"):
        out, err, code = kernelinfo(*arguments, seconds)
        assert (out.startswith("0 files read, 3 done before"), code) == (True, 2)
        assert tells(err, "worker-ended hanger.co: … 1 s")
    for read, done in ((1, 2), (0, 3)):
        out, err, code = kernelinfo(*arguments, "60")
        assert (err, code) == ("", 0)
        assert re.match(rf"{read} files? read, {done} done before", out)
    assert comparable(rows(fleet)) == reported(folder)
    assert rows(fleet, table="problems") == []


def test_what_cannot_be_read_is_a_row(tmp_path: Path) -> None:
    _out, err, code = kernelinfo("scan", FIXTURES / "broken", "--to", tmp_path, "--build", "b")
    assert code == 2
    broken = {row["Path"] for row in rows(tmp_path, table="problems")}
    assert "truncated.co" in broken
    assert len(err.splitlines()) <= 21


def test_nothing_to_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _out, err, code = kernelinfo("scan", tmp_path / "empty", "--to", tmp_path, "--build", "b")
    assert (code, "file-without-kernels" in codes(err)) == (2, True)


def test_a_choice_without_a_kernel_is_named_next_to_others(tmp_path: Path) -> None:
    path = OBJECTS / "variety-clang22-gfx942.co"
    choices = ("-k", "nope", "-k", "any_block*", "--target", "gfx90a", "--target", "gfx942")
    arguments = ("scan", path, "--to", tmp_path, "--build", "b", *choices)
    told = [f"choice-unmatched {path}: {choice}" for choice in ("-k nope", "--target gfx90a")]
    for counts in ("1 file read, 0 done before, 1 kernel ", "0 files read, 1 done before, "):
        out, err, code = kernelinfo(*arguments)
        assert (do_lines_match(err, *told), code) == (True, 0), err
        assert out.startswith(counts)


def test_a_scan_that_chooses_no_kernel_names_the_choice(tmp_path: Path) -> None:
    path = OBJECTS / "handwritten.co"
    choice = ("-k", "nope", "-k", "nor_this")
    _, err, code = kernelinfo("scan", path, "--to", tmp_path, "--build", "b", *choice)
    told = f"roots-without-choice {path}: … -k nope -k nor_this"
    assert (do_lines_match(err, told), code) == (True, 2)


def test_counts_of_one_are_singular(tmp_path: Path) -> None:
    (tmp_path / "one.co").write_bytes(b"x")
    out, _, _ = kernelinfo(
        "scan", tmp_path / "one.co", "--to", tmp_path, "--build", "b", "--dry-run"
    )
    assert out.endswith(" 1 file of 1 to read, 1 byte\n")


def test_a_dry_run_says_what_is_to_do(tmp_path: Path) -> None:
    scan(OBJECTS / "handwritten.co", to=tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.parquet")}
    out, err, code = kernelinfo("scan", OBJECTS, "--to", tmp_path, "--build", "b", "--dry-run")
    assert (err, code) == ("", 0)
    assert out.count(" read ") == FILES - 1
    assert out.count(" done ") == 1
    assert f"{FILES - 1} files of {FILES} to read" in out
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.parquet")} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "https://h/x", "--build", "b"), "cannot be written"),
        (("--to", "t", "--build", "a/b"), "use only letters, digits"),
        (("--to", "t", "--build", "b", "--scheduler", "x", "--workers", "2"), "leave it out"),
        (("--to", "what://x", "--build", "b"), "what://x"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    out, err, code = kernelinfo("scan", OBJECTS, *arguments)
    assert (out, code, err.count("\n")) == ("", 2, 1)
    assert message in err


def test_a_hundred_small_files_cost_three_times_their_report(tmp_path: Path) -> None:
    """In CPU time, the least of five tries each, with the modules compiled as pip leaves them."""
    folder = many_objects(tmp_path / "objects", 100)
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}

    def cost(*arguments: object) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert kernelinfo(*arguments, **compiled)[2] == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    scans = [cost("scan", folder, "--to", tmp_path / f"{n}", "--build", "b") for n in range(6)]
    reports = [cost(folder, "--format", "jsonl") for _ in range(6)]
    assert min(scans[1:]) <= 3 * min(reports[1:])
